//go:build !linux

package rawio

import (
	"io"
	"net"
	"os"
)

// This file gives everything back as it came.

// Reader reads r.
func Reader(r io.Reader) io.Reader { return r }

// Conn reads and writes nc.
func Conn(nc net.Conn) net.Conn { return nc }

// Stdio is f and nothing to undo.
func Stdio(f *os.File) (io.ReadWriter, func()) { return f, func() {} }

type rawWriter struct{}

func newRaw(any) *rawWriter { return nil }

func (*rawWriter) all([][]byte) (int, error) { return 0, nil }
