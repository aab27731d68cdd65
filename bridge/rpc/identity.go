package rpc

import "context"

// This file holds who a connection's peer is. It upholds: nobody stays the human
// by accident of the moment in which he connected; whoever was once not the
// human never becomes him on that connection.

// identity is who the peer is, as of that count of discovered terminals.
type identity struct {
	Caller
	at uint64
}

// looking are the methods that act on nothing.
var looking = map[string]bool{MethodPing: true, MethodAttach: true, MethodServers: true, MethodList: true, MethodFollow: true, MethodEvents: true}

func (c *serverConn) caller() Caller { return c.who.Load().Caller }

func (c *serverConn) identify(ctx context.Context) identity {
	at := c.s.Desk.Discovered() // before: what is found meanwhile is looked at again
	return identity{c.s.Desk.Identify(ctx, c.pid), at}
}

// lookAgain identifies a peer again whose terminal is not known, if terminals
// were found since.
func (c *serverConn) lookAgain(ctx context.Context) {
	for {
		was := c.who.Load()
		if was.TerminalID != "" || was.at == c.s.Desk.Discovered() {
			return
		}
		if c.who.CompareAndSwap(was, was.with(c.identify(ctx))) {
			return
		}
	}
}

// with is the identity after another look.
func (i identity) with(now identity) *identity {
	i.at = now.at
	switch {
	case now.Kind == "agent":
		if i.Kind != "host" {
			i.Kind = "agent"
		}
		i.TerminalID, i.AgentPID, i.InPane = now.TerminalID, now.AgentPID, now.InPane
	case i.Kind == "human" && now.Kind != "human":
		i.Kind = "unknown"
	}
	return &i
}
