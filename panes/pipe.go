package panes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"akk/controlmode"
)

// This file holds the pipe transport: panes are read through tmux's pipe-pane,
// changes are told by hooks, and no control client is attached, so the crash
// class of tmux before 3.8 can't be met. Everything else (mirrors, audits, the
// gate) is the control transport's own code; what differs is how a command goes
// out (pipe_run.go), where bytes come from (pipe_slot.go, pipe_seed.go) and who
// tells of a change (pipe_hooks.go).
//
// What it costs: a tmux process of a few milliseconds for each list, seed, audit
// and write; two waiting tmux processes; tmux keeps in its memory what we are too
// slow to read. A pane has one pipe: a pipe-pane of the user's own is never
// replaced, that pane is not readable.

// Transport is how a server's panes are read.
type Transport string

// The transports. The zero value is Control.
const (
	Control Transport = "control" // one tmux -C client per session
	Pipe    Transport = "pipe"    // pipe-pane and hooks, no control client
)

const (
	// pipeSession is the id of the one pseudo session of this transport.
	pipeSession = "pipe"
	// pipeOpening is how many panes are opened at once: each costs a shell and
	// a start of our own binary.
	pipeOpening = 8
	// pipeArrive is when a pipe that tmux opened must have reached us.
	pipeArrive = 10 * time.Second
	// slotGap is how long a pane is left alone after somebody used its pipe:
	// a key that toggles `pipe-pane -o` then works at its second press.
	slotGap = 10 * time.Second
	// slotSoon is the next try after a pipe that we gave up was not free yet.
	slotSoon = 50 * time.Millisecond
	// slotTries is how often slotSoon is tried before the pipe counts as
	// somebody else's.
	slotTries = 5
)

var (
	// ErrTaken is returned for a pane whose one pipe is somebody else's.
	ErrTaken = fmt.Errorf("%w: its pipe is in use by another pipe-pane, which is not replaced; end that one (tmux pipe-pane -t PANE), or set transport = \"control\"", ErrNotSynced)
	// ErrNoPasser is returned when the pipe's helper does not run.
	ErrNoPasser = fmt.Errorf("%w: the helper that hands the pane's pipe to akk does not start; restart the daemon (akk serve --stop)", ErrNotSynced)
)

// pipes is the state of the transport; everything but what is marked belongs to
// the loop.
type pipes struct {
	s       *Server
	run     *runner
	slots   *slots
	hooks   hooks
	cmd     *session // commands go through it
	queue   []*mirror
	open    map[*mirror]*opening
	live    map[*session]*mirror // pipes that are read
	check   map[*mirror]bool     // live mirrors to compare: a layout changed
	busy    bool                 // a comparison is on its way
	away    map[string]time.Time
	ending  atomic.Bool
	waits   atomic.Int32    // that stand
	until   context.Context // ends the waits that no signal ends
	stop    context.CancelFunc
	gap     time.Duration   // slotGap
	waiting map[string]bool // channels that are waited for
	watched bool
}

// opening is a pane whose pipe is being opened.
type opening struct {
	tag   string
	c     *session // its output
	reply []controlmode.Reply
	fd    int // -1: not here yet
	tries int
}

// startPipes begins the transport; the server must be ours alone, for a pane
// has one pipe and a hook has one text.
func (s *Server) startPipes(ctx context.Context) error {
	if len(s.o.Passer) == 0 {
		s.o.Passer = DefaultPasser()
	}
	if err := s.own(); err != nil {
		return fmt.Errorf("transport = \"pipe\": %w", err)
	}
	p := &pipes{s: s, open: map[*mirror]*opening{}, live: map[*session]*mirror{}, check: map[*mirror]bool{}, away: map[string]time.Time{}, waiting: map[string]bool{}, gap: slotGap}
	p.until, p.stop = context.WithCancel(context.Background())
	p.run = newRunner(s)
	p.hooks = hooks{change: "akk-change-" + s.nonce, layout: "akk-layout-" + s.nonce}
	var err error
	if p.slots, err = listenSlots(s.id.Socket, func(tag string, fd int) { s.post(func() { p.arrived(tag, fd) }) }); err != nil {
		s.disown()
		return fmt.Errorf("transport = \"pipe\": %w", err)
	}
	p.run.sweepPipes(ctx)
	_, err = p.run.run(ctx, []string{"set-hook", "-g", layoutHooks[1] + hookIndex, "wait-for -S " + p.hooks.layout}, nil)
	p.hooks.optional = err == nil
	if err := p.setHooks(ctx); err != nil {
		p.slots.close()
		p.removeHooks(ctx)
		s.disown()
		return fmt.Errorf("transport = \"pipe\": tmux takes no hooks: %w", err)
	}
	s.pipe = p
	return nil
}

// resume begins or goes on: the hooks are waited for, commands go out.
func (p *pipes) resume() {
	s := p.s
	if s.gone || s.sessions[pipeSession] != nil {
		return
	}
	p.cmd = &session{s: s, id: pipeSession, client: p.run, ready: true}
	s.sessions[pipeSession] = p.cmd
	p.wait(p.hooks.change, func() { s.changed(); p.verifySoon() })
	p.wait(p.hooks.layout, func() { s.changed(); p.checkAll() })
	if !p.watched {
		p.watched = true
		s.background.Go(func() {
			if processEnd(s.life, s.id.PID) {
				s.post(p.lost)
			}
		})
	}
	s.changed()
}

// lost is the end of a waiting command without a cause of ours: the server is
// gone or going. Whether it is gone is asked, not guessed.
func (p *pipes) lost() {
	s := p.s
	if s.gone || s.sessions[pipeSession] == nil {
		return
	}
	delete(s.sessions, pipeSession)
	p.cmd.lost = true
	s.comeBack()
}

// close leaves nothing of ours in the server.
func (p *pipes) close() {
	p.ending.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	p.removeHooks(ctx)
	p.slots.close()
	for m, o := range p.open {
		o.drop()
		delete(p.open, m)
	}
	for c := range p.live {
		c.closePipe()
	}
	p.run.Close()
	<-p.run.Done()
	p.endWaits()
}

const (
	// signalAgain is how long a wait may take to hear the signal that ends it.
	// One that came while a hook's was kept has taken both away.
	signalAgain = 300 * time.Millisecond
	waitsWithin = 3 * time.Second
)

// endWaits returns when no wait stands, or will for long. No hook signals any
// more.
func (p *pipes) endWaits() {
	defer p.stop()
	for end, again := time.Now().Add(waitsWithin), time.Now().Add(signalAgain); p.waits.Load() > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if time.Now().Before(again) {
			continue
		}
		again = time.Now().Add(signalAgain)
		for _, c := range []string{p.hooks.change, p.hooks.layout} {
			_, _ = p.run.exec(p.until, []string{"wait-for", "-S", c}, nil)
		}
	}
}

// shown makes a pane readable again.
func (p *pipes) shown(m *mirror) {
	p.s.pub.Lock()
	defer p.s.pub.Unlock()
	if x := p.s.pub.byID[m.id]; x != nil {
		x.why = nil
	}
}

// Unreadable tells why a pane can't be read, nil if it can or will be soon.
func (s *Server) Unreadable(id string) error {
	s.pub.RLock()
	defer s.pub.RUnlock()
	if p := s.pub.byID[id]; p != nil {
		return p.why
	}
	return nil
}

// unreadable takes the screen of a pane away: what it showed is not true any
// more, and nobody may go on believing it.
func (p *pipes) unreadable(m *mirror, why error) {
	m.stale()
	if m.feeder != nil {
		m.feeder.closePipe()
	}
	m.feeder, m.term, m.screen, m.why = nil, nil, nil, why
	m.doubt()
	p.s.pub.Lock()
	if x := p.s.pub.byID[m.id]; x != nil {
		x.screen.Store(nil)
		x.why = why
	}
	p.s.pub.Unlock()
	w := m.waiters
	m.waiters = nil
	for _, f := range w {
		f(why)
	}
	for _, t := range m.taps {
		t.gap()
	}
	p.s.log.Info("pane can't be read", "pane", m.id, "why", why)
	m.tellUnsynced()
}

// leave keeps away from a pane for a while, then tries again.
func (p *pipes) leave(m *mirror, why error) {
	if m.why == nil || !errors.Is(m.why, why) {
		p.unreadable(m, why)
	}
	until := time.Now().Add(p.gap)
	p.away[m.id] = until
	p.s.after(p.gap, func() {
		if p.s.mirrors[m.id] == m && p.away[m.id].Equal(until) {
			delete(p.away, m.id)
			p.seed(m)
		}
	})
}

// forget drops what is kept for panes that are gone.
func (p *pipes) forget() {
	for m, o := range p.open {
		if p.s.mirrors[m.id] != m {
			o.drop()
			delete(p.open, m)
		}
	}
	for c, m := range p.live {
		if p.s.mirrors[m.id] != m {
			c.closePipe()
		}
	}
	p.queue = slices.DeleteFunc(p.queue, func(m *mirror) bool { return p.s.mirrors[m.id] != m })
	for id := range p.away {
		if p.s.mirrors[id] == nil {
			delete(p.away, id)
		}
	}
	p.next()
}

// executable is the path of this program, for the helper.
func executable() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return self
}

// DefaultPasser is the helper's command line in a binary that calls PassPipe
// for its first argument PassCommand.
func DefaultPasser() []string { return []string{executable(), PassCommand} }
