// Package truth plays recordings of real agents beside their truth tables and
// tells which answers of a reader are wrong and which are unsafe. It is support
// for tests and for `make truth`; the program itself does not use it.
//
// It promises: the truth of a table is compared as it stands; between two
// snapshots of equal truth every answer is held against that truth, unless the
// span is on the list of those in which the scenario passed through another
// state, each with its reason.
//
// It refuses to judge what a table leaves open (unknown, undecidable).
package truth
