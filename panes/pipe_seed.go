package panes

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"akk/controlmode"

	"golang.org/x/sys/unix"
)

// This file starts a mirror of the pipe transport. The captures and pipe-pane
// are one pass of tmux's queue, between two reads of the pane: the pipe's first
// byte is the one that the captures did not see yet. Nothing else is exact: what
// comes through a pipe that was open before has no place relative to a capture.
// So a new sync closes our end of the old pipe, which frees the slot, and opens
// a new one only if the slot is free then: a pipe of the user's is never closed.

// seed asks for a first sync or a new one.
func (p *pipes) seed(m *mirror) {
	if p.s.gone || p.cmd == nil || p.cmd.lost {
		m.stale()
		return
	}
	if _, away := p.away[m.id]; away {
		m.stale()
		m.feeder = nil
		return
	}
	if p.open[m] != nil {
		m.again = true
		return
	}
	if m.feeder != nil {
		m.feeder.closePipe()
	}
	m.state, m.held, m.again = pausing, nil, false
	m.doubt()
	m.feeder = p.cmd // commands go out, no byte comes yet
	if !slices.Contains(p.queue, m) {
		p.queue = append(p.queue, m)
	}
	p.next()
}

// next opens what waits, a few at a time.
func (p *pipes) next() {
	for len(p.queue) > 0 && len(p.open) < pipeOpening {
		m := p.queue[0]
		p.queue = p.queue[1:]
		if p.s.mirrors[m.id] == m && m.state == pausing {
			p.begin(m, 0)
		}
	}
}

// begin sends the one line. A random mark stands between the captures: no
// screen can show it.
func (p *pipes) begin(m *mirror, tries int) {
	o := &opening{tag: newTag(), fd: -1, tries: tries}
	o.c = &session{s: p.s, id: pipeSession, client: p.run, ready: true}
	p.open[m] = o
	t := " -t " + m.id
	mark := " ; display-message -p " + o.tag + " ; "
	yes := "display-message -p" + t + " '" + seedFields + "'" + mark + "capture-pane -p -e -N" + t + mark + "capture-pane -p -J -N" + t +
		mark + "capture-pane -p -e -N -a -q" + t + mark + "capture-pane -p -P -C" + t + mark +
		"pipe-pane -IO" + t + " " + controlmode.Quote(passLine(p.s.o.Passer, p.slots.path, o.tag))
	m.state, m.feeder = reading, o.c
	p.run.do([]string{"if-shell", "-F", "-t", m.id, "#{==:#{pane_pipe},0}", yes, "display-message -p taken"}, nil, func(out []byte, err error) {
		p.s.post(func() { p.answered(m, o, out, err) })
	})
	p.s.after(pipeArrive, func() {
		if p.open[m] == o {
			p.fail(m, o, ErrNoPasser)
		}
	})
}

// answered has the captures; the pipe itself comes by another way.
func (p *pipes) answered(m *mirror, o *opening, out []byte, err error) {
	if p.open[m] != o {
		o.drop()
		return
	}
	parts := bytes.Split(out, []byte(o.tag+"\n"))
	switch {
	case err != nil:
		delete(p.open, m)
		o.drop()
		m.cause = err
		m.stale()
		m.feeder = nil
		p.s.changed() // most likely the pane is gone
		m.seedLater()
		p.next()
	case string(out) == "taken\n" && o.tries < slotTries:
		// Perhaps it is the one that we gave up just now.
		p.s.after(slotSoon, func() {
			if p.open[m] == o {
				p.begin(m, o.tries+1)
			}
		})
	case string(out) == "taken\n":
		p.fail(m, o, ErrTaken)
	case len(parts) != 6:
		p.fail(m, o, ErrNoPasser)
	default:
		for i, part := range parts[:5] {
			rows := bytes.Split(bytes.TrimSuffix(part, []byte("\n")), []byte("\n"))
			if i > 0 && len(part) == 0 {
				rows = nil
			}
			o.reply = append(o.reply, controlmode.Reply{Lines: rows, Ours: true})
		}
		p.plant(m, o)
	}
}

// arrived has the pipe.
func (p *pipes) arrived(tag string, fd int) {
	for m, o := range p.open {
		if o.tag == tag && o.fd < 0 && !p.s.gone {
			o.fd = fd
			p.plant(m, o)
			return
		}
	}
	unix.Close(fd) // of a sync that was given up: tmux frees the slot
}

// plant makes the terminal when both are here.
func (p *pipes) plant(m *mirror, o *opening) {
	if o.reply == nil || o.fd < 0 {
		return
	}
	delete(p.open, m)
	defer p.next()
	if p.s.mirrors[m.id] != m {
		o.drop()
		return
	}
	s, c := p.s, o.c
	fd := o.fd
	o.fd = -1
	if m.again { // the size changed meanwhile
		unix.Close(fd)
		m.state, m.again = unsynced, false
		p.seed(m)
		return
	}
	m.why = nil
	p.shown(m)
	if err := m.plant(o.reply, nil); err != nil {
		unix.Close(fd)
		s.log.Warn("pane could not be read", "pane", m.id, "err", err)
		m.cause = err
		m.stale()
		m.seedLater()
		return
	}
	s.background.Add(1)
	r, err := readPipe(fd, func(b []byte) { s.output(c, m.id, b); poke(s.wake) }, func() {
		s.post(func() { p.ended(m, c) })
		s.background.Done()
	})
	if err != nil {
		s.background.Done()
		p.leave(m, err)
		return
	}
	c.pipe = r
	p.live[c] = m
}

// ended is the end of a pane's pipe. If neither we nor the pane's death ended
// it, somebody used pipe-pane, and has the right to.
func (p *pipes) ended(m *mirror, c *session) {
	delete(p.live, c)
	if c.lost || p.s.gone || p.s.mirrors[m.id] != m || m.feeder != c {
		return
	}
	c.lost = true
	p.s.changed()
	if m.info.Dead || !processAlive(m.info.PanePID) {
		return // its last screen stays true
	}
	p.leave(m, ErrTaken)
}

// fail gives a pane up for a while.
func (p *pipes) fail(m *mirror, o *opening, why error) {
	delete(p.open, m)
	o.drop()
	if p.s.mirrors[m.id] == m {
		p.leave(m, why)
	}
	p.next()
}

func (o *opening) drop() {
	if o.fd >= 0 {
		unix.Close(o.fd)
		o.fd = -1
	}
}

// closePipe ends the reading of a pane: tmux frees its pipe.
func (c *session) closePipe() {
	if c.pipe != nil {
		c.lost = true
		c.pipe.close()
	}
}

// checkAtOnce is how many panes one comparison looks at: their line must stay
// below what tmux takes as arguments (16 KiB).
const checkAtOnce = 32

// checkAll compares every live mirror with tmux's own screen once it is quiet:
// a layout changed, and a size that came back leaves its text reflowed.
func (p *pipes) checkAll() {
	for _, m := range p.s.mirrors {
		if m.state == live {
			p.check[m] = true
		}
	}
	p.s.after(frameDelay, p.checkSome)
}

// checkSome compares some; a difference is seeded again, which is exact. What
// wrote in the meantime waits for its next turn.
func (p *pipes) checkSome() {
	if p.busy || p.s.gone || len(p.check) == 0 {
		return
	}
	var ms []*mirror
	var line strings.Builder
	for m := range p.check {
		if p.s.mirrors[m.id] != m || m.state != live {
			delete(p.check, m)
			continue
		}
		if len(ms) == checkAtOnce || m.dirty || m.torn || time.Since(m.last) < frameDelay {
			continue
		}
		delete(p.check, m)
		if len(ms) > 0 {
			line.WriteString(" ; ")
		}
		line.WriteString("display-message -p -t " + m.id + " '#{pane_height} #{cursor_x} #{cursor_y} #{pane_width}' ; capture-pane -p -e -N -t " + m.id)
		ms = append(ms, m)
	}
	if len(ms) == 0 {
		if len(p.check) > 0 {
			p.s.after(4*frameDelay, p.checkSome)
		}
		return
	}
	p.busy = true
	terms, seen := make([]any, len(ms)), make([]uint64, len(ms))
	for i, m := range ms {
		terms[i], seen[i] = m.term, m.seen
	}
	count := func(i int, before []controlmode.Reply) int { return auditLines(i%2, before[len(before)-i%2:]) }
	p.cmd.do(controlmode.Command{Line: line.String(), Blocks: 2 * len(ms), Count: count}, func(r []controlmode.Reply, err error) {
		p.busy = false
		for i, m := range ms {
			if p.s.gone || p.s.mirrors[m.id] != m || m.state != live || any(m.term) != terms[i] {
				continue
			}
			if err != nil || m.seen != seen[i] {
				p.check[m] = true
				continue
			}
			switch {
			case compare(m.term.Screen(), r[2*i:2*i+2]) == "":
			case m.feeder != nil && m.feeder.pipe.behind():
				p.check[m] = true
			default:
				p.s.seed(m)
			}
		}
		p.checkSome()
	})
}
