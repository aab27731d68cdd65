// Package rpc is the daemon's door: JSON-RPC 2.0, one message a line, on a
// 0600 Unix socket in a 0700 directory. The CLI, the sidebar, the hooks, the
// page and host-bridge all come through it, with the same rights.
//
// It promises: only the owner's uid gets in; who is calling is derived from
// the peer's process, never believed; a slow or broken client harms nobody
// else.
//
// It refuses: to decide anything. What may be done is the desk's to say
// (bridge/handoff).
package rpc
