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

func usage(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUsage, Message: fmt.Sprintf(format, a...), Cure: cure}
}

func refused(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeRefused, Message: fmt.Sprintf(format, a...), Cure: cure}
}

func unavailable(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: fmt.Sprintf(format, a...), Cure: cure}
}
