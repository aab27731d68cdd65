// Package host is the foreground bridge that a Host starts as its child: MCP on
// stdin and stdout (bridge/mcp) on one side, the daemon's socket on the other.
//
// It promises (R188, R190, R216): stdout carries MCP messages and nothing else,
// whatever comes in and whatever breaks; a line that is not JSON is answered,
// never fatal; the end of stdin, SIGTERM, SIGINT and SIGHUP end it within a
// second, after the daemon has got what was accepted (a callback that runs is
// given CallbackDrain); a daemon that is missing,
// old or restarted is told by every tool call with its cure, while the server
// itself keeps answering. A Host with a profile (bridge/host/profile) is called
// back by its own command (bridge/host/command): one at a time, each lease once,
// the outcome told to the daemon, which never sees command or credential.
//
// It refuses (R217, R219): to daemonise itself, to serve more than its one Host,
// to take a session identity or a profile from a tool argument, to do anything
// once the profile's file has changed (R210).
package host
