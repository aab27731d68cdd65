// Package lab drives real agent binaries against a scripted model: it installs
// a named version of Codex or Claude Code from npm, runs it in a private tmux
// with a throwaway home, and answers its model requests from a script
// (package model). It is test support and the ground of `akk certify`.
//
// It promises: an agent that it starts sees loopback only (its own network
// namespace where we are root on Linux; elsewhere dead proxies, and
// Server.Isolation says which), no key that works, and no file of the user's
// home; Close ends the lab's own tmux server and the processes that carry the
// lab's own mark, and nothing else.
//
// It refuses: to write outside of its cache folder, its run folder and one
// short socket folder; to run two versions of one name in one folder; to guess
// a binary (an installed version must name itself).
//
// How the network works. Linux namespaces belong to threads. One locked thread
// enters a new network namespace, brings loopback up, and there makes the model
// servers' listeners and starts the tmux server. A socket stays in the
// namespace in which it was made, so the model is served from this very process,
// and nobody outside can reach it; tmux's own socket is a file, so akk's daemon
// and the tests talk to it from outside.
//
// The rule that it upholds: a claim about an agent version is made by that
// version, run here, and checked at three places: its screen, its own log and
// the model's side.
package lab
