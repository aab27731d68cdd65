package handoff

// This file is the door of a send: checks that need no terminal, the replay of
// a known request, and the document of the result. It upholds R55 and scenario
// 49: one request id, one dispatch.

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

const (
	acceptWaitDefault = 5 * time.Second // CONTRACT-outputs §4.1
	waitMax           = 50 * time.Second
)

// Send types one task into an idle, provably empty composer.
func (d *Desk) Send(ctx context.Context, c rpc.Caller, p rpc.SendParams) (rpc.Send, error) {
	if p.ID != "" && p.SessionID != "" {
		return rpc.Send{}, usage("name one of them", "a terminal and a session were both named")
	}
	p, own := d.ownCallback(c, p)
	text, bad := cleanRequest(p.Request)
	if bad != nil {
		return rpc.Send{}, bad
	}
	wait := acceptWait(p.AcceptWaitMillis)
	hash, alt := hashes(text)
	if p.RequestID == "" {
		p.RequestID = "msg-" + uuid.NewString()
	} else if live, err := d.replay(p.RequestID, hash); err != nil {
		return rpc.Send{}, err
	} else if live != nil {
		return d.answer(ctx, live, wait, true), nil
	}
	if p.Explicit && p.SessionID != "" {
		return rpc.Send{}, usage("name the terminal", "an explicit send goes to a terminal, not to a session")
	}
	choose := p.ID == "" && p.SessionID == ""
	if known := d.ready(ctx, p.Socket, choose); choose && !known {
		return rpc.Send{}, refused("try again in a moment, or name the terminal", "not every terminal that is there is known yet; nothing was typed")
	}
	v, bad := d.sendTarget(p)
	if bad != nil {
		return rpc.Send{}, bad
	}
	// Whatever runs under an agent is that agent, a Host's bridge included.
	if c.TerminalID == "" && c.AgentPID > 0 { // its terminal may be the one that was found just now
		c.TerminalID = d.Identify(ctx, c.PID).TerminalID
	}
	if !own && v.runs(c) {
		return rpc.Send{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent can't send a task to itself", Cure: "send to another terminal"}
	}
	t := d.terminalOf(v)
	if t == nil {
		return rpc.Send{}, notFound("the terminal %s is gone", v.id)
	}
	if bad := checkCommand(text, t.agent.Submit(t.vers)); bad != nil {
		return rpc.Send{}, bad
	}
	scope := scopeFollow
	switch {
	case p.SessionID != "":
		scope = scopeExact
	case p.Explicit, p.ID != "" && d.offers.take(c, v.id, d.now()): // as the Host was shown it
		if bad := mayExplicit(c); bad != nil {
			return rpc.Send{}, bad
		}
		scope = scopeExplicit
	}
	req := &sendRequest{text: text, reply: make(chan sendReply, 1),
		turn: Turn{ID: newID("turn", d.now()), SessionID: p.SessionID, RequestID: p.RequestID, Host: c.Kind, Owner: ownerOf(c), Scope: scope, Hash: hash, AltHash: alt, Size: len(text),
			Limits: newLimits(route(c), p.AgentTimeoutMinutes, p.AgentHardTimeoutMinutes, d.now())}}
	live, bad := d.claim(req, t)
	if bad != nil {
		return rpc.Send{}, bad
	}
	s := d.answer(ctx, live, wait, req.turn.ID != liveID(live))
	d.watchUnkept(ctx, c, live, &s)
	return s, nil
}

func liveID(l *liveTurn) string { t, _ := l.get(); return t.ID }

func acceptWait(ms int) time.Duration {
	if ms <= 0 {
		return acceptWaitDefault
	}
	return min(time.Duration(ms)*time.Millisecond, waitMax)
}

// claim hands the request to the terminal. Two calls with one request id at
// once: the second gets the first one's Turn.
func (d *Desk) claim(req *sendRequest, t *terminal) (*liveTurn, *rpc.Error) {
	for {
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return nil, unavailable("try again", "the akk daemon is ending; nothing was typed")
		}
		ch := d.claims[req.turn.RequestID]
		if ch == nil {
			break
		}
		d.mu.Unlock()
		<-ch
		if live, err := d.replay(req.turn.RequestID, req.turn.Hash); live != nil || err != nil {
			return live, err
		}
	}
	done := make(chan struct{})
	d.claims[req.turn.RequestID] = done
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.claims, req.turn.RequestID)
		d.mu.Unlock()
		close(done)
	}()
	// Another call may have come and gone since the caller looked.
	if live, err := d.replay(req.turn.RequestID, req.turn.Hash); live != nil || err != nil {
		return live, err
	}
	if !t.box.post(message{send: req}) {
		return nil, notFound("the agent has exited; nothing was typed")
	}
	r := <-req.reply
	return r.live, r.err
}

// replay returns the Turn that a request id stands for, nil if it is new.
func (d *Desk) replay(id, hash string) (*liveTurn, *rpc.Error) {
	d.mu.Lock()
	for _, l := range d.live {
		// One of which no byte went out may have been tried again: the receipt
		// tells the newest.
		if t, _ := l.get(); t.RequestID == id && t.Outcome != OutcomeNotSubmitted {
			d.mu.Unlock()
			return l, checkReplay(Receipt{TurnID: t.ID, Hash: t.Hash}, hash, id)
		}
	}
	d.mu.Unlock()
	var turn *Turn
	var bad *rpc.Error
	err := d.db.View(func(tx *store.Tx) error {
		r, _, err := receipts.Get(tx, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if bad = checkReplay(r, hash, id); bad != nil {
			return nil
		}
		t, _, err := turns.Get(tx, r.TurnID)
		if err == nil && t.Outcome != OutcomeNotSubmitted && (!r.Answer || contains(t.Answered, id)) {
			turn = &t
		}
		return err
	})
	switch {
	case err != nil:
		return nil, &rpc.Error{Code: rpc.CodeInternal, Message: "reading the store: " + err.Error(), Cure: "run `akk doctor`"}
	case bad != nil || turn == nil:
		return nil, bad
	}
	return newLive(*turn), nil
}

// sendTarget finds the terminal: named, by its Session, or the only one that is
// ready (R36).
func (d *Desk) sendTarget(p rpc.SendParams) (*view, *rpc.Error) {
	switch {
	case p.ID != "":
		if strings.HasPrefix(p.ID, "%") {
			if pn, err := d.resolvePane(p.ID, p.Socket); err != nil {
				return nil, err
			} else if pn.view == nil {
				if pn.info.Demo != "" {
					return nil, refused("choose a pane where an agent runs: akk list", "a recording plays in pane %s, no agent reads it", p.ID)
				}
				return nil, refused("start codex or claude in it, or name another pane", "no agent runs in pane %s (%s); nothing was typed", p.ID, pn.info.Command)
			}
		}
		return d.resolve(p.ID, p.Socket)
	case p.SessionID != "":
		for _, v := range d.views(p.Socket) {
			if v.session != nil && v.session.ID == p.SessionID {
				return v, nil // what it shows is proven by exact
			}
		}
		return nil, notFound("no terminal has the session %q", p.SessionID)
	}
	var ready, all []*view
	plays := false
	for _, v := range d.views(p.Socket) {
		if v.Info.Demo != "" { // waiting makes no agent of a recording
			plays = true
			continue
		}
		all = append(all, v)
		if len(v.sendable) == 0 {
			ready = append(ready, v)
		}
	}
	switch {
	case len(ready) == 1:
		return ready[0], nil
	case len(ready) > 1:
		return nil, ambiguous("several terminals are ready, none was named", ready)
	case len(all) == 0 && plays:
		return nil, refused("start codex or claude in a tmux pane", "only recordings play in the attached tmux servers, no agent runs")
	case len(all) == 0:
		return nil, refused("start codex or claude in a tmux pane", "no agent runs in the attached tmux servers")
	case len(all) == 1:
		return nil, refusal(all[0].id, all[0].sendable)
	}
	return nil, refused("run `akk list`, or wait", "none of the %d agents is ready for a task", len(all))
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

func (d *Desk) terminalOf(v *view) *terminal {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.terms {
		if t.key == v.key {
			return t
		}
	}
	return nil
}

// answer waits until the Turn is accepted or has ended, at most wait, and says
// what is known.
func (d *Desk) answer(ctx context.Context, live *liveTurn, wait time.Duration, replayed bool) rpc.Send {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		t, changed := live.get()
		if t.Stage == StageAccepted || !t.open() {
			return sendDoc(t, replayed)
		}
		select {
		case <-changed:
			continue
		case <-timer.C:
		case <-ctx.Done():
		case <-d.ctx.Done():
		}
		t, _ = live.get()
		return sendDoc(t, replayed)
	}
}

// dispatched tells whether a byte may have gone out (R54): as soon as "prepared"
// is durable. An explicit send goes on without the store, which then can't tell:
// in doubt it may have.
func dispatched(t *Turn) bool {
	return t.Dispatched || t.open() && (t.Stage != "" || t.Scope == scopeExplicit)
}

// sendDoc is the table of CONTRACT-outputs §4.1.
func sendDoc(t Turn, replayed bool) rpc.Send {
	turn := turnDoc(&t, nil)
	s := rpc.Send{SessionID: t.SessionID, TurnID: t.ID, ConversationID: t.ID, TerminalID: t.TerminalID, MessageID: t.RequestID, Scope: t.Scope,
		DeliveryReceipt: t.Stage, TerminalInputDispatched: dispatched(&t), Delivered: t.Entered, AgentAcceptance: "unproven",
		ManagementMode: "managed", ObservationMode: "managed_monitor", Replayed: replayed, Reason: t.Reason, Conversation: &turn}
	told := t.Route != nil && !t.Unmanaged
	s.Capabilities = rpc.Capabilities{Callback: told, InteractionNotify: told}
	if t.Unmanaged {
		s.ManagementMode, s.ObservationMode = "unmanaged", "none"
	}
	next := func(action string, doNotRetry bool) {
		s.DoNotRetry = doNotRetry
		s.NextAction = &rpc.NextAction{Action: action, ConversationID: t.ID, SessionID: t.SessionID, TurnID: t.ID, Reason: t.Reason, DoNotRetry: doNotRetry}
	}
	switch {
	case t.AcceptedAt != nil:
		s.Status, s.SubmissionOutcome, s.DeliveryReceipt, s.AgentAcceptance, s.Delivered = "async_pending", "agent_accepted", StageAccepted, "proven", true
		next("yield", true)
	case t.Outcome == OutcomeNotSubmitted:
		s.Status, s.SubmissionOutcome, s.DeliveryReceipt, s.SafeToRetry = "submission_aborted", "aborted", "", true
		s.Cure = "send it again; nothing was typed"
		switch {
		case strings.Contains(t.Reason, pastesOff):
			s.Cure = "put the task on one line"
		case panes.Lasting(t.Reason):
			s.Cure = "do what the reason says first; nothing was typed"
		}
		next("retry", false)
	case t.Outcome == OutcomeNotAccepted:
		s.Status, s.SubmissionOutcome, s.DeliveryReceipt = "submission_not_accepted", "not_accepted", "not_accepted"
		s.Cure = "look at the pane: akk screen " + t.Key.Pane.Pane
		next("inspect", true)
	case t.Outcome != "":
		s.Status, s.SubmissionOutcome = "submission_uncertain", "uncertain"
		s.Cure = "look at the pane: akk screen " + t.Key.Pane.Pane
		next("inspect", true)
	default:
		s.Status, s.SubmissionOutcome = "submission_pending_acceptance", "pending_acceptance"
		next("wait_for_acceptance", true)
	}
	return s
}
