package host

import (
	"errors"
	"fmt"

	"akk/bridge/rpc"
)

var (
	// ErrSession is returned by Session when the named variable can't be the
	// Host's identity (R198).
	ErrSession = errors.New("the host session identity can't be used")
	// errOutput is the end of a bridge whose Host does not read any more.
	errOutput = errors.New("the host closed its end")
)

// told gives every start-up or connection problem a cure for the tool result.
func told(err error) error {
	var e *rpc.Error
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.Is(err, rpc.ErrNoDaemon):
		return &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: "run `akk doctor` in a terminal: it says why the daemon does not start"}
	case errors.Is(err, rpc.ErrClosed):
		return &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: "call it again; a send is safe to repeat only if its result says so"}
	}
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: fmt.Sprintf("the akk daemon can't be reached: %v", err), Cure: "run `akk doctor` in a terminal: it says what is missing"}
}
