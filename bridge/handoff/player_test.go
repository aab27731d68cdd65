package handoff

// This file holds the tests' small world: a terminal server in memory whose
// panes run players (scripted agents that draw a screen, take input and write
// a log), and the agents.Agent that reads them. The screens are the players'
// own; real agents' screens are in the tests of package agents.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"akk/agents"
	"akk/panes"
	"akk/vtparse"
)

// playerAgent reads a player. Row 0 is "<activity> <owner>", row 1 "> draft".
type playerAgent struct {
	mu      sync.Mutex
	players map[int]*player // by pid
	plan    agents.SubmitPlan
	kind    agents.Kind // "" = codex
	version *string     // nil = 1.0.0
	generic bool        // no profile was certified for it
}

func (a *playerAgent) Kind() agents.Kind {
	if a.kind != "" {
		return a.kind
	}
	return agents.Codex
}

func (a *playerAgent) Read(in agents.Input) agents.Reading {
	r := agents.Reading{Agent: agents.Codex, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown,
		Why: []agents.Reason{{Layer: "frame", Rule: "player"}}}
	if a.generic {
		r.Verification = "generic"
	}
	f := strings.Fields(in.Screen.Line(0))
	if len(f) == 3 {
		r.Dialog, f = &agents.Dialog{Kind: "question", Prompt: "Which colour?", Async: true, Fingerprint: "p1"}, f[:2]
	}
	if len(f) != 2 {
		return r
	}
	r.Activity, r.Owner = agents.Activity(f[0]), agents.Owner(f[1])
	line, ok := strings.CutPrefix(in.Screen.Text(1, 18), ">")
	if r.Owner == agents.OwnerApproval {
		r.Dialog = &agents.Dialog{Kind: "exec", Command: "rm -rf TOKEN=hunter2"}
	}
	switch {
	case !ok:
		r.Composer = agents.ComposerHidden
		return r
	default:
		line = strings.Trim(line, "\n ")
		r.Composer, r.Draft, r.DraftEnd = agents.ComposerDraft, line, true
		if line == "" {
			r.Composer = agents.ComposerEmpty
		}
	}
	return r
}

func (a *playerAgent) Match(p *agents.Process) (string, bool) {
	v := "1.0.0"
	if a.version != nil {
		v = *a.version
	}
	return v, strings.HasSuffix(p.Exe, "/player")
}

func (a *playerAgent) OpenLog(p *agents.Process) (agents.Log, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	pl := a.players[p.PID]
	if pl == nil || !pl.hasLog() {
		return nil, agents.ErrNoLog
	}
	return &playerLog{p: pl}, nil
}

func (a *playerAgent) Submit(string) agents.SubmitPlan { return a.plan }

type playerLog struct {
	p    *player
	read int
	st   agents.LogState
	file int
}

func (l *playerLog) Path() string         { return fmt.Sprintf("/log/%d/%d", l.p.pid, l.file) }
func (l *playerLog) WatchPaths() []string { return nil }
func (l *playerLog) Poll() ([]agents.LogEvent, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.p.file != l.file {
		l.file, l.read, l.st = l.p.file, 0, agents.LogState{SessionID: l.p.native}
	}
	out := append([]agents.LogEvent{}, l.p.log[l.read:]...)
	l.read = len(l.p.log)
	for i := range out {
		l.st.Last = &out[i]
		switch out[i].Kind {
		case agents.LogAccepted:
			l.st.TurnOpen = true
		case agents.LogCompleted, agents.LogAborted, agents.LogFailed:
			l.st.TurnOpen = false
		}
		l.st.SessionID = out[i].SessionID
	}
	return out, nil
}
func (l *playerLog) State() agents.LogState    { s := l.st; s.Path = l.Path(); return s }
func (l *playerLog) Status() *agents.AppStatus { return nil }
func (l *playerLog) Close() error              { return nil }

// player is one scripted agent.
type player struct {
	w   *world
	id  string
	pid int

	mu       sync.Mutex
	activity agents.Activity
	owner    agents.Owner
	text     string // composer
	got      []byte // every byte that was typed
	log      []agents.LogEvent
	enters   int
	tasks    []string
	native   string // its own conversation
	file     int    // number of its log
	drawn    int
	asks     bool // a question that does not stop the turn

	onPaste func(*player, string) string // what the composer shows; nil = the text
	onEnter func(*player)                // nil = accept at once
	onKeys  func(*player, string)        // other keys; nil = as key does
}

func (p *player) hasLog() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.log) > 0 }

func (p *player) bytes() string { p.mu.Lock(); defer p.mu.Unlock(); return string(p.got) }

// set changes the player and draws.
func (p *player) set(f func(*player)) {
	p.mu.Lock()
	f(p)
	p.mu.Unlock()
	p.draw()
}

func (p *player) draw() {
	p.mu.Lock()
	p.drawn++ // every picture differs from the one before
	s := fmt.Sprintf("\x1b[?2004h\x1b[2J\x1b[20H%d\x1b[H%s %s\r\n", p.drawn, p.activity, p.owner)
	if p.asks {
		s = strings.Replace(s, string(p.owner)+"\r\n", string(p.owner)+" ?\r\n", 1)
	}
	if p.owner == agents.OwnerComposer {
		s += "> " + strings.ReplaceAll(p.text, "\n", "\r\n")
	}
	p.mu.Unlock()
	p.w.feed(p.id, s)
}

func (p *player) accept() {
	p.mu.Lock()
	task := p.text
	turn := fmt.Sprintf("t%d", len(p.tasks)+1)
	p.tasks = append(p.tasks, task)
	p.add(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(task), TurnID: turn})
	p.text, p.activity = "", agents.Working
	p.mu.Unlock()
	p.draw()
}

// add appends to the log; p.mu is held.
func (p *player) add(e agents.LogEvent) {
	e.Time, e.Offset, e.SessionID = time.Now(), int64(len(p.log)+1)*100, p.native
	p.log = append(p.log, e)
}

func (p *player) complete(text string) {
	p.set(func(p *player) {
		p.add(agents.LogEvent{Kind: agents.LogCompleted, TurnID: fmt.Sprintf("t%d", len(p.tasks)), Text: text})
		p.activity = agents.Idle
	})
}

// key is what the real agents do with the keys of the plans: Ctrl-E Ctrl-U kills
// the last row, Backspace joins the one before, Ctrl-C interrupts a turn and
// ends an idle program.
func (p *player) key(keys string) {
	p.mu.Lock()
	rows := strings.Split(p.text, "\n")
	switch keys {
	case "\x05\x15":
		rows[len(rows)-1] = ""
	case "\x7f\x15":
		if rows = rows[:len(rows)-1]; len(rows) > 0 {
			rows[len(rows)-1] = ""
		}
	case "\x03":
		idle := p.activity == agents.Idle
		if !idle {
			p.add(agents.LogEvent{Kind: agents.LogAborted, TurnID: fmt.Sprintf("t%d", len(p.tasks)), Err: "interrupted"})
			p.activity = agents.Idle
		}
		p.mu.Unlock()
		if idle {
			p.w.leave(p)
			return
		}
		p.draw()
		return
	}
	p.text = strings.Join(rows, "\n")
	p.mu.Unlock()
	p.draw()
}

func (p *player) input(w panes.Write) {
	p.mu.Lock()
	if w.Paste != "" {
		p.got = append(p.got, w.Paste...)
		shown := w.Paste
		if p.onPaste != nil {
			f := p.onPaste
			p.mu.Unlock()
			shown = f(p, w.Paste)
			p.mu.Lock()
		}
		p.text += shown
		p.mu.Unlock()
		p.draw()
		return
	}
	p.got = append(p.got, w.Keys...)
	if string(w.Keys) != "\r" {
		f := p.onKeys
		p.mu.Unlock()
		if f == nil {
			f = (*player).key
		}
		f(p, string(w.Keys))
		return
	}
	p.enters++
	f := p.onEnter
	p.mu.Unlock()
	if f != nil {
		f(p)
		return
	}
	p.accept()
}

// world is a panes.Provider in memory.
type world struct {
	agent *playerAgent
	id    panes.ServerID

	mu      sync.Mutex
	panes   map[string]*worldPane
	order   []string
	subs    map[*worldSub]bool
	nextPID int
	refuse  map[string]error // next Input of a pane fails with it
	audit   map[string]error
	writes  int

	onAudit            func()         // runs before each audit looks
	released           map[string]int // by pane
	onRelease, onInput func()         // before they are carried out
	born               time.Time      // of the next agent's process, zero = the usual one
}

type worldPane struct {
	info   panes.Info
	term   *vtparse.Terminal
	screen *vtparse.Screen
	procs  []agents.Process
	player *player
}

func newWorld() *world {
	return &world{agent: &playerAgent{players: map[int]*player{}, plan: agents.SubmitPlan{SettleMillis: 20, DrawMillis: 500, AcceptMillis: 1000, Enter: "\r",
		Clear:     agents.ClearPlan{First: "\x05\x15", Again: "\x7f\x15", StepMillis: 500},
		Interrupt: agents.InterruptPlan{Key: "\x03", Name: "C-c", EffectMillis: 1000}}},
		id: panes.ServerID{Socket: "/tmp/world.sock", PID: 4242, Start: time.Unix(1_800_000_000, 0)}, panes: map[string]*worldPane{},
		subs: map[*worldSub]bool{}, nextPID: 1 << 24, refuse: map[string]error{}, audit: map[string]error{}} // pids that Linux never gives
}

// pane adds a pane with a shell in it.
func (w *world) pane() string {
	w.mu.Lock()
	id := fmt.Sprintf("%%%d", len(w.order))
	w.nextPID++
	p := &worldPane{term: vtparse.New(80, 24, vtparse.Options{})}
	p.screen = p.term.Screen()
	p.info = panes.Info{Identity: panes.Identity{Server: w.id, Pane: id, PanePID: w.nextPID, PaneBorn: time.Unix(1_800_000_100, 0)},
		SessionName: "main", WindowIndex: len(w.order), Cols: 80, Rows: 24, Command: "bash", Cwd: "/tmp"}
	w.panes[id] = p
	w.order = append(w.order, id)
	info := p.info
	w.mu.Unlock()
	w.send(panes.Update{Kind: panes.UpdateInfo, Pane: id, Info: &info})
	return id
}

// play starts a player in a new pane.
func (w *world) play() *player {
	id := w.pane()
	return w.playIn(id)
}

func (w *world) playIn(id string) *player {
	w.mu.Lock()
	w.nextPID++
	p := &player{w: w, id: id, pid: w.nextPID, activity: agents.Idle, owner: agents.OwnerComposer, native: fmt.Sprintf("native-%d", w.nextPID)}
	born := w.born
	if born.IsZero() {
		born = time.Unix(1_800_000_200, 0)
	}
	wp := w.panes[id]
	wp.player = p
	wp.procs = []agents.Process{{PID: wp.info.PanePID, Exe: "/bin/bash", StartTime: wp.info.PaneBorn},
		{PID: p.pid, Exe: "/opt/player", Args: []string{"player"}, Cwd: "/tmp", StartTime: born, PanePID: wp.info.PanePID}}
	wp.info.Command = "player"
	info := wp.info
	w.mu.Unlock()
	w.agent.mu.Lock()
	w.agent.players[p.pid] = p
	w.agent.mu.Unlock()
	p.draw()
	w.send(panes.Update{Kind: panes.UpdateInfo, Pane: id, Info: &info})
	return p
}

// leave ends the player's process; a shell stays.
func (w *world) leave(p *player) {
	w.mu.Lock()
	wp := w.panes[p.id]
	wp.procs, wp.player, wp.info.Command = wp.procs[:1], nil, "bash"
	info := wp.info
	w.mu.Unlock()
	w.send(panes.Update{Kind: panes.UpdateInfo, Pane: p.id, Info: &info})
}

func (w *world) change(id string, f func(*panes.Info)) {
	w.mu.Lock()
	f(&w.panes[id].info)
	info := w.panes[id].info
	w.mu.Unlock()
	w.send(panes.Update{Kind: panes.UpdateInfo, Pane: id, Info: &info})
}

func (w *world) feed(id, bytes string) {
	w.mu.Lock()
	p := w.panes[id]
	_, _ = p.term.Write([]byte(bytes))
	p.screen = p.term.Screen()
	s := p.screen
	w.mu.Unlock()
	w.send(panes.Update{Kind: panes.UpdateScreen, Pane: id, Screen: s, Time: time.Now()})
	w.send(panes.Update{Kind: panes.UpdateFrame, Pane: id, Screen: s, Time: time.Now()})
}

// resize gives the pane another size; its player has not drawn anew yet.
func (w *world) resize(id string, cols, rows int) {
	w.mu.Lock()
	w.panes[id].term.Resize(cols, rows)
	w.mu.Unlock()
	w.feed(id, "")
}

func (w *world) send(u panes.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		s.add(u)
	}
}

func (w *world) ID() panes.ServerID { return w.id }
func (w *world) Version() string    { return "3.3a" }
func (w *world) Panes() []panes.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []panes.Info
	for _, id := range w.order {
		if p := w.panes[id]; p != nil {
			out = append(out, p.info)
		}
	}
	return out
}

func (w *world) Pane(id string) (panes.Info, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.panes[id]
	if p == nil {
		return panes.Info{}, false
	}
	return p.info, true
}

func (w *world) Screen(id string) (*vtparse.Screen, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.panes[id]; p != nil {
		return p.screen, nil
	}
	return nil, panes.ErrNoPane
}

func (w *world) Audit(_ context.Context, id string) (*vtparse.Screen, error) {
	w.mu.Lock()
	err, hook := w.audit[id], w.onAudit
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if hook != nil {
		hook()
	}
	return w.Screen(id)
}

func (w *world) Input(_ context.Context, wr panes.Write) (panes.Sent, error) {
	w.mu.Lock()
	hook := w.onInput
	w.mu.Unlock()
	if hook != nil {
		hook()
	}
	w.mu.Lock()
	w.writes++
	p := w.panes[wr.Identity.Pane]
	err := w.refuse[wr.Identity.Pane]
	delete(w.refuse, wr.Identity.Pane)
	switch {
	case err != nil:
	case p == nil || p.player == nil || p.info.Identity != wr.Identity:
		err = &panes.Refused{Reason: "identity", Detail: "another process"}
	case p.info.InMode:
		err = &panes.Refused{Reason: "mode", Detail: "copy mode"}
	case wr.Cursor != nil && (wr.Cursor.X != p.screen.Cursor.X || wr.Cursor.Y != p.screen.Cursor.Y):
		err = &panes.Refused{Reason: "cursor", Detail: "the cursor moved"}
	case slices.ContainsFunc(wr.Shows, func(text string) bool { return !strings.Contains(p.screen.Text(0, p.screen.Rows), text) }):
		err = &panes.Refused{Reason: "screen", Detail: "a text that the proof saw is no longer on the screen"}
	}
	w.mu.Unlock()
	if err != nil && !errors.Is(err, panes.ErrUncertain) {
		return panes.Sent{}, err
	}
	p.player.input(wr)
	return panes.Sent{Bytes: len(wr.Paste) + len(wr.Keys), Time: time.Now()}, err
}

func (w *world) Processes(id string) []agents.Process {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.panes[id]; p != nil {
		return append([]agents.Process{}, p.procs...)
	}
	return nil
}

func (w *world) Release(_ context.Context, id string) error {
	w.mu.Lock()
	hook := w.onRelease
	w.mu.Unlock()
	if hook != nil {
		hook()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released == nil {
		w.released = map[string]int{}
	}
	w.released[id]++
	return nil
}

func (w *world) releases(id string) int { w.mu.Lock(); defer w.mu.Unlock(); return w.released[id] }

func (w *world) Tap(string) (panes.Tap, error) { return nil, panes.ErrNoPane }
func (w *world) Close() error                  { return nil }

func (w *world) Subscribe() panes.Subscription {
	s := &worldSub{w: w, wake: make(chan struct{}, 1)}
	w.mu.Lock()
	for _, id := range w.order {
		p := w.panes[id]
		info := p.info
		s.ups = append(s.ups, panes.Update{Kind: panes.UpdateInfo, Pane: id, Info: &info}, panes.Update{Kind: panes.UpdateFrame, Pane: id, Screen: p.screen})
	}
	w.subs[s] = true
	w.mu.Unlock()
	return s
}

// die ends the whole server.
func (w *world) die() { w.send(panes.Update{Kind: panes.UpdateServerGone}) }

type worldSub struct {
	w    *world
	mu   sync.Mutex
	ups  []panes.Update
	end  bool
	wake chan struct{}
}

func (s *worldSub) add(u panes.Update) {
	s.mu.Lock()
	s.ups = append(s.ups, u)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *worldSub) Next(ctx context.Context) ([]panes.Update, error) {
	for {
		s.mu.Lock()
		ups := s.ups
		s.ups = nil
		end := s.end
		s.mu.Unlock()
		if len(ups) > 0 {
			s.end = ups[len(ups)-1].Kind == panes.UpdateServerGone
			return ups, nil
		}
		if end {
			return nil, io.EOF
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *worldSub) Close() {
	s.w.mu.Lock()
	delete(s.w.subs, s)
	s.w.mu.Unlock()
}
