package panes

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file holds the mirror of one tmux server and its loop.
//
//	readers (one per session) -> queue -> loop -> mirrors -> subscribers
//	API calls ------------------^
//
// Invariants: one goroutine, the loop, owns everything below "loop only"; it
// never waits for a reader of ours, for tmux or for a disk. What others read is
// published: screens and infos are immutable values.

// Options opens a server.
type Options struct {
	Socket  string // absolute path
	Logger  *slog.Logger
	History int // lines of history kept per pane
	// Terminal speaks control mode on pseudo terminals (tmux -CC), as it comes
	// from a tmux behind ssh.
	Terminal bool
	// Owner is the daemon's own id, told to a second daemon.
	Owner string
	// Transport is Control when empty.
	Transport Transport
	// Passer is the helper that hands over pipes, a command line to which two
	// arguments are added; nil is this program with PassCommand. Pipe only.
	Passer []string
}

// maxQueue bounds the bytes that wait for the loop. Above it the output of a
// pane is dropped and the pane is seeded again.
const maxQueue = 32 << 20

// frameDelay is how long a pane must be silent until its frame counts as
// finished: both agents write a frame in one go, 10-20 ms apart at least.
const frameDelay = 15 * time.Millisecond

// Server implements Provider for tmux.
type Server struct {
	id      ServerID
	version string
	tmux    string
	o       Options
	nonce   string // in the names of what we leave in the server for a moment
	log     *slog.Logger

	qmu    sync.Mutex
	queue  []item
	queued int // bytes of output in queue
	slab   []byte
	spare  []item        // the queue before
	wake   chan struct{} // something to do
	closed bool
	ended  chan struct{}

	life       context.Context // ends with the server
	die        context.CancelFunc
	background sync.WaitGroup

	omu   sync.Mutex
	owner *ownership // nil: not ours

	pipe *pipes // nil: the control transport

	looksAhead atomic.Bool               // a look is on its way that nobody waits for
	looked     atomic.Pointer[time.Time] // when the newest answer was asked for that says where the panes are

	pub struct {
		sync.RWMutex
		panes []Info
		byID  map[string]*published
	}

	turn  sync.Mutex // one round at a time
	clock *time.Timer

	// loop only
	began, armed time.Time     // of the newest round; of the clock
	took         time.Duration // of the newest round
	sessions     map[string]*session
	mirrors      map[string]*mirror
	numbered     []*mirror       // the same by number, see mirrorOf
	subs         []*subscription // nil: free
	timers       []timer
	wanted       []string // sessions that wait for a client
	starting     *session // the one client that is on its way
	barred       barred   // sessions that no client may attach to
	asked        time.Time
	stirred      time.Time // of the newest notification that all clients get
	calming      bool
	asking       bool // comeBack runs
	dirty        []*mirror
	news         []Update // found by take, told after it is published
	listing      bool
	relist       bool
	lastList     time.Time
	places       []byte // of the windows in the newest list, as a look asks for them
	looking      bool   // a look is on its way
	lookBegan    time.Time
	lookers      []func(bool)
	lively       bool // something came since the newest look that nobody asked for
	backoff      time.Duration
	gone         bool
	serial       int // of writes
	settle       settling
	audits       AuditCount
}

type published struct {
	info   Info
	screen *atomic.Pointer[vtparse.Screen] // the mirror's; nil until the first sync
	why    error                           // why it can't be read, nil: it can, or will be soon
}

// item is one thing for the loop.
type item struct {
	output *session
	pane   string
	data   []byte
	at     time.Time
	do     func()
}

type timer struct {
	at time.Time
	do func()
}

// Open attaches to every session of the server.
func Open(ctx context.Context, o Options) (*Server, error) {
	id, version, err := Probe(ctx, o.Socket)
	if err != nil {
		return nil, err
	}
	bin, err := exec.LookPath("tmux")
	if err != nil {
		return nil, ErrNoTmux
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Owner == "" {
		o.Owner = "akk"
	}
	s := &Server{id: id, version: version, tmux: bin, o: o, nonce: strings.ToLower(rand.Text()[:10]), log: o.Logger.With("socket", o.Socket),
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
		sessions: map[string]*session{}, mirrors: map[string]*mirror{}, settle: settle}
	s.pub.byID = map[string]*published{}
	s.life, s.die = context.WithCancel(context.Background())
	ids, err := s.sessionIDs(ctx)
	if err != nil {
		s.die()
		return nil, err
	}
	mine := s.own() == nil
	if o.Transport == Pipe {
		if err := s.startPipes(ctx); err != nil {
			s.die()
			s.disown()
			return nil, err
		}
	} else if mine {
		newRunner(s).sweepPipes(ctx) // of a daemon that had the other transport and died
	}
	ready := make(chan struct{})
	s.post(func() {
		for _, id := range ids {
			s.attach(id)
		}
		s.list(func() {
			if c := s.anyClient(); mine && c != nil {
				s.sweep(c)
			}
			close(ready)
		})
		s.after(lookLively, s.lookOften)
	})
	s.clock = time.NewTimer(time.Hour)
	s.armed = time.Now().Add(time.Hour)
	go s.loop()
	select {
	case <-ready:
		return s, nil
	case <-s.ended:
		return nil, ErrServerGone
	case <-ctx.Done():
		s.Close()
		return nil, ctx.Err()
	}
}

// ID is the server's identity.
func (s *Server) ID() ServerID { return s.id }

// Version is the server's own version, "3.3a".
func (s *Server) Version() string { return s.version }

// Panes lists all panes but our own sidebars.
func (s *Server) Panes() []Info {
	s.pub.RLock()
	defer s.pub.RUnlock()
	return slices.Clone(s.pub.panes)
}

// Pane returns what is known of a pane.
func (s *Server) Pane(id string) (Info, bool) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	p, ok := s.pub.byID[id]
	if !ok {
		return Info{}, false
	}
	return p.info, true
}

// Screen returns the newest screen.
func (s *Server) Screen(id string) (*vtparse.Screen, error) {
	s.pub.RLock()
	defer s.pub.RUnlock()
	p, ok := s.pub.byID[id]
	switch {
	case !ok:
		return nil, ErrNoPane
	case p.screen.Load() != nil:
		return p.screen.Load(), nil
	case p.why != nil:
		return nil, p.why
	}
	return nil, ErrNotSynced
}

// Close detaches from the server and leaves nothing of ours behind there.
func (s *Server) Close() error {
	s.post(func() { s.end(false) })
	<-s.ended
	return nil
}

// post gives the loop something to do; it never waits.
func (s *Server) post(do func()) { s.enqueue(item{do: do}) }

func (s *Server) enqueue(it item) {
	s.qmu.Lock()
	if s.closed {
		s.qmu.Unlock()
		return
	}
	s.queue = append(s.queue, it)
	s.qmu.Unlock()
	poke(s.wake)
}

// output is called by a reader: copy and queue, or mark as lost.
func (s *Server) output(from *session, pane string, data []byte) {
	at := time.Now()
	s.qmu.Lock()
	full := s.queued+len(data) > maxQueue
	if !full {
		s.queued += len(data)
		data = s.keep(data)
		if !s.closed {
			s.queue = append(s.queue, item{output: from, pane: pane, data: data, at: at})
		}
	}
	s.qmu.Unlock()
	if full {
		s.enqueue(item{do: func() {
			if m := s.mirrors[pane]; m != nil && m.feeder == from {
				s.seed(m)
			}
		}})
		return
	}
}

// maxSpare is how many items a queue may hold that is kept for later.
const maxSpare = 4096

// slabSize is how much output is copied into one piece of memory.
const slabSize = 32 << 10

// keep copies a chunk; many small ones share one piece. qmu is held.
func (s *Server) keep(data []byte) []byte {
	if len(data) > slabSize/4 {
		return slices.Clone(data)
	}
	if cap(s.slab)-len(s.slab) < len(data) {
		s.slab = make([]byte, 0, slabSize)
	}
	n := len(s.slab)
	s.slab = append(s.slab, data...)
	return s.slab[n:len(s.slab):len(s.slab)]
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// A round for output alone that follows one that took longer than shortRound
// begins no sooner than pace after it began: what comes in a flood is shown
// together. Short ones follow each other at once, so that a pane is not shown
// late for the one before it.
const (
	pace       = time.Millisecond
	shortRound = 200 * time.Microsecond
)

// loop carries out what is posted and what is due. Everything that is said to
// run "on the loop" runs in a round, and one round is at a time: the loop's own,
// or that of a reader which finds nobody at work (flush).
func (s *Server) loop() {
	defer s.clock.Stop()
	for {
		s.turn.Lock()
		s.round()
		if s.gone {
			s.finish() // turn is kept: no reader begins another round
			return
		}
		s.turn.Unlock()
		select {
		case <-s.wake:
		case <-s.clock.C:
		}
	}
}

// flush shows what a reader has just queued, in its own goroutine: waking the
// loop for it costs more than the round.
func (s *Server) flush() {
	if !s.turn.TryLock() {
		poke(s.wake)
		return
	}
	defer s.turn.Unlock()
	if rest := pace - time.Since(s.began); rest > 0 && s.took > shortRound {
		if due := time.Now().Add(rest); due.Before(s.armed) || !s.armed.After(time.Now()) {
			s.armed = due
			s.clock.Reset(rest)
		}
		return
	}
	s.round()
	if s.gone {
		poke(s.wake)
	}
}

// round does all that is there to do; turn is held.
func (s *Server) round() {
	s.began = time.Now()
	s.qmu.Lock()
	batch := s.queue
	s.queue, s.queued = s.spare[:0], 0
	s.qmu.Unlock()
	for i := range batch {
		if it := &batch[i]; it.do != nil {
			it.do()
		} else {
			s.feed(it)
		}
		batch[i] = item{}
	}
	s.spare = batch
	if cap(batch) > maxSpare {
		s.spare = nil
	}
	s.showDirty()
	now := time.Now()
	s.took = now.Sub(s.began)
	for len(s.timers) > 0 && !s.timers[0].at.After(now) {
		do := s.timers[0].do
		s.timers = s.timers[1:]
		do()
	}
	// The clock is set only forward in time: setting it costs more than a round
	// for nothing.
	if len(s.timers) > 0 && (s.timers[0].at.Before(s.armed) || !s.armed.After(time.Now())) {
		s.armed = s.timers[0].at
		s.clock.Reset(max(time.Until(s.armed), 0))
	}
}

// after runs do on the loop at or after d from now.
func (s *Server) after(d time.Duration, do func()) {
	at := time.Now().Add(d)
	i, _ := slices.BinarySearchFunc(s.timers, at, func(t timer, at time.Time) int { return t.at.Compare(at) })
	s.timers = slices.Insert(s.timers, i, timer{at, do})
}

// afterAbout runs do on the loop d from now or up to wakeGrid later: what is not
// pressing, of many panes, comes together.
func (s *Server) afterAbout(d time.Duration, do func()) { s.after(onGrid(d, wakeGrid), do) }

// wakeGrid is the raster of what many panes do in turn while they write: a
// wake-up for each costs more than what is done.
const wakeGrid = 50 * time.Millisecond

// onGrid is d, lengthened up to the next step of a raster of moments.
func onGrid(d, grid time.Duration) time.Duration {
	now := time.Now()
	return now.Add(d + grid - 1).Truncate(grid).Sub(now)
}

// end begins the end: lost is true when the server went, not we.
func (s *Server) end(lost bool) {
	if s.gone {
		return
	}
	s.gone = true
	for id, m := range s.mirrors {
		m.fail(ErrServerGone)
		if lost {
			s.tell(Update{Kind: UpdateGone, Pane: id, Time: time.Now()})
		}
	}
	if lost {
		s.publish(nil) // nothing of it is there any more
	}
	for _, sub := range s.subs {
		if sub != nil {
			sub.end(lost)
		}
	}
}

// finish unlocks what is held, detaches, waits for the children and answers
// what is still queued.
func (s *Server) finish() {
	s.die()
	if c := s.starting; c != nil {
		// Others must not leave while this one is half attached: see startNext.
		select {
		case <-c.client.Ready():
		case <-c.client.Done():
		}
	}
	s.leave()
	s.background.Wait()
	s.disown()
	s.qmu.Lock()
	s.closed = true
	rest := s.queue
	s.queue = nil
	s.qmu.Unlock()
	for _, it := range rest {
		if it.do != nil {
			it.do()
		}
	}
	close(s.ended)
}

// call runs do on the loop and waits for the value that it, or something it
// started, hands to done.
func call[T any](ctx context.Context, s *Server, do func(done func(T, error))) (T, error) {
	type result struct {
		v   T
		err error
	}
	ch := make(chan result, 1)
	s.post(func() {
		done := func(v T, err error) {
			select {
			case ch <- result{v, err}:
			default:
			}
		}
		if s.gone {
			var zero T
			done(zero, ErrServerGone)
			return
		}
		do(done)
	})
	select {
	case r := <-ch:
		return r.v, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	case <-s.ended:
		select {
		case r := <-ch:
			return r.v, r.err
		default:
		}
		var zero T
		return zero, ErrServerGone
	}
}

// refusal turns a failed command into our words.
func refusal(err error) error {
	var ce *controlmode.CommandError
	if errors.As(err, &ce) {
		return ErrNoPane
	}
	return ErrServerGone
}
