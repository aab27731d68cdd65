package handoff

// This file answers status, screen and explain. It upholds R21 and R23: a
// bounded, redacted view of what is there; nothing is typed.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
	"akk/vtparse"
)

const (
	excerptMax    = 4000 // characters (CONTRACT-outputs §3.1)
	screenTimeout = 3 * time.Second
)

// Status tells of a Turn or of a terminal.
func (d *Desk) Status(ctx context.Context, c rpc.Caller, p rpc.StatusParams) (rpc.Status, error) {
	if (p.ID == "") == (p.TurnID == "") {
		return rpc.Status{}, usage("name exactly one of them", "status needs a terminal or a turn")
	}
	if strings.HasPrefix(p.ID, "turn-") {
		p.ID, p.TurnID = "", p.ID
	}
	wait := min(time.Duration(max(p.WaitMillis, 0))*time.Millisecond, waitMax)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if p.TurnID != "" {
		return d.turnStatus(ctx, c, p)
	}
	for {
		ch := d.changed.wait()
		v, err := d.resolve(p.ID, p.Socket)
		if err != nil {
			return rpc.Status{}, err
		}
		busy := v.Reading.Activity == agents.Working || v.Reading.Activity == agents.Starting
		if wait == 0 || !busy || ctx.Err() != nil {
			st := d.terminalStatus(v, c)
			st.TimedOut = wait > 0 && busy
			return st, nil
		}
		select {
		case <-ch:
		case <-ctx.Done():
		case <-d.ctx.Done():
			return rpc.Status{}, unavailable("try again", "the akk daemon is ending")
		}
	}
}

func (d *Desk) turnStatus(ctx context.Context, c rpc.Caller, p rpc.StatusParams) (rpc.Status, error) {
	for {
		any := d.changed.wait() // a Turn of before is taken up when its terminal is seen
		t, changed, err := d.turn(p.TurnID)
		if err != nil {
			return rpc.Status{}, err
		}
		rests := !t.open() || t.ClosedAt != nil || t.Asked != "" || t.StalledAt != nil // it waits for somebody else than the agent
		if rests || p.WaitMillis <= 0 || ctx.Err() != nil {
			st := d.turnDocument(t, c)
			st.TimedOut = p.WaitMillis > 0 && !rests
			return st, nil
		}
		if changed != nil {
			any = nil
		}
		select {
		case <-changed:
		case <-any:
		case <-ctx.Done():
		case <-d.ctx.Done():
			return rpc.Status{}, unavailable("try again", "the akk daemon is ending")
		}
	}
}

// turn returns a Turn by id or short ref.
func (d *Desk) turn(id string) (Turn, <-chan struct{}, error) {
	d.mu.Lock()
	for _, l := range d.live {
		if t, ch := l.get(); t.ID == id || shortRef(t.ID) == id {
			d.mu.Unlock()
			return t, ch, nil
		}
	}
	d.mu.Unlock()
	var t Turn
	err := d.db.View(func(tx *store.Tx) (err error) { t, _, err = turns.Get(tx, id); return err })
	if errors.Is(err, store.ErrNotFound) {
		return t, nil, noTurn(id)
	}
	return t, nil, err
}

func (d *Desk) turnDocument(t Turn, c rpc.Caller) rpc.Status {
	var v *view
	for _, have := range d.views("") {
		if have.session != nil && have.session.ID == t.SessionID {
			v = have
		}
	}
	doc := turnDoc(&t, v)
	maps.Copy(doc.AvailableActions, d.turnActions(&t, v, c))
	d.callbackDoc(&t, &doc)
	st := rpc.Status{ConversationID: t.ID, SessionID: t.SessionID, TurnID: t.ID, Agent: t.Agent, Conversation: &doc, Confidence: "high",
		Limitations: []string{}}
	st.Tell(d.recent("", t.ID))
	st.About = fmt.Sprintf("%s turn, %s", t.Agent, doc.Status)
	if t.FinalText != "" {
		st.About += ": " + clip(t.FinalText, 180)
	} else if t.Reason != "" {
		st.About += ": " + clip(t.Reason, 180)
	}
	if v == nil {
		st.Limitations = append(st.Limitations, "terminal status unavailable")
		st.TerminalStatus = rpc.TerminalStatus{Provider: "tmux", Target: t.TerminalID, Agent: t.Agent}
		return st
	}
	row := d.rowOf(v, c)
	st.Terminal, st.TerminalStatus = &row, v.terminalStatus()
	return st
}

func (d *Desk) terminalStatus(v *view, c rpc.Caller) rpc.Status {
	row := d.rowOf(v, c)
	st := rpc.Status{ConversationID: v.id, Source: "terminal_control", Agent: string(v.kind), Confidence: "high", Limitations: []string{},
		Terminal: &row, TerminalStatus: v.terminalStatus()}
	st.Tell(d.recent(v.id, ""))
	st.About = fmt.Sprintf("%s in %s is %s", v.kind, target(v), row.ActivityState)
	if row.ActivityState == "unknown" {
		st.Confidence = "low"
	}
	if v.session != nil {
		st.SessionID = v.session.ID
	}
	if v.current != nil {
		doc := turnDoc(v.current, v)
		maps.Copy(doc.AvailableActions, d.turnActions(v.current, v, c))
		st.Conversation = &doc
	}
	return st
}

func (v *view) terminalStatus() rpc.TerminalStatus { return v.rows.screen(v.drawStatus) }

func (v *view) drawStatus() rpc.TerminalStatus {
	state, reason := screenState(v.Reading)
	ts := rpc.TerminalStatus{Provider: "tmux", Target: target(v), Agent: string(v.kind), Reachable: true, ActivityState: state, ActivityReason: reason, ApprovalState: approval(v.Reading)}
	if v.Screen != nil {
		ts.Screen.Excerpt = tail(redact(strings.TrimRight(strings.Join(v.Screen.Lines(), "\n"), "\n ")), excerptMax)
	}
	return ts
}

// tail keeps the last n characters.
func tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[len(r)-n:])
}

// Screen shows the live screen of any pane, an agent's or not.
func (d *Desk) Screen(ctx context.Context, _ rpc.Caller, p rpc.ScreenParams) (rpc.Screen, error) {
	pn, bad := d.resolvePane(p.ID, p.Socket)
	if bad != nil {
		return rpc.Screen{}, bad
	}
	if i, ok := pn.prov.Pane(pn.info.Pane); ok && !i.Unsynced.IsZero() { // its newest screen is an old one
		_, cure, _ := strings.Cut(i.UnsyncedWhy, "; ")
		return rpc.Screen{}, refused(cure, "%s (%s)", unreadWhat(i), i.Pane)
	}
	var s *vtparse.Screen
	var err error
	if !p.Audit {
		s, err = pn.prov.Screen(pn.info.Pane)
	}
	if p.Audit || errors.Is(err, panes.ErrNotSynced) && !errors.Is(err, panes.ErrTaken) { // a new pane: an audit waits for its first sync
		ctx, cancel := context.WithTimeout(ctx, screenTimeout)
		defer cancel()
		s, err = pn.prov.Audit(ctx, pn.info.Pane)
	}
	if err != nil {
		if _, now := pn.prov.Screen(pn.info.Pane); errors.Is(now, panes.ErrNotSynced) {
			err = now // the audit ran out of time because there is no mirror yet
		}
		return rpc.Screen{}, paneError(pn.info.Pane, err)
	}
	doc := screenDoc(pn.info.Pane, s)
	doc.Audited, doc.Time = p.Audit, d.now()
	if doc.Export, bad = export(s, p.Format); bad != nil {
		return rpc.Screen{}, bad
	}
	if pn.view != nil {
		doc.TerminalID = pn.view.id
	}
	return doc, nil
}

func paneError(id string, err error) *rpc.Error {
	switch {
	case errors.Is(err, panes.ErrMoving), errors.Is(err, context.DeadlineExceeded):
		return refused("try again", "pane %s kept changing, its screen could not be proven", id)
	case errors.Is(err, panes.ErrTaken), errors.Is(err, panes.ErrNoPasser):
		_, why, _ := strings.Cut(err.Error(), ": ")
		why, cure, _ := strings.Cut(why, "; ")
		return refused(cure, "pane %s can't be read: %s", id, why)
	case errors.Is(err, panes.ErrNotSynced):
		return unavailable("try again in a moment", "pane %s is not mirrored yet", id)
	case errors.Is(err, panes.ErrNoPane), errors.Is(err, panes.ErrServerGone):
		return notFound("pane %s is gone", id)
	}
	return &rpc.Error{Code: rpc.CodeInternal, Message: fmt.Sprintf("pane %s: %v", id, err), Cure: "run `akk doctor`"}
}

func screenDoc(id string, s *vtparse.Screen) rpc.Screen {
	doc := rpc.Screen{Pane: id, Generation: s.Generation, Cols: s.Cols, Rows: s.Rows, Alternate: s.Alternate, Title: s.Title, Lines: s.Lines(), Runs: runs(s)}
	doc.Cursor.X, doc.Cursor.Y, doc.Cursor.Visible = s.Cursor.X, s.Cursor.Y, s.Cursor.Visible
	return doc
}

// Explain tells how a terminal's reading came about and what a send lacks.
func (d *Desk) Explain(_ context.Context, _ rpc.Caller, p rpc.TargetParams) (rpc.Explain, error) {
	pn, bad := d.resolvePane(p.ID, p.Socket)
	if bad != nil {
		return rpc.Explain{}, bad
	}
	e := rpc.Explain{Pane: pn.info.Pane, Evidence: []rpc.Evidence{}, Missing: []string{}}
	v := pn.view
	if v == nil {
		if s, err := pn.prov.Screen(pn.info.Pane); err == nil {
			e.Screen = screenDoc(pn.info.Pane, s)
		}
		e.Reading = agents.Reading{Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
		e.Missing = append(e.Missing, fmt.Sprintf("no agent runs in this pane (its command is %s): start codex or claude in it", pn.info.Command))
		if pn.info.Demo != "" {
			e.Missing = append(e.Missing, "a recording plays in it: "+pn.info.Demo)
		}
		return e, nil
	}
	e.TerminalID, e.Agent, e.Version = v.id, string(v.kind), v.vers
	e.Process = &rpc.ProcessFacts{PID: v.key.PID, Start: v.key.Start, Exe: v.proc.Exe, Cwd: redact(v.proc.Cwd), PanePID: v.Info.PanePID, Args: []string{}}
	for _, a := range v.proc.Args {
		e.Process.Args = append(e.Process.Args, redact(a))
	}
	e.Reading = *publicReading(v.Reading)
	for _, r := range e.Reading.Why {
		e.Evidence = append(e.Evidence, rpc.Evidence{Layer: r.Layer, Rule: r.Rule, Rows: r.Rows})
	}
	missing := sendable(v.Facts, d.now())
	e.Sendable = len(missing) == 0
	for _, m := range missing {
		e.Missing = append(e.Missing, m.What+": "+m.Cure)
	}
	if v.Screen != nil {
		e.Screen = screenDoc(pn.info.Pane, v.Screen)
	}
	e.LogPath = v.LogPath
	return e, nil
}
