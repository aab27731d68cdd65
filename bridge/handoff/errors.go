package handoff

import (
	"errors"
	"fmt"

	"akk/bridge/rpc"
)

var (
	// errClosed is returned by every call after Close.
	errClosed = errors.New("the akk daemon is ending")
)

func notFound(format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf(format, a...), Cure: "run `akk list` to see what is there"}
}

// noTurn: no Turn has that id.
func noTurn(id string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("no turn is called %q", id), Cure: "run `akk turns --all` to see the tasks that were sent"}
}

func usage(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUsage, Message: fmt.Sprintf(format, a...), Cure: cure}
}

func refused(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeRefused, Message: fmt.Sprintf(format, a...), Cure: cure}
}

func unavailable(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: fmt.Sprintf(format, a...), Cure: cure}
}
