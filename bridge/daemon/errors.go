package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"akk/bridge/rpc"
	"akk/store"
)

// ErrNotStarted is returned by Ensure when the daemon ended before it was
// ready and could not say why.
var ErrNotStarted = errors.New("the akk daemon did not start")

// problem draws any error as the one that crosses process borders.
func problem(err error) *rpc.Error {
	var e *rpc.Error
	if errors.As(err, &e) {
		return e
	}
	var c *store.Cured
	if errors.As(err, &c) {
		return &rpc.Error{Code: rpc.CodeUnavailable, Message: c.Error(), Cure: c.Cure}
	}
	if errors.Is(err, rpc.ErrInUse) {
		return &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: "use it, or choose another folder with --store-dir"}
	}
	cure := "run `akk doctor`"
	switch { // what doctor would only say again
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		cure = "make that file and its folder writable for yourself, or name another folder with --store-dir"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		cure = "make room on that disk, or name a folder on another one with --store-dir"
	}
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: cure}
}

func failed(cure, format string, a ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: fmt.Sprintf(format, a...), Cure: cure}
}

// The line that a started daemon writes to its starter's pipe.
type ready struct {
	Socket string     `json:"socket,omitempty"`
	Locked bool       `json:"locked,omitempty"` // another daemon has the store
	Error  *rpc.Error `json:"error,omitempty"`
}

func (r ready) line() []byte {
	b, _ := json.Marshal(r) // strings only: can't fail
	return append(b, '\n')
}
