//go:build !linux

package lab

// Without Linux there is no network namespace; dead proxies must do, and
// isolated() says so.

import "net"

type network struct{}

func newNetwork() (*network, error)              { return &network{}, nil }
func (n *network) isolated() bool                { return false }
func (n *network) do(f func() error) error       { return f() }
func (n *network) listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
func (n *network) close()                        {}
