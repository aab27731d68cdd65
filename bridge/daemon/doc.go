// Package daemon is the life of `akk serve`: one process per store folder,
// started by whatever comes first, ended when nothing needs it.
//
// It promises: one daemon per store (the store's own lock decides); a start
// that fails tells its caller why and what to do; it runs in a session of its
// own, holds no descriptor or terminal of its starter, and knows the tmux of
// nobody who did not name it; the servers that it was attached to are found
// again after a restart, if they are still the same ones; an end by signal or
// request finishes what is being typed first, and a kill -9 loses nothing that
// was told as durable.
//
// It refuses: a socket folder that others could enter, a second daemon on one
// store, and to end while a terminal server is attached, somebody is
// connected or something is owed.
package daemon
