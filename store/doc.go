// Package store keeps what must survive a crash: typed collections with
// revisions and append-only logs in one bbolt file.
//
// It promises: a committed transaction is on the disk when Update or Writer
// says so (every commit is synced); a revision is never used twice in one
// collection, so a compare-and-swap can't be fooled by delete and re-create; a
// log's numbers grow by one without a hole, over restarts too; the folder is
// 0700, the file 0600, neither is a symbolic link.
//
// It refuses: a file that is not ours, a store written by a newer akk, a store
// that another process has open (bbolt is single-process), and a write whose
// expected revision is not the current one. It knows nothing of what it
// stores, and imports nothing of ours.
package store
