package handoff

// This file is a terminal's goroutine: the one owner of its state. It takes
// screens, log entries, commits and answers of the input gate from its mailbox,
// computes the reading, moves the send on and orders its effects. It upholds
// "one owner" and "the goroutine never waits".

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"akk/agents"
	secrets "akk/bridge/redact"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/vtparse"
)

// terminal is one pane with one agent incarnation (R1). The fields below "own"
// belong to its goroutine.
type terminal struct {
	desk   *Desk
	srv    *server
	key    Key
	agent  agents.Agent
	proc   agents.Process
	image  image // of the process when the agent was found
	vers   string
	box    *mailbox
	feed   *feeder
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	view   atomic.Pointer[view]

	// own:
	facts      Facts
	children   []int
	log        *agents.LogState
	status     *agents.AppStatus
	cur        *carried   // the newest dispatch
	older      []*carried // before it, oldest first
	wakes      []time.Time
	timer      *time.Timer
	reported   agents.Reading // as last journalled
	reportedAt time.Time      // since when that holds
	hasReport  bool
	emptySince time.Time // composer empty during a soft hold
	size       [2]int    // of the screen at the last look: columns, rows
	resized    time.Time // until when a resize may still spoil the composer
	leftText   string    // a text of ours that was left in the composer
	session    *Session
	recent     *Turn
	turnCount  int // of the session
	aliases    []string
	firstSeen  time.Time
	shown      string   // the conversation that the agent showed last
	generation int      // of conversations (R7)
	draft      string   // the composer's text at the last look, squeezed
	draftOurs  bool     // it was a text of ours
	handed     string   // the draft that stood there at a handback
	kept       string   // a human's draft that an explicit send cleared (memory only, R226)
	onTheWay   int      // inputs whose answer has not come
	arrived    []func() // called when it has for all
	inter      *interrupting
	mon        monitor // monitor.go
	cmd        string  // the process's command line, without secrets
	tty        int     // device of the process's terminal, 0 if it has none
}

// view is what other goroutines see of a terminal: immutable.
type view struct {
	Facts
	key      Key
	id       string
	aliases  []string
	kind     agents.Kind
	vers     string
	proc     agents.Process
	children []int
	nativeID string
	logState *agents.LogState
	session  *Session
	current  *Turn // the turn that the dispatch carries, open or not yet replaced
	recent   *Turn
	turns    int
	sendable []Missing
	follows  []string // ids of the Turns that it follows
	cmd      string
	tty      int
	since    time.Time // when the terminal was first seen
	retry    bool      // the current Turn's Enter may be pressed again
	kept     bool      // a cleared draft can be put back
	at       time.Time

	rows keptRows // drawn of it
}

func (t *terminal) run() {
	defer close(t.done)
	defer t.timer.Stop()
	t.facts.Since = t.desk.now()
	t.publish()
	t.journal(rpc.Event{Type: "terminal", Change: "appeared"})
	for {
		select {
		case <-t.ctx.Done():
			t.last()
			t.finish()
			return
		case <-t.box.wake:
			if t.drain() {
				t.finish()
				return
			}
		case <-t.timer.C:
			t.fired()
		}
	}
}

// last hears what came before the end: an agent that is gone was told so in the
// same moment.
func (t *terminal) last() {
	_, _, _, msgs := t.box.take()
	for _, m := range msgs {
		switch {
		case m.gone != nil:
			t.handle(m)
		case m.send != nil:
			m.send.reply <- sendReply{err: refused("run `akk list`", "the agent has exited; nothing was typed")}
		}
	}
}

// drain handles everything in the mailbox; true when the terminal is gone.
func (t *terminal) drain() bool {
	screen, frame, _, msgs := t.box.take()
	for _, m := range msgs {
		if m.audited != nil && m.audited.screen != nil && newer(m.audited.screen, screen) {
			screen, frame = m.audited.screen, true
		}
	}
	if screen != nil && (newer(screen, t.facts.Screen) || screen.Generation == t.facts.Screen.Generation && frame && !t.facts.Frame) {
		t.facts.Screen, t.facts.Frame = screen, frame && !screen.Torn
		t.read()
		if frame {
			t.feed.poke()
		}
	}
	for _, m := range msgs {
		if t.handle(m) {
			return true
		}
	}
	t.publish()
	return false
}

func newer(s, than *vtparse.Screen) bool { return than == nil || s.Generation > than.Generation }

func (t *terminal) handle(m message) (gone bool) {
	now := t.desk.now()
	switch {
	case m.info != nil:
		t.setInfo(*m.info)
		t.step(Event{Kind: EvFacts})
	case m.log != nil:
		t.setLog(m.log)
	case m.scanned != nil:
		t.children, t.facts.Background = m.scanned.children, m.scanned.background
	case m.send != nil:
		t.startSend(m.send)
	case m.do != nil:
		m.do(t)
	case m.audited != nil:
		t.facts.Background = m.audited.background
		m.audited.then(m.audited.err)
	case m.committed != nil:
		if c := t.carries(m.committed.turn); c != nil {
			t.stepOne(c, Event{Kind: EvCommitted, Commit: m.committed.n, Err: m.committed.err})
		}
	case m.gone != nil && t.onTheWay > 0 && errors.Is(m.gone, errReplaced):
		// What is on its way is asked for the program itself, its answer tells
		// whether anything was typed.
		t.arrived = append(t.arrived, func() { t.box.post(m) })
	case m.gone != nil:
		t.facts.Exited = true
		t.facts.Reading = agents.Reading{Agent: t.agent.Kind(), Activity: agents.Exited, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown,
			Why: []agents.Reason{{Layer: "process", Rule: m.gone.Error()}}}
		t.facts.Since = now
		t.report(true)
		t.step(Event{Kind: EvGone, Err: m.gone})
		t.stepInterrupt(Event{Kind: EvGone, Err: m.gone})
		t.observeGone(m.gone)
		return true
	}
	return false
}

func inputEvent(err error) Event {
	e := Event{Kind: EvInput, Err: err}
	var r *panes.Refused
	if errors.As(err, &r) {
		e.Refused = r.Reason
	} else if err != nil && zeroInput(err) {
		e.Refused = "gone"
	}
	return e
}

// zeroInput tells whether err promises that nothing was typed.
func zeroInput(err error) bool {
	return errors.Is(err, panes.ErrNoPane) || errors.Is(err, panes.ErrNotSynced)
}

func (t *terminal) setInfo(i panes.Info) {
	before := terminalID(t.agent.Kind(), t.facts.Info, t.key.PID)
	lost := i.Unsynced != t.facts.Info.Unsynced || i.UnsyncedWhy != t.facts.Info.UnsyncedWhy
	t.facts.Info = i
	if lost {
		t.read()
		t.report(true)
	}
	if after := terminalID(t.agent.Kind(), i, t.key.PID); after != before && !slices.Contains(t.aliases, before) {
		t.aliases = append(t.aliases, before) // scenario 5: the old name still means this terminal
	}
}

func (t *terminal) setLog(u *logUpdate) {
	t.log, t.status = u.state, u.status
	t.facts.LogPath = u.path
	if u.state != nil {
		t.facts.TurnOpen = u.state.TurnOpen
		t.facts.LogOffset = 0 // another file begins anew: a place in the old one is none in it
		if u.state.Last != nil {
			t.facts.LogOffset = u.state.Last.Offset
		}
	}
	t.refresh()
	t.read()
	if len(u.events) > 0 {
		t.step(Event{Kind: EvLog, Logs: u.events, LogPath: u.path})
		t.stepInterrupt(Event{Kind: EvLog, Logs: u.events, LogPath: u.path})
	}
	t.observeLog(u)
}

// read computes the reading of the newest screen and moves everything on that
// depends on it.
func (t *terminal) read() {
	i := t.facts.Info
	if t.facts.Exited || t.facts.Screen == nil && i.Unsynced.IsZero() {
		return
	}
	now := t.desk.now()
	if !i.Unsynced.IsZero() {
		t.unread(now)
		return
	}
	r := t.agent.Read(agents.Input{Screen: t.facts.Screen, Version: t.vers, Process: &t.proc, Log: t.log, Status: t.status, Now: now})
	r.Generation = t.facts.Screen.Generation
	if t.facts.Screen.Torn {
		r.Provisional = true
	}
	if t.facts.Background && r.Owner != agents.OwnerShell {
		r.Owner, r.Composer = agents.OwnerShell, agents.ComposerHidden
		r.Why = append(slices.Clip(r.Why), agents.Reason{Layer: "process", Rule: "the agent is not in the foreground of its terminal"})
	}
	old := t.facts.Reading
	switch {
	case t.hasReport && r.Activity == t.reported.Activity && r.Owner == t.reported.Owner:
		t.facts.Since = t.reportedAt // a half frame in between was no change
	case r.Activity != old.Activity || r.Owner != old.Owner:
		t.facts.Since = now
	}
	t.facts.Reading = r
	t.report(false)
	t.hold(now)
	t.step(Event{Kind: EvFacts})
	t.stepInterrupt(Event{Kind: EvFacts})
	t.observe()
}

// unread is the reading of a pane that can't be read: what its last screen
// showed is not known to be true any more. The log goes on by itself.
func (t *terminal) unread(now time.Time) {
	if t.facts.Reading.Activity != agents.ActivityUnknown || t.facts.Reading.Owner != agents.OwnerUnknown {
		t.facts.Since = now
	}
	t.facts.Reading = agents.Reading{Agent: t.agent.Kind(), Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown,
		Why: []agents.Reason{{Layer: "mirror", Rule: unreadWhat(t.facts.Info)}}}
	if t.facts.Screen != nil {
		t.step(Event{Kind: EvFacts})
		t.stepInterrupt(Event{Kind: EvFacts})
		t.observe()
	}
}

// unreadWhat says since when a pane can't be read, and why.
func unreadWhat(i panes.Info) string {
	why, _, _ := strings.Cut(i.UnsyncedWhy, "; ")
	return "the pane can't be read since " + i.Unsynced.Local().Format("15:04:05") + ": " + why
}

// report journals a change: at once on the way down to blocked or exited, else
// at the end of a frame.
func (t *terminal) report(now bool) {
	r := t.facts.Reading
	if !now && !t.facts.Frame && r.Activity != agents.Blocked {
		return
	}
	if t.hasReport && r.Activity == t.reported.Activity && r.Owner == t.reported.Owner && dialogKind(r) == dialogKind(t.reported) && r.Background == t.reported.Background {
		return
	}
	t.reported, t.reportedAt, t.hasReport = r, t.facts.Since, true
	t.journal(rpc.Event{Type: "reading", Change: string(r.Activity), Reading: publicReading(r)})
}

func dialogKind(r agents.Reading) string {
	if r.Dialog == nil {
		return ""
	}
	return r.Dialog.Kind
}

func (t *terminal) wake(at time.Time) {
	t.wakes = append(t.wakes, at)
	t.rearm()
}

func (t *terminal) rearm() {
	if len(t.wakes) == 0 {
		t.timer.Stop()
		return
	}
	t.timer.Reset(max(0, slices.MinFunc(t.wakes, time.Time.Compare).Sub(t.desk.now())))
}

func (t *terminal) fired() {
	now := t.desk.now()
	t.wakes = slices.DeleteFunc(t.wakes, func(at time.Time) bool { return !at.After(now) })
	t.hold(now)
	t.step(Event{Kind: EvTick})
	t.stepInterrupt(Event{Kind: EvTick})
	t.observe()
	t.rearm()
	t.publish()
}

// finish ends the terminal: its send gets its last word, waiters are answered.
func (t *terminal) finish() {
	if t.facts.Exited {
		t.journal(rpc.Event{Type: "terminal", Change: "gone", Reason: t.facts.Reading.Why[0].Rule})
	}
	if t.facts.Exited {
		t.dropHold()
	}
	t.desk.forget(t)
	t.desk.shows.leave(t)
	if t.inter != nil {
		t.inter.reply()
	}
	for _, m := range t.box.close() {
		if m.send != nil {
			m.send.reply <- sendReply{err: refused("run `akk list`", "the agent has exited; nothing was typed")}
		}
	}
	t.cancel()
	t.publish()
}

func (t *terminal) nativeID() string {
	if t.status != nil && t.status.SessionID != "" {
		return t.status.SessionID
	}
	if t.log != nil {
		return t.log.SessionID
	}
	return ""
}

func (t *terminal) publicID() string { return terminalID(t.agent.Kind(), t.facts.Info, t.key.PID) }

// publish shows the newest state to everybody else.
func (t *terminal) publish() {
	t.refresh()
	f := t.facts
	v := &view{Facts: f, key: t.key, id: t.publicID(), aliases: t.aliases, kind: t.agent.Kind(), vers: t.vers, proc: t.proc, cmd: t.cmd, tty: t.tty, since: t.firstSeen,
		children: t.children, nativeID: t.nativeID(), logState: t.log, session: t.session, recent: t.recent, turns: t.turnCount, at: t.desk.now()}
	if t.cur != nil {
		turn := t.cur.disp.Turn
		if open := t.openTurn(); open != nil {
			turn = *open // a task before it may still run
		}
		v.current = &turn
	}
	for _, c := range t.following() {
		v.follows = append(v.follows, c.disp.Turn.ID)
	}
	v.sendable, v.kept = sendable(f, v.at), t.kept != ""
	v.retry = t.cur != nil && len(retryable(f, t.cur.disp, v.at)) == 0
	if t.view.Swap(v) == nil {
		t.desk.found.Add(1) // who calls from it is known from now on
	}
	t.desk.changed.fire()
}

func (t *terminal) journal(e rpc.Event) {
	e.Time = t.desk.now()
	e.TerminalID, e.Pane, e.Socket, e.Agent = t.publicID(), t.facts.Info.Pane, t.srv.id.Socket, string(t.agent.Kind())
	e.Demo = t.facts.Info.Demo
	t.desk.journal(e)
}

// publicReading is a reading as it may be stored and told: no text in it holds
// a secret, and it shares nothing with r. Whoever compares with the screen
// (answers, fences) takes r itself.
func publicReading(r agents.Reading) *agents.Reading {
	r = secrets.Copy(r)
	if r.Dialog != nil {
		for i, f := range r.Dialog.Fields {
			if f.Value != "" && secrets.Name(f.Label) {
				r.Dialog.Fields[i].Value = secrets.Mark
			}
		}
	}
	return &r
}
