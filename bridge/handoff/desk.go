package handoff

// This file is the desk itself: what it is made of, its servers, its life. The
// answers to callers are in the files list.go, status.go, send.go, events.go.

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"akk/agents"
	"akk/bridge/outbox"
	"akk/bridge/rpc"
	"akk/panes"
	"akk/store"
)

// typingGrace is how long Close waits for a send that is between its first
// byte and its Enter.
const typingGrace = 5 * time.Second

// stuckGrace is how long Close waits for what does not hear that it should end:
// a read from a file that never answers (a dead network folder).
const stuckGrace = 5 * time.Second

// Options of New.
type Options struct {
	DB *store.DB // with Schema(); the desk never closes it
	// Attach opens the terminal server behind an absolute socket path.
	Attach func(ctx context.Context, socket string) (panes.Provider, error)
	Agents []agents.Agent
	Log    *slog.Logger // nil = none
}

// Desk implements rpc.Desk. All methods are safe for any goroutine.
type Desk struct {
	db     *store.DB
	writer *store.Writer
	outbox *outbox.Box
	attach func(ctx context.Context, socket string) (panes.Provider, error)
	agents []agents.Agent
	log    *slog.Logger
	files  *fileWatch
	ctx    context.Context
	cancel context.CancelFunc

	found      atomic.Uint64 // terminals that were ever found
	changed    signal        // a view, a pane or a server changed
	journalled signal        // an event became durable

	mu      sync.Mutex
	servers map[string]*server // by socket
	opening map[string]*opening
	wanted  map[string]time.Time // by socket: asked for by somebody, when to look for it again
	// returning are the sockets that the last daemon was attached to, until that
	// was tried again.
	returning map[string]bool
	started   time.Time
	terms     map[*terminal]bool
	live      map[string]*liveTurn
	sessions  map[string]Session
	tallies   map[string]tally         // by session, as of the start of the daemon
	opens     map[string]bool          // sessions whose tally has open turns
	claims    map[string]chan struct{} // request ids that are being handed over
	offers    offers                   // which scope a Host was shown
	resting   atomic.Pointer[restingList]
	recents   recents // the journal's end
	shows     shows
	watches   map[string]Watch // active ones, by id
	retained  retention        // ended Turns that are to be closed
	ended     chan struct{}    // a Turn ended
	closed    bool
	wg        sync.WaitGroup
}

// tally sums up a Session's Turns, so that nobody reads thousands of them.
type tally struct {
	count int
	ids   map[string]bool
	last  Turn
	open  []Turn // as of the start of the daemon, or of the last sight; oldest first
}

type opening struct {
	done chan struct{}
	err  error
	same bool // only the remembered server counts
}

var _ rpc.Desk = (*Desk)(nil)

// New opens the desk on a store. Turns that were open when the last daemon
// ended are taken up when their terminal is seen again.
func New(o Options) (*Desk, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{db: o.DB, attach: o.Attach, agents: o.Agents, log: o.Log, servers: map[string]*server{}, opening: map[string]*opening{}, wanted: map[string]time.Time{}, returning: map[string]bool{}, started: time.Now(),
		terms: map[*terminal]bool{}, live: map[string]*liveTurn{}, sessions: map[string]Session{}, claims: map[string]chan struct{}{}, tallies: map[string]tally{}, opens: map[string]bool{}}
	err := d.db.View(func(tx *store.Tx) error {
		err := sessions.Each(tx, func(id string, err error) { d.log.Error("a session can't be read", "id", id, "error", err) },
			func(id string, s Session, _ store.Rev) error { d.sessions[id] = s; return nil })
		if err != nil {
			return err
		}
		return turns.Each(tx, func(id string, err error) { d.log.Error("a turn can't be read", "id", id, "error", err) },
			func(_ string, t Turn, _ store.Rev) error { d.count(t); d.retained.add(t); return nil })
	})
	if err != nil {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.writer = store.NewWriter(d.db)
	for _, r := range d.Remembered() {
		d.returning[r.Socket] = true
	}
	if err := d.begin(); err != nil {
		d.cancel()
		d.writer.Close()
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	d.files = newFileWatch(d.log)
	return d, nil
}

// now is the desk's clock.
func (d *Desk) now() time.Time { return time.Now() }

// Attach attaches a terminal server, or returns it if it is attached already.
func (d *Desk) Attach(ctx context.Context, p rpc.AttachParams) (rpc.Server, error) {
	for fresh := false; ; fresh = true {
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return rpc.Server{}, unavailable("try again", "the akk daemon is ending")
		}
		d.want(p.Socket)
		if s := d.servers[p.Socket]; s != nil {
			d.mu.Unlock()
			doc := s.doc()
			doc.Fresh = doc.Fresh || fresh
			return doc, nil
		}
		o := d.opening[p.Socket]
		if o == nil {
			o = &opening{done: make(chan struct{})}
			d.opening[p.Socket] = o
			d.wg.Go(func() { d.open(p.Socket, o, nil) })
		}
		d.mu.Unlock()
		select {
		case <-o.done:
			if o.err != nil && !o.same {
				return rpc.Server{}, o.err
			}
		case <-ctx.Done():
			return rpc.Server{}, ctx.Err()
		}
	}
}

// Reattach attaches a remembered server, if it is still the same one; else it
// forgets it and says why.
func (d *Desk) Reattach(ctx context.Context, r ServerRecord) error {
	defer d.returned(r.Socket)
	d.mu.Lock()
	if o := d.opening[r.Socket]; o != nil { // somebody asked for it: it is not back before that is over
		d.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	if d.closed || d.servers[r.Socket] != nil {
		d.mu.Unlock()
		return nil
	}
	o := &opening{done: make(chan struct{}), same: true}
	d.opening[r.Socket] = o
	d.wg.Go(func() { d.open(r.Socket, o, &r) })
	d.mu.Unlock()
	select {
	case <-o.done:
		if o.err != nil && ctx.Err() == nil {
			d.Forget(r)
		}
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Desk) open(socket string, o *opening, same *ServerRecord) {
	prov, err := d.attach(d.ctx, socket)
	if err == nil && same != nil {
		if id := prov.ID(); id.PID != same.PID || !near(id.Start, same.Start) {
			err = errServerGone
			_ = prov.Close()
		}
	}
	d.mu.Lock()
	delete(d.opening, socket)
	if err == nil && d.closed {
		err = errClosed
		_ = prov.Close()
	}
	if err != nil {
		d.mu.Unlock()
		o.err = unavailable("start tmux, or name the right server with -L or -S", "the tmux server at %s can't be used: %v", socket, err)
		close(o.done)
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	s := &server{desk: d, prov: prov, id: prov.ID(), cancel: cancel, done: make(chan struct{}), since: d.now(), panes: map[string]*paneState{}, kick: make(chan struct{}, 1)}
	for _, i := range prov.Panes() {
		s.info(i)
	}
	d.servers[socket] = s
	d.mu.Unlock()
	rec := ServerRecord{Socket: socket, PID: s.id.PID, Start: s.id.Start}
	d.write(func(tx *store.Tx) error {
		_, rev, _ := servers.Get(tx, socket)
		_, err := servers.Put(tx, socket, rec, rev)
		return err
	})
	d.journal(rpc.Event{Type: "server", Change: "attached", Socket: socket, Time: d.now()})
	d.wg.Go(func() { s.run(ctx) })
	d.wg.Go(s.searched)
	d.changed.fire()
	close(o.done)
}

// serverGone is called once by a server whose provider ended by itself.
func (d *Desk) serverGone(s *server) {
	d.mu.Lock()
	if d.servers[s.id.Socket] == s {
		delete(d.servers, s.id.Socket)
	}
	d.mu.Unlock()
	d.write(func(tx *store.Tx) error {
		rec, rev, err := servers.Get(tx, s.id.Socket)
		if err != nil || rec.PID != s.id.PID {
			return nil
		}
		return servers.Delete(tx, s.id.Socket, rev)
	})
	d.journal(rpc.Event{Type: "server", Change: "gone", Socket: s.id.Socket, Time: d.now()})
	d.settleOrphans(s.id, func(Key) bool { return true })
	_ = s.prov.Close()
	d.changed.fire()
}

// Remembered are the servers that were attached when the store was last used.
func (d *Desk) Remembered() []ServerRecord {
	var out []ServerRecord
	_ = d.db.View(func(tx *store.Tx) error {
		return servers.Each(tx, func(string, error) {}, func(_ string, r ServerRecord, _ store.Rev) error { out = append(out, r); return nil })
	})
	return out
}

// Forget removes a remembered server that is not there any more.
func (d *Desk) Forget(r ServerRecord) {
	d.settleOrphans(panes.ServerID{Socket: r.Socket, PID: r.PID, Start: r.Start}, func(Key) bool { return true })
	d.write(func(tx *store.Tx) error {
		have, rev, err := servers.Get(tx, r.Socket)
		if err != nil || have.PID != r.PID {
			return nil
		}
		return servers.Delete(tx, r.Socket, rev)
	})
}

// Servers lists what is attached.
func (d *Desk) Servers(context.Context) ([]rpc.Server, error) {
	out := []rpc.Server{}
	for _, s := range d.serverList() {
		out = append(out, s.doc())
	}
	return out, nil
}

// Owed tells whether the daemon still has work for which nobody need be
// connected: an attached server or an open Turn.
func (d *Desk) Owed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.servers) > 0 || len(d.opening) > 0 || d.outbox.InFlight()
}

// Changed returns a channel that is closed at the next change of anything that
// List shows.
func (d *Desk) Changed() <-chan struct{} { return d.changed.wait() }

// write queues a write that is logged when it fails.
func (d *Desk) write(fn func(*store.Tx) error) {
	d.writer.Do(fn, func(err error) {
		if err != nil {
			d.log.Error("the store could not be written", "error", err)
		}
	})
}

// journal appends an event; it is told to readers when it is durable.
func (d *Desk) journal(e rpc.Event) {
	d.writer.Do(func(tx *store.Tx) error {
		_, _, err := journal.Append(tx, e)
		return err
	}, func(err error) {
		if err != nil {
			d.log.Error("an event could not be stored", "type", e.Type, "error", err)
			return
		}
		d.journalled.fire()
	})
}

// adopt and forget keep the list of terminals.
func (d *Desk) adopt(t *terminal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.terms[t] = true
}

func (d *Desk) forget(t *terminal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.terms, t)
}

// track keeps a Turn that somebody may wait for until it has ended.
func (d *Desk) track(l *liveTurn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, old := range d.live { // ended ones are in the store
		if t, _ := old.get(); !t.open() && t.UpdatedAt.Before(d.now().Add(-time.Minute)) {
			delete(d.live, id)
		}
	}
	d.live[l.turn.ID] = l
}

// count adds a stored Turn to its Session's tally. Only New and remember call
// it.
func (d *Desk) count(t Turn) {
	n := d.tallies[t.SessionID]
	n.open = slices.DeleteFunc(slices.Clone(n.open), func(o Turn) bool { return o.ID == t.ID })
	if t.open() {
		n.open = append(n.open, t)
		slices.SortFunc(n.open, func(a, b Turn) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID)) })
	}
	if n.ids == nil {
		n.ids = map[string]bool{}
	}
	n.ids[t.ID] = true
	n.count = len(n.ids)
	if old := n.last; old.ID != t.ID && old.CreatedAt.After(t.CreatedAt) {
		t = old
	}
	n.last = t
	d.tally(t.SessionID, n)
}

// tally keeps a Session's sum; d.mu is held.
func (d *Desk) tally(session string, n tally) {
	d.tallies[session] = n
	if len(n.open) > 0 {
		d.opens[session] = true
	} else {
		delete(d.opens, session)
	}
}

// remember keeps a Session and its newest Turn for the time after its terminal
// was left and is seen again (the server was detached and attached).
func (d *Desk) remember(s Session, t Turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s.ID] = s
	d.count(t)
	d.settled(t)
}

// pastSession is a Session with what is known of its Turns.
type pastSession struct {
	Session
	tally
}

// sessionsOf returns the Sessions of a terminal, oldest first.
func (d *Desk) sessionsOf(k Key) []pastSession {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []pastSession
	for _, s := range d.sessions {
		if s.Key.Same(k) {
			out = append(out, pastSession{s, d.tallies[s.ID]})
		}
	}
	slices.SortFunc(out, func(a, b pastSession) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out
}

func (d *Desk) serverList() []*server {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]*server, 0, len(d.servers))
	for _, s := range d.servers {
		out = append(out, s)
	}
	return out
}

// Close ends the desk: no new send, those that are being typed end (at most
// 5 s), everything is durable. The agents go on. What hangs in a file is left
// behind after 5 s; it can write nothing any more.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	deadline := time.NewTimer(typingGrace)
	defer deadline.Stop()
	for d.typing() {
		select {
		case <-d.changed.wait():
			continue
		case <-deadline.C:
		}
		break
	}
	list := d.serverList()
	d.cancel()
	ended := make(chan struct{})
	go func() { d.wg.Wait(); close(ended) }()
	stuck := time.NewTimer(stuckGrace)
	defer stuck.Stop()
	select {
	case <-ended:
	case <-stuck.C:
		d.log.Error("something hangs, the desk closes without it")
	}
	for _, s := range list {
		_ = s.prov.Close()
	}
	d.files.close()
	d.outbox.Close()
	d.writer.Close()
}

func (d *Desk) typing() bool {
	for _, v := range d.unordered("") {
		if v.Busy != "" {
			return true
		}
	}
	return false
}
