package handoff

// This file finds the agents in the panes of one server. It upholds: a process
// is looked for when something happened (a new pane, another command, output
// after a quiet), never by a standing poll.

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

const (
	// quietGap of silence makes the next output a reason to look.
	quietGap = 300 * time.Millisecond
	// scanGap is the least time between two looks at one pane without an agent
	// that keeps printing.
	scanGap = time.Second
	// scanLatest is the most between them while it goes on writing: a script that
	// starts an agent stays the program in front.
	scanLatest = 5 * time.Second
)

// rescans after a reason to look: a wrapper (npm's node) needs a while until
// the agent itself runs. Each bound is from the reason on.
var rescans = []time.Duration{0, 150 * time.Millisecond, 500 * time.Millisecond, 1500 * time.Millisecond, 4 * time.Second}

var (
	errExited     = errors.New("the agent has exited")
	errPaneGone   = errors.New("the pane is gone")
	errServerGone = errors.New("the terminal server is gone")
)

// server is one attached terminal server.
type server struct {
	desk   *Desk
	prov   panes.Provider
	id     panes.ServerID
	cancel context.CancelFunc
	done   chan struct{}
	since  time.Time // of the attach

	mu    sync.Mutex
	panes map[string]*paneState
	gone  bool
	kick  chan struct{}
	wg    sync.WaitGroup // terminals and exit watchers
}

type paneState struct {
	info   panes.Info
	term   *terminal
	due    []time.Time // looks to come
	looked time.Time
	last   time.Time // newest output
	group  int       // foreground process group at the last look

	scanned bool // a look is over
}

func (s *server) run(ctx context.Context) {
	defer close(s.done)
	sub := s.prov.Subscribe()
	defer sub.Close()
	scanned := make(chan struct{})
	go func() { defer close(scanned); s.scanLoop(ctx) }()
	for {
		ups, err := sub.Next(ctx)
		for _, u := range ups {
			s.update(u)
		}
		if err != nil {
			break
		}
	}
	s.end(ctx.Err() != nil)
	<-scanned
	s.wg.Wait()
}

// end is told to all terminals: the server died, or (ending) the daemon leaves
// and the agents go on.
func (s *server) end(ending bool) {
	s.mu.Lock()
	s.gone = true
	var terms []*terminal
	for _, p := range s.panes {
		if p.term != nil {
			terms = append(terms, p.term)
		}
	}
	s.mu.Unlock()
	for _, t := range terms {
		if ending {
			t.cancel()
		} else {
			t.box.post(message{gone: errServerGone})
		}
	}
	s.cancel()
	if !ending {
		s.desk.serverGone(s)
	}
}

func (s *server) update(u panes.Update) {
	switch u.Kind {
	case panes.UpdateInfo:
		s.info(*u.Info)
	case panes.UpdateScreen, panes.UpdateFrame:
		s.output(u)
	case panes.UpdateGone:
		s.mu.Lock()
		p := s.panes[u.Pane]
		delete(s.panes, u.Pane)
		s.mu.Unlock()
		if p != nil && p.term != nil {
			p.term.box.post(message{gone: errPaneGone})
		}
		s.desk.changed.fire()
	}
}

func (s *server) info(i panes.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.panes[i.Pane]
	if p == nil {
		p = &paneState{}
		s.panes[i.Pane] = p
		s.want(p, s.desk.now())
	}
	old := p.info
	p.info = i
	if old.Command != i.Command || old.PanePID != i.PanePID || old.Dead != i.Dead || old.Demo != i.Demo {
		s.want(p, s.desk.now())
	}
	if p.term != nil {
		if old.PanePID != i.PanePID && old.PanePID != 0 {
			p.term.box.post(message{gone: errExited}) // respawned
			p.term = nil
			return
		}
		p.term.box.post(message{info: &i})
	}
}

func (s *server) output(u panes.Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.panes[u.Pane]
	if p == nil {
		return
	}
	now := s.desk.now()
	quiet := now.Sub(p.last) >= quietGap
	p.last = now
	if p.term != nil {
		p.term.box.postScreen(u.Screen, u.Kind == panes.UpdateFrame, u.Time)
		return
	}
	if quiet || now.Sub(p.looked) >= scanGap {
		if g := foregroundGroup(p.info.PanePID); g == 0 || g != p.group || quiet {
			s.want(p, now)
		} else if len(p.due) == 0 && now.Sub(p.looked) >= scanLatest {
			p.due = append(p.due, now)
			s.poke()
		}
	}
}

// want plans looks at a pane; s.mu is held.
func (s *server) want(p *paneState, now time.Time) {
	p.due = p.due[:0]
	for _, d := range rescans {
		p.due = append(p.due, now.Add(d))
	}
	s.poke()
}

// poke has the plan of looks read again.
func (s *server) poke() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *server) scanLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-timer.C:
		}
		next := time.Time{}
		now := s.desk.now()
		var due []string
		s.mu.Lock()
		for id, p := range s.panes {
			for len(p.due) > 0 && !p.due[0].After(now) {
				p.due = p.due[1:]
				p.looked = now
				if len(due) == 0 || due[len(due)-1] != id {
					due = append(due, id)
				}
			}
			if len(p.due) > 0 && (next.IsZero() || p.due[0].Before(next)) {
				next = p.due[0]
			}
		}
		s.mu.Unlock()
		for _, id := range due {
			s.scan(ctx, id)
		}
		if !next.IsZero() {
			timer.Reset(max(0, next.Sub(s.desk.now())))
		}
	}
}

// scan looks for an agent in a pane and begins or ends its terminal.
func (s *server) scan(ctx context.Context, id string) {
	procs := s.prov.Processes(id)
	found := s.desk.match(procs)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.panes[id]
	if p == nil || s.gone || ctx.Err() != nil {
		return
	}
	p.scanned = true
	p.group = foregroundGroup(p.info.PanePID)
	if p.info.Sidebar {
		return
	}
	if p.info.Demo != "" {
		found = s.desk.recording(p.info, procs)
	}
	if t := p.term; t != nil {
		if t.replaced(procs) {
			s.wg.Go(func() { s.lost(t, errReplaced) })
			return
		}
		if found != nil && found.proc.PID == t.key.PID && near(found.proc.StartTime, t.key.Start) {
			t.box.post(message{scanned: &scanResult{background: background(t.key.PID), children: found.children}})
			return
		}
		if s.lives(id, t.key, procs) {
			return // the old agent still runs; a second one below it is its tool
		}
		t.box.post(message{gone: errExited})
		p.term = nil
	}
	if found == nil || p.info.Dead {
		return
	}
	p.term = s.begin(ctx, p.info, found)
}

// lost ends a terminal whose agent is gone, and has its pane looked at when it
// has: what runs there now may be an agent in the same process.
func (s *server) lost(t *terminal, why error) {
	t.box.post(message{gone: why})
	<-t.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.panes[t.key.Pane.Pane]; p != nil {
		if p.term == t {
			p.term = nil
		}
		s.want(p, s.desk.now())
	}
}

// lives tells whether an agent's process is still in its pane; what it runs,
// image.go tells. A look that shows nothing
// at all has failed, it says nothing about the agent (B121).
func (s *server) lives(id string, k Key, procs []agents.Process) bool {
	if len(procs) == 0 {
		i, ok := s.prov.Pane(id)
		return ok && !i.Dead
	}
	return alive(procs, k)
}

func alive(procs []agents.Process, k Key) bool {
	for _, p := range procs {
		if p.PID == k.PID && near(p.StartTime, k.Start) {
			return true
		}
	}
	return false
}

type match struct {
	agent    agents.Agent
	version  string
	proc     agents.Process
	children []int
}

// match returns the outermost agent that is on the pane's terminal. npm's node
// wrapper is seen through: of two matches of one kind the one that is not a
// script host is the agent.
func (d *Desk) match(procs []agents.Process) *match {
	var best *match
	for i := range procs {
		p := &procs[i]
		if best != nil && !scriptHost(best.proc.Exe) {
			best.children = append(best.children, p.PID)
			continue
		}
		for _, a := range d.agents {
			v, ok := a.Match(p)
			if !ok {
				continue
			}
			if best == nil || best.agent.Kind() == a.Kind() && !scriptHost(p.Exe) {
				best = &match{agent: a, version: v, proc: *p}
			}
			break
		}
	}
	return best
}

// recording is the match of a pane that plays a recording: whose it is says the
// pane's own mark, "codex 0.155.1". Its process is the player.
func (d *Desk) recording(i panes.Info, procs []agents.Process) *match {
	kind, version, _ := strings.Cut(i.Demo, " ")
	for n := range procs {
		if procs[n].PID != i.PanePID {
			continue
		}
		for _, a := range d.agents {
			if string(a.Kind()) == kind {
				return &match{agent: a, version: version, proc: procs[n]}
			}
		}
	}
	return nil
}

func scriptHost(exe string) bool {
	switch filepath.Base(exe) {
	case "node", "bun", "deno", "nodejs":
		return true
	}
	return false
}

// begin starts a terminal; s.mu is held.
func (s *server) begin(parent context.Context, i panes.Info, m *match) *terminal {
	ctx, cancel := context.WithCancel(parent)
	t := &terminal{desk: s.desk, srv: s, agent: m.agent, vers: m.version, proc: m.proc, box: newMailbox(), ctx: ctx, cancel: cancel,
		done: make(chan struct{}), children: m.children, firstSeen: s.desk.now(), cmd: commandText(m.proc.Args),
		key: Key{Pane: i.Identity, PID: m.proc.PID, Start: m.proc.StartTime}}
	t.image = imageOf(&m.proc)
	t.timer = time.NewTimer(time.Hour)
	t.timer.Stop()
	t.facts.Info = i
	t.facts.Background = background(m.proc.PID)
	if st, ok := procStat(m.proc.PID); ok {
		t.tty = st.tty
	}
	t.facts.Plan = m.agent.Submit(m.version)
	t.facts.Reading = agents.Reading{Agent: m.agent.Kind(), Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
	t.feed = newFeeder(m.agent, m.proc, s.desk.files, s.desk.log, func(u *logUpdate) { t.box.post(message{log: u}) })
	if sc, err := s.prov.Screen(i.Pane); err == nil {
		t.box.postScreen(sc, true, s.desk.now())
	}
	t.resumeHold()
	s.desk.adopt(t)
	t.resume()
	s.wg.Add(3)
	go func() { defer s.wg.Done(); t.feed.run(ctx) }()
	go func() { defer s.wg.Done(); t.run() }()
	go func() {
		defer s.wg.Done()
		if waitExit(ctx, m.proc.PID, func() bool { return s.lives(i.Pane, t.key, s.prov.Processes(i.Pane)) }) {
			t.lastLook()
			t.box.post(message{gone: errExited})
			s.mu.Lock()
			if p := s.panes[i.Pane]; p != nil {
				if p.term == t {
					p.term = nil
				}
				s.want(p, s.desk.now())
			}
			s.mu.Unlock()
		}
	}()
	return t
}

// freshFor is how long after the attach the first looks take at most: who asks
// then may hear of no agent yet.
const freshFor = 2 * time.Second

func (s *server) doc() rpc.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := rpc.Server{Socket: s.id.Socket, PID: s.id.PID, Start: s.id.Start, Version: s.prov.Version(), State: "attached"}
	for _, p := range s.panes {
		if p.info.Sidebar {
			continue
		}
		out.Panes++
		switch {
		case p.term == nil:
		case p.info.Demo != "":
			out.Recordings++
		default:
			out.Agents++
		}
	}
	if s.gone {
		out.State = "gone"
	}
	out.Fresh = s.desk.now().Sub(s.since) < freshFor
	return out
}
