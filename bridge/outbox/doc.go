// Package outbox keeps the callbacks of Hosts until they are delivered: what
// is told to whom, and what became of it.
//
// It promises: route and envelope are frozen before the first attempt (R178)
// and their ids are hashes of their canonical form, so that the same event is
// the same delivery over every crash (R183); a delivery has one lease at a time
// and goes only to a bridge with exactly the frozen route (R212); what is
// accepted stays accepted (R180); permanent and uncertain outcomes are not
// repeated by themselves (R179); a lease that ends without an outcome is
// uncertain; every change is one event in the journal, in the same transaction.
//
// It refuses: to run anything, to know a command or a credential (R213), and to
// hold a store transaction while a callback is on its way (R223).
package outbox
