package rpc

import "errors"

// Error is a refusal or failure that the other side sees: what was tried, and
// the cure on its own.
type Error struct {
	Code    string `json:"code"` // see the constants
	Message string `json:"message"`
	Cure    string `json:"cure,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The codes of Error.
const (
	CodeUsage       = "usage"       // the call was malformed
	CodeNotFound    = "not_found"   // no such terminal, pane or turn
	CodeAmbiguous   = "ambiguous"   // several match; Message lists them
	CodeRefused     = "refused"     // a proof is missing; nothing was typed
	CodeUncertain   = "uncertain"   // bytes may have gone out; not retried
	CodeUnavailable = "unavailable" // no tmux, no server, store locked
	CodeProtocol    = "protocol"    // other protocol number
	CodeForbidden   = "forbidden"   // the caller may not do this
	CodeInternal    = "internal"    // a fault of ours
)

var (
	// ErrNoDaemon is returned by Dial when nobody listens on the socket.
	ErrNoDaemon = errors.New("no akk daemon is running")
	// ErrInUse is returned by Listen when a live daemon has the socket.
	ErrInUse = errors.New("another akk daemon listens there")
	// ErrClosed is returned after the connection ended.
	ErrClosed = errors.New("connection to the akk daemon is closed")
)
