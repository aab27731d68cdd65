package handoff

// This file remembers which scope of a send a Host was shown, so that its call
// means what it saw (R4, R29): a task that was offered for an idle terminal
// never turns into one that is typed into running work.

import (
	"sync"
	"time"

	"akk/bridge/rpc"
)

const (
	offerTTL  = 10 * time.Minute // CONTRACT-outputs §1.2
	offersMax = 512
)

type offerKey struct {
	pid      int
	session  string
	terminal string
}

// offers is safe for any goroutine.
type offers struct {
	mu sync.Mutex
	m  map[offerKey]time.Time // explicit sends that were shown
}

// show notes what a list offers; explicit false takes an earlier offer back.
func (o *offers) show(c rpc.Caller, terminal string, explicit bool, now time.Time) {
	if c.Kind != "host" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := offerKey{c.PID, c.Session, terminal}
	if !explicit {
		delete(o.m, k)
		return
	}
	if o.m == nil {
		o.m = map[offerKey]time.Time{}
	}
	for old, at := range o.m {
		if len(o.m) >= offersMax || now.Sub(at) > offerTTL {
			delete(o.m, old)
		}
	}
	o.m[k] = now
}

// take uses an offer up.
func (o *offers) take(c rpc.Caller, terminal string, now time.Time) bool {
	if c.Kind != "host" {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := offerKey{c.PID, c.Session, terminal}
	at, ok := o.m[k]
	delete(o.m, k)
	return ok && now.Sub(at) <= offerTTL
}

// mayExplicit tells whether a caller speaks for a user: the human, or a Host
// that does not itself run under an agent.
func mayExplicit(c rpc.Caller) *rpc.Error {
	switch {
	case c.Kind == "human", c.Kind == "host" && c.TerminalID == "" && !c.InPane:
		return nil
	case c.Kind == "agent", c.Kind == "host":
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent may not send over other work or over a draft", Cure: "send without --explicit when the terminal is idle, or ask the human"}
	}
	return &rpc.Error{Code: rpc.CodeForbidden, Message: "only a human, or a Host for its user, may send explicitly, and this caller is not known to be one", Cure: "run it in a terminal, outside of an agent's pane"}
}
