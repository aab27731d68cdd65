package rpc

import (
	"context"
	"errors"
	"strings"
)

// Error is a refusal or failure that the other side sees: what was tried, and
// the cure on its own.
type Error struct {
	Code    string `json:"code"` // see the constants
	Message string `json:"message"`
	Cure    string `json:"cure,omitempty"`

	silent bool // the daemon did not answer: ErrSilent
}

func (e *Error) Error() string { return e.Message }

// Is makes the daemon's last words what its silence is: whoever knows how to go
// on after ErrClosed does the same when the answer still came.
func (e *Error) Is(target error) bool {
	return target == ErrSilent && e.silent || target == ErrClosed && strings.HasPrefix(e.Message, ending)
}

// ending begins every answer of a daemon that ends.
const ending = "the akk daemon is ending"

// acting are the methods that may have typed when their call ends; everything
// else may be asked again.
var acting = map[string]bool{MethodSend: true, MethodRespond: true, MethodRetrySubmission: true, MethodCancel: true, MethodRestore: true}

// ended is asError for a call that the daemon's own end may have broken off;
// door is the context that every call of the connection hangs on. What the
// caller cancelled stays what it is.
func ended(door context.Context, method string, err error) *Error {
	e := asError(err)
	if door.Err() == nil || !errors.Is(err, context.Canceled) && (e.Code != CodeInternal || !strings.Contains(e.Message, context.Canceled.Error())) {
		return e
	}
	if acting[method] {
		return &Error{Code: CodeUncertain, Message: ending + "; whether " + method + " was done is not known", Cure: "look with `akk list` before it is run again"}
	}
	return &Error{Code: CodeUnavailable, Message: ending, Cure: "run it again"}
}

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
