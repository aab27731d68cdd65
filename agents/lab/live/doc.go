// Package live holds the end-to-end tests: the real akk binary, real agents of
// named versions in a private tmux, a scripted model, and real MCP clients.
// They run with AKK_LIVE=1 or -live only (`make live`); two versions can be
// chosen by AKK_LIVE_CODEX and AKK_LIVE_CLAUDE.
//
// scene_test.go has what the scenarios of a task share: one agent, Hosts before
// it, a human behind it. send_test.go, human_test.go and moved_test.go play
// them and print the journal's times.
//
// The rule that it upholds: a promise to a person ("accepted", "refused,
// nothing was typed") is checked at the other end: the agent's own log, the
// model's side, the bytes that an application read.
package live
