// Package product is the real akk binary beside a lab, as the live tests use
// it: private folders, a daemon of its own, Hosts that speak MCP and are called
// back by their profile's command, a human at a real terminal, the journal.
//
// It promises: nothing of the user's daemon, store or settings is touched, and
// all that it starts carries the lab's mark and ends with the test.
//
// It refuses to know akk from inside: documents are read as any reader of
// `--json`, MCP results and the journal would read them.
package product
