package panes

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file holds one pane's mirror: the bytes go in here, screens come out.
// Everything runs on the loop. A mirror is exact from its seed on until a gap;
// after a gap it is stale, and is seeded again before it says anything more.

// orphanCheck is when an input that was found off is looked at again: behind
// the dead-man's switch of a Hold.
const orphanCheck = 2500 * time.Millisecond

type state int

const (
	unsynced state = iota
	pausing        // the pane's output is stopped, what still comes is from before
	reading        // the captures are on the way, what comes now is from after
	live
)

type mirror struct {
	// What every chunk of output needs stands together: with many panes, each
	// look at another part of the memory costs more than what is done there.
	s        *Server
	id       string
	feeder   *session // whose %output counts
	term     *vtparse.Terminal
	screen   *vtparse.Screen
	shown    atomic.Pointer[vtparse.Screen] // what others find
	waits    [][2]wait                      // by subscription: its newest screen and frame
	state    state
	fresh    bool            // nothing was written since the seed (half-character rule)
	dirty    bool            // written to since the newest screen
	torn     bool            // the newest screen was a half frame
	frame    bool            // a frame end is due
	timing   bool            // a frame timer runs
	strings  bool            // a string timer runs
	looking  bool            // a look at the program is due
	standing bool            // a standing audit is due
	last     time.Time       // of the newest byte
	seen     uint64          // bytes that came, so that an audit knows of movement
	proven   *vtparse.Screen // the newest screen that an audit found equal
	taps     []*tap
	waiters  []func(error) // audits that wait for a frame end

	info    Info
	clients map[*session]bool // all that tmux sends the pane to; true: told not to
	why     error             // why nothing can be read, nil: it can

	again   bool   // seed once more when this seed is done
	held    []byte // output that came while reading
	onQuiet func() // quiet, made once
	armed   uint64 // the string that the string timer runs for

	changed time.Time // since when a standing audit is due
	stood   time.Time // of the newest standing audit

	doubted time.Time // since when it does not follow the pane, zero: it does
	cause   error     // why the newest sync failed
	differs string    // where it differs from tmux's screen even after a new sync

	looked  time.Time
	lookGap time.Duration // until the next look
	program string        // as foreground told it
	unwatch func()        // ends the wait for the process
	hold    string        // our own Hold: input is off because we said so; "" none
}

// take is the newest line of the list; shownIn are the sessions that the pane
// is in, of which exactly one feeds it.
func (m *mirror) take(in Info, shownIn []string) {
	old := m.info
	switch {
	case m.hold != "":
		in.InputOff = false // our own Hold, not a human's wish
	case in.InputOff && !old.InputOff:
		// It may be the Hold of a daemon that died: that one opens by itself.
		m.s.after(orphanCheck, m.s.changed)
	}
	in.PaneBorn = old.PaneBorn
	if !in.Dead {
		in.Unsynced, in.UnsyncedWhy = old.Unsynced, old.UnsyncedWhy
	}
	if in.PanePID != old.PanePID || in.PaneBorn.IsZero() {
		in.PaneBorn, _ = processStart(in.PanePID)
	}
	m.info = in
	if in.PanePID != old.PanePID {
		m.watchProcess(in.PanePID)
		m.program = foreground(in.PanePID)
	}
	if in != old {
		m.s.news = append(m.s.news, m.news())
	}
	if in.PanePID != old.PanePID && old.PanePID != 0 {
		m.term = nil // another process: nothing of the old screen's modes counts
	}
	defer m.hush(shownIn)
	if f := m.feeder; f == nil || f.lost || !slices.Contains(shownIn, f.id) {
		m.stale()
		m.feeder = nil
		for _, id := range shownIn {
			if c := m.s.sessions[id]; c != nil && c.ready && !c.lost {
				m.feeder = c
				m.s.seed(m)
				break
			}
		}
		return
	}
	if in.PanePID != old.PanePID || in.Cols != old.Cols || in.Rows != old.Rows || in.Dead != old.Dead { // tmux writes into a dead pane itself
		m.s.seed(m)
	}
}

// news is what is known of the pane now.
func (m *mirror) news() Update {
	info := m.info
	return Update{Kind: UpdateInfo, Pane: m.id, Info: &info, Time: time.Now()}
}

// hush pauses the pane at every client that does not feed it: what they send
// would be thrown away. And a client that a pane has left (move-window) counts
// for tmux as behind for ever: it keeps all further output in memory, and a
// respawn of the pane kills the server (tmux 5499).
func (m *mirror) hush(shownIn []string) {
	if m.s.pipe != nil {
		return
	}
	for _, id := range shownIn {
		if c := m.s.sessions[id]; c != nil && c.ready {
			if _, known := m.clients[c]; !known {
				if m.clients == nil {
					m.clients = map[*session]bool{}
				}
				m.clients[c] = false
			}
		}
	}
	for c, hushed := range m.clients {
		switch {
		case c.lost:
			delete(m.clients, c)
		case c == m.feeder:
			m.clients[c] = false // its seed lets the pane go on
		case !hushed:
			m.clients[c] = true
			c.do(controlmode.Command{Line: "refresh-client -A '" + m.id + ":pause'", Blocks: 1}, nil)
		}
	}
}

// resized is what a seed found, ahead of the next list: told like any other
// change of what is known, else the list would find nothing new to tell.
func (m *mirror) resized(cols, rows int) {
	if m.info.Cols == cols && m.info.Rows == rows {
		return
	}
	m.info.Cols, m.info.Rows = cols, rows
	s := m.s
	s.pub.Lock()
	if p := s.pub.byID[m.id]; p != nil {
		p.info = m.info
	}
	for i := range s.pub.panes {
		if s.pub.panes[i].Pane == m.id {
			s.pub.panes[i] = m.info
		}
	}
	s.pub.Unlock()
	s.tell(m.news())
}

// stale forgets how to go on; the last screen stays readable but every proof
// needs an audit, which needs a seed.
func (m *mirror) stale() {
	m.state, m.held, m.again = unsynced, nil, false
	m.doubt()
}

func (m *mirror) fail(err error) {
	w := m.waiters
	m.waiters = nil
	for _, f := range w {
		f(err)
	}
	for _, t := range m.taps {
		t.end()
	}
	m.taps = nil
}

// mirrorOf is the pane's mirror, nil if there is none.
func (s *Server) mirrorOf(id string) *mirror {
	switch i, ok := controlmode.PaneNumber(id); {
	case !ok:
		return s.mirrors[id]
	case i < len(s.numbered):
		return s.numbered[i]
	}
	return nil
}

// number notes the pane's mirror for mirrorOf; nil: it has gone.
func (s *Server) number(id string, m *mirror) {
	if i, ok := controlmode.PaneNumber(id); ok {
		for len(s.numbered) <= i {
			s.numbered = append(s.numbered, nil)
		}
		s.numbered[i] = m
	}
}

// feed is one chunk of output, in order.
func (s *Server) feed(it *item) {
	m := s.mirrorOf(it.pane)
	if m == nil {
		return
	}
	if m.feeder != it.output {
		m.strayed(it.output)
		return
	}
	s.lively = true
	m.last = it.at
	m.seen += uint64(len(it.data))
	switch m.state {
	case reading:
		if len(m.held)+len(it.data) > maxHeld {
			m.again, m.held = true, nil
			return
		}
		m.held = append(m.held, it.data...)
	case live:
		for _, t := range m.taps {
			t.push(it.data, it.at)
		}
		if m.fresh && it.data[0]&0xC0 == 0x80 && m.term.Ground() {
			s.seed(m) // tmux held the first half of this character, which it does not tell
			return
		}
		m.fresh = false
		m.write(it.data)
	}
}

// maxHeld bounds what is kept while a seed is on its way.
const maxHeld = 4 << 20

func (m *mirror) write(data []byte) {
	m.term.Write(data)
	m.arm()
	if bytes.Contains(data, frameEnd) {
		// A frame that is followed at once by the next is seen too.
		m.show(bytes.HasSuffix(data, frameEnd))
		return
	}
	if !m.dirty {
		m.dirty = true
		m.s.dirty = append(m.s.dirty, m)
	}
}

// arm starts tmux's timer for an unfinished string, once for each string: also
// for one that was open already when the pane was seeded.
func (m *mirror) arm() {
	if serial, open := m.term.Waiting(); open && !(m.strings && m.armed == serial) {
		m.strings, m.armed = true, serial
		m.s.after(vtparse.StringTimeout*time.Second, func() { m.expire(serial) })
	}
}

// frameEnd closes a synchronized update.
var frameEnd = []byte("\x1b[?2026l")

// showDirty publishes what the last batch of output changed: of many chunks
// that came together only the newest screen.
func (s *Server) showDirty() {
	for i, m := range s.dirty {
		s.dirty[i] = nil
		if m.dirty && m.state == live && s.mirrorOf(m.id) == m {
			m.show(false)
		}
		m.dirty = false
	}
	s.dirty = s.dirty[:0]
}

func (m *mirror) expire(serial uint64) {
	if m.armed == serial {
		m.strings = false
	}
	if m.term == nil || m.state != live {
		return
	}
	m.term.Expire(serial)
	m.show(false)
}

// show publishes the terminal's screen and sees to the frame's end. closed: the
// program said that the frame is whole (DEC 2026), so no silence is waited for.
func (m *mirror) show(closed bool) {
	m.dirty = false
	scr := m.term.Screen()
	fresh := scr != m.screen
	if fresh {
		m.screen = scr
		m.shown.Store(scr)
		m.frame = true
	}
	closed = (closed || m.torn) && !scr.Torn
	m.torn = scr.Torn
	whole := closed && m.state == live // its frame tells it
	if fresh && !whole {
		m.tell(UpdateScreen)
	}
	if closed {
		m.ended()
		return
	}
	if !m.timing {
		m.quietIn(frameDelay)
	}
}

// frameGrid is the raster of frame ends: those of many panes come together, for
// a wake-up costs more than a frame.
const frameGrid = 2 * time.Millisecond

// quietIn calls quiet d from now or up to frameGrid later.
func (m *mirror) quietIn(d time.Duration) {
	m.timing = true
	if m.onQuiet == nil {
		m.onQuiet = m.quiet
	}
	m.s.after(onGrid(d, frameGrid), m.onQuiet)
}

// quiet looks whether the pane has been silent for a frame's time.
func (m *mirror) quiet() {
	m.timing = false
	if rest := frameDelay - time.Since(m.last); rest > 0 {
		m.quietIn(rest)
		return
	}
	m.ended()
}

// ended is the end of a frame: a reading may be reported, an audit may start.
func (m *mirror) ended() {
	if m.state != live {
		return
	}
	if m.frame {
		m.frame = false
		m.tell(UpdateFrame)
		m.look()
	}
	m.standBy()
	w := m.waiters
	m.waiters = nil
	for _, f := range w {
		f(nil)
	}
}
