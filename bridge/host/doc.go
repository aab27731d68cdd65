// Package host is the foreground bridge that a Host starts as its child: MCP on
// stdin and stdout (bridge/mcp) on one side, the daemon's socket on the other.
//
// It promises (R188, R190, R216): stdout carries MCP messages and nothing else,
// whatever comes in and whatever breaks; a line that is not JSON is answered,
// never fatal; the end of stdin, SIGTERM, SIGINT and SIGHUP end it within a
// second, after the daemon has got what was accepted; a daemon that is missing,
// old or restarted is told by every tool call with its cure, while the server
// itself keeps answering.
//
// It refuses (R217, R219): to daemonise itself, to serve more than its one Host,
// to take a session identity from a tool argument.
package host
