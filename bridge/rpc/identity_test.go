package rpc

import (
	"context"
	"os"
	"sync"
	"testing"
)

// settling is a desk that learns more about its peer.
type settling struct {
	fakeDesk
	mu     sync.Mutex
	now    Caller
	found  uint64
	looks  int
	callee Caller // of the last takeover
}

func (d *settling) Identify(context.Context, int) Caller {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	return d.now
}

func (d *settling) Discovered() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.found
}

func (d *settling) Takeover(_ context.Context, c Caller, p HoldParams) (HoldResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.callee = c
	return HoldResult{TerminalID: p.ID}, nil
}

// learn is what happens when terminals are found.
func (d *settling) learn(c Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = c
	d.found++
}

// A connection from an agent's first moment does not stay the
// human's, and nobody becomes the human on an open connection.
func TestLongConnectionIsIdentifiedAgain(t *testing.T) {
	early := Caller{Kind: "agent", AgentPID: 7, InPane: true}
	known := Caller{Kind: "agent", TerminalID: "t-7"}
	human, unknown := Caller{Kind: "human"}, Caller{Kind: "unknown"}
	hello, bridge := HelloParams{Client: "sidebar"}, HelloParams{Client: "host-bridge", Session: "s"}
	host := func(c Caller) Caller { c.Kind, c.Session = "host", "s"; return c }
	for name, c := range map[string]struct {
		as                 HelloParams
		first, later, want Caller
	}{
		"human, then its terminal is known":   {hello, human, known, known},
		"human, then its agent is seen":       {hello, human, early, early},
		"human, then nothing can be told":     {hello, human, unknown, unknown},
		"human, and still":                    {hello, human, human, human},
		"unknown, then its agent is seen":     {hello, unknown, known, known},
		"unknown, then it looks like a human": {hello, unknown, human, unknown},
		"an agent, then its terminal":         {hello, early, known, known},
		"an agent, then nothing can be told":  {hello, early, unknown, early},
		"an agent stays it":                   {hello, known, human, known},
		"a Host, then its agent is seen":      {bridge, human, early, host(early)},
		"a Host, then its terminal is known":  {bridge, early, known, host(known)},
		"a Host of a human":                   {bridge, unknown, human, host(unknown)},
	} {
		t.Run(name, func(t *testing.T) {
			d := &settling{now: c.first}
			_, path := serveDesk(t, d)
			cl := dial(t, path, c.as)
			if _, err := cl.Takeover(t.Context(), HoldParams{ID: "x"}); err != nil || d.looks != 1 {
				t.Fatalf("%v, looked %d times while nothing was found", err, d.looks)
			}
			d.learn(c.later)
			if _, err := cl.List(t.Context(), ListParams{}); err != nil || d.looks != 1 {
				t.Fatalf("%v, looked %d times for a list", err, d.looks)
			}
			for range 2 {
				if _, err := cl.Takeover(t.Context(), HoldParams{ID: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if c.want.PID = os.Getpid(); d.callee != c.want || d.looks > 2 {
				t.Fatalf("%+v after %d looks, want %+v", d.callee, d.looks, c.want)
			}
		})
	}
}
