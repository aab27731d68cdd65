package panes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"akk/controlmode"
)

// This file learns which sessions, windows and panes there are, by event: a
// notification makes the list stale, one list-panes -a makes it true again.
// One control client per session, because tmux sends output only for the
// attached session. Everything here runs on the loop.

const (
	// listGap keeps a storm of notifications from becoming a storm of lists.
	listGap = 50 * time.Millisecond
	// listRetry is the next try after a client died under a list, or when no
	// client is there yet.
	listRetry = 20 * time.Millisecond
	// attachCalm is how long no notification may have come when a client
	// starts; attachLatest is when it starts anyhow.
	attachCalm   = 150 * time.Millisecond
	attachLatest = 3 * time.Second
	// backoffMin and backoffMax bound how often a lost client comes back: a
	// human who throws us out is not answered at once.
	backoffMin = time.Second
	// dying is when a server that answered nobody is asked again.
	dying      = 100 * time.Millisecond
	backoffMax = 5 * time.Second
)

// session is one control client. It is also its reader's Handler.
type session struct {
	s      *Server
	id     string // "$1"
	client carrier
	ready  bool // tmux has attached it
	lost   bool
	pipe   *pipeReader // pipe transport: where the bytes come from
}

// Output runs on the reader's goroutine.
func (c *session) Output(pane string, data []byte) { c.s.output(c, pane, data) }

// Flush runs on the reader's goroutine.
func (c *session) Flush() { c.s.flush() }

// Notify runs on the reader's goroutine; it keeps the place in the stream.
func (c *session) Notify(name, args string) { c.s.post(func() { c.s.notified(c, name, args) }) }

// Exit runs on the reader's goroutine.
func (c *session) Exit(reason string, err error) {
	c.s.post(func() { c.s.exited(c, reason, err) })
}

// do sends a command; done runs on the loop, at its place in the stream.
func (c *session) do(cmd controlmode.Command, done func([]controlmode.Reply, error)) {
	if done != nil {
		cmd.Done = func(r []controlmode.Reply, err error) { c.s.post(func() { done(r, err) }) }
	}
	c.client.Do(cmd)
}

func (s *Server) sessionIDs(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.tmux, "-S", s.id.Socket, "list-sessions", "-F", "#{session_id}")
	cmd.Env = clientEnv()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w (%s has no session)", ErrNoServer, s.id.Socket)
	}
	return strings.Fields(string(out)), nil
}

// attach asks for a client on a session; startNext makes it.
func (s *Server) attach(id string) {
	if s.pipe != nil {
		s.pipe.resume()
		return
	}
	if s.gone || s.sessions[id] != nil || slices.Contains(s.wanted, id) || s.barred.waits(id) {
		return
	}
	if len(s.wanted) == 0 {
		s.asked = time.Now()
	}
	s.wanted = append(s.wanted, id)
	s.startNext()
}

// startNext starts the next client that is wanted. Before 3.8 a notification
// that meets a client which is half attached kills the server (tmux #4980,
// #5004: measured here once in 60 starts of two at a time). So only one client
// is on its way at any time, and none starts into a storm of notifications.
func (s *Server) startNext() {
	if s.gone || s.starting != nil || len(s.wanted) == 0 {
		return
	}
	now := time.Now()
	if calm := s.stirred.Add(attachCalm); now.Before(calm) && now.Sub(s.asked) < attachLatest {
		if !s.calming {
			s.calming = true
			s.after(calm.Sub(now), func() { s.calming = false; s.startNext() })
		}
		return
	}
	id := s.wanted[0]
	s.wanted = s.wanted[1:]
	s.asked = now
	c := &session{s: s, id: id}
	cl, err := controlmode.Start(controlmode.Config{Tmux: s.tmux, Socket: s.id.Socket, Session: id, Env: controlEnv(), Handler: c, Terminal: s.o.Terminal, SkipDead: quirk(s.version).deadFocus})
	if err != nil {
		s.log.Warn("control client did not start", "session", id, "err", err)
		s.after(backoffMax, s.comeBack)
		s.startNext()
		return
	}
	c.client = cl
	s.sessions[id] = c
	s.starting = c
	if s.barred.bars[id] == nil { // a try that is told once
		s.log.Debug("control client starts", "session", id)
	}
	c.do(controlmode.Command{Line: "display-message -p attached", Blocks: 1, Plain: 1}, func(_ []controlmode.Reply, err error) {
		if s.starting == c {
			s.starting = nil
		}
		if err == nil || isCommand(err) {
			c.ready = true
			s.unbar(id)
			s.changed()
		}
		s.startNext()
	})
}

// exited forgets a client. Whether the server itself has gone is asked, not
// guessed: a human's detach-client -a looks the same.
func (s *Server) exited(c *session, reason string, err error) {
	c.lost = true
	if s.sessions[c.id] == c {
		delete(s.sessions, c.id)
	}
	if s.starting == c {
		s.starting = nil
	}
	for _, m := range s.mirrors {
		if m.feeder == c {
			m.feeder = nil
			m.stale()
		}
	}
	if s.gone {
		return
	}
	if dead := new(controlmode.DeadPaneError); errors.As(err, &dead) {
		s.bar(c.id, dead.Pane)
		s.startNext()
		return
	}
	delete(s.barred.bars, c.id)
	s.log.Info("control client ended", "session", c.id, "reason", reason, "err", err)
	s.startNext()
	s.changed() // another client may show the same windows
	s.comeBack()
}

// comeBack asks the server, away from the loop, whether it lives and which
// sessions it has, and attaches to those after a while.
func (s *Server) comeBack() {
	if s.gone || s.asking {
		return
	}
	s.asking = true
	s.background.Go(func() {
		id, _, err := Probe(s.life, s.id.Socket)
		var ids []string
		if err == nil && id.is(s.id) {
			ids, _ = s.sessionIDs(s.life) // none: it lives on without sessions
		}
		s.post(func() {
			s.asking = false
			wait := max(s.backoff, backoffMin)
			s.backoff = min(wait*2, backoffMax)
			switch {
			case s.gone:
			case err == nil && !id.is(s.id), errors.Is(err, ErrNoServer) && (len(s.sessions) == 0 || !processAlive(s.id.PID)):
				s.end(true)
			case errors.Is(err, ErrNoServer):
				// Its socket was removed, or it is about to end and the last of
				// our clients has not yet been told.
				s.after(dying, s.comeBack)
			case err != nil: // it lives and does not answer
				s.after(wait, s.comeBack)
			case len(ids) == 0:
				s.take(nil)
				s.after(wait, s.comeBack)
			default:
				s.after(wait, func() {
					for _, i := range ids {
						s.attach(i)
					}
				})
			}
		})
	})
}

// is compares identities; times are compared as instants.
func (i ServerID) is(o ServerID) bool {
	return i.Socket == o.Socket && i.PID == o.PID && i.Start.Equal(o.Start)
}

// processAlive may be true for a zombie; it is never false for a living one.
func processAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// notified handles the notifications that matter; the rest is not our
// business.
func (s *Server) notified(c *session, name, args string) {
	s.lively = true
	switch name {
	case "pause":
		// While a seed is on its way this is the echo of our own pause, and the
		// seed ends in a continue anyhow.
		if m := s.mirrors[args]; m != nil && m.feeder == c && m.state == live {
			s.seed(m)
		}
	case "layout-change":
		// There and back again leaves the size as it was and the text reflowed.
		id, _, _ := strings.Cut(args, " ")
		for _, m := range s.mirrors {
			if m.feeder == c && m.info.WindowID == id {
				s.seed(m)
			}
		}
		s.changed()
	case "client-detached":
		s.stirred = time.Now()
	case "session-changed":
		if id, _, _ := strings.Cut(args, " "); id != c.id && strings.HasPrefix(id, "$") {
			c.client.Close() // tmux moved us when our session ended: the other has a client of its own
			s.changed()
		}
	case "sessions-changed", "session-renamed", "window-add", "window-close", "window-renamed",
		"unlinked-window-add", "unlinked-window-close", "unlinked-window-renamed",
		"session-window-changed", "window-pane-changed", "pane-mode-changed":
		s.stirred = time.Now()
		s.changed()
		if id, _, _ := strings.Cut(args, " "); name == "session-window-changed" {
			s.tryBarred(id)
		}
	}
}

// changed makes the list stale.
func (s *Server) changed() {
	if s.listing {
		s.relist = true
		return
	}
	s.listing = true
	wait := time.Until(s.lastList.Add(listGap))
	if wait <= 0 {
		s.list(nil)
		return
	}
	s.after(wait, func() { s.list(nil) })
}

// listFormat: numbers first, names that users choose last, each bounded and
// without control characters, so that no value can forge a line or a field.
const listFormat = "#{session_id}\t#{window_id}\t#{pane_id}\t#{pane_pid}\t#{window_index}\t#{pane_index}\t#{pane_width}\t#{pane_height}\t" +
	"#{?pane_active,1,0}\t#{?pane_dead,1,0}\t#{?pane_in_mode,1,0}\t#{?pane_synchronized,1,0}\t#{?pane_input_off,1,0}\t#{pane_tty}\t#{?@akk_sidebar,1,0}\t" +
	"#{=200:session_name}\t#{=200:window_name}\t#{=100:@akk_demo}\t#{=100;s/[^ -~]/?/:pane_current_command}\t#{=2000:pane_current_path}"

const listFields = 20

// anyClient is what commands about the whole server can go through, nil: nothing.
func (s *Server) anyClient() (c *session) {
	for _, x := range s.sessions {
		if x.ready && !x.lost && (c == nil || x.id < c.id) {
			c = x
		}
	}
	if c == nil {
		c = s.withoutClient()
	}
	return c
}

// list reads all panes through any client; after runs when it was taken in.
func (s *Server) list(after func()) {
	s.listing = true
	c := s.anyClient()
	if c == nil {
		s.listing = false
		if after != nil {
			s.after(listRetry, func() { s.list(after) })
		}
		return
	}
	began := time.Now()
	c.do(controlmode.Command{Line: "list-panes -a -F '" + listFormat + "'", Blocks: 1, Plain: 1}, func(r []controlmode.Reply, err error) {
		s.listing, s.lastList = false, time.Now()
		if s.gone {
			return
		}
		if err != nil {
			wait := listRetry
			if c == s.barred.lone {
				wait = backoffMin // a process each
				s.comeBack()
			}
			s.after(wait, func() { s.list(after) })
			return
		}
		s.backoff = 0
		s.take(r[0].Lines)
		s.looked.Store(&began)
		if s.relist {
			s.relist = false
			s.changed()
		}
		if after != nil {
			after()
		}
	})
}

// row is one line of the list.
type row struct {
	info    Info
	session string
}

func parseRow(line []byte, server ServerID) (row, bool) {
	f := strings.SplitN(string(line), "\t", listFields)
	if len(f) != listFields || !strings.HasPrefix(f[0], "$") || !strings.HasPrefix(f[1], "@") || !strings.HasPrefix(f[2], "%") {
		return row{}, false
	}
	var n [5]int
	for i := range n {
		v, err := strconv.Atoi(f[3+i])
		if err != nil || v < 0 {
			return row{}, false
		}
		n[i] = v
	}
	yes := func(i int) bool { return f[i] == "1" }
	in := Info{SessionID: f[0], WindowID: f[1], WindowIndex: n[1], PaneIndex: n[2], Cols: n[3], Rows: n[4],
		Active: yes(8), Dead: yes(9), InMode: yes(10), Synced: yes(11), InputOff: yes(12), TTY: f[13], Sidebar: yes(14),
		SessionName: f[15], WindowName: f[16], Demo: f[17], Command: f[18], Cwd: f[19]}
	in.Identity = Identity{Server: server, Pane: f[2], PanePID: n[0]}
	return row{in, f[0]}, true
}

// take makes the mirrors what the list says.
func (s *Server) take(lines [][]byte) {
	seen := map[string]bool{}
	shownIn := map[string][]string{} // pane -> sessions
	first := map[string]Info{}
	var order []*mirror
	fresh := false
	dead := map[string]bool{} // sessions with a dead pane that is active in its window
	s.places = s.places[:0]
	for _, l := range lines {
		l = bytes.TrimSuffix(l, []byte("\r"))
		r, ok := parseRow(l, s.id)
		if !ok {
			continue
		}
		if r.info.Active {
			s.places = appendPlace(s.places, r.info)
			dead[r.session] = dead[r.session] || r.info.Dead
		}
		s.attach(r.session)
		if s.pipe != nil {
			r.session = pipeSession
		}
		shownIn[r.info.Pane] = append(shownIn[r.info.Pane], r.session)
		if r.info.Sidebar || seen[r.info.Pane] {
			continue // ours, or a window that is linked into several sessions
		}
		seen[r.info.Pane] = true
		first[r.info.Pane] = r.info
		m := s.mirrors[r.info.Pane]
		if m == nil {
			m = &mirror{s: s, id: r.info.Pane, unwatch: func() {}}
			m.doubt()
			fresh = true
			s.mirrors[m.id] = m
			s.number(m.id, m)
		}
		order = append(order, m)
	}
	s.tryAlive(dead)
	for _, m := range order {
		m.take(first[m.id], shownIn[m.id])
	}
	for id, m := range s.mirrors {
		if !seen[id] {
			delete(s.mirrors, id)
			s.number(id, nil)
			m.unwatch()
			m.fail(ErrNoPane)
			s.news = append(s.news, Update{Kind: UpdateGone, Pane: id, Time: time.Now()})
		}
	}
	if s.pipe != nil {
		s.pipe.forget()
	}
	// Who hears of a change and asks must find it.
	s.publish(order)
	for _, u := range s.news {
		s.tell(u)
	}
	s.news = s.news[:0]
	for _, m := range order {
		if !m.info.Unsynced.IsZero() {
			m.tellUnsynced() // the reason may be another now
		}
	}
	if fresh {
		s.relistSoon()
	}
}

// publish makes the list visible to everybody.
func (s *Server) publish(order []*mirror) {
	s.pub.Lock()
	defer s.pub.Unlock()
	s.pub.byID = make(map[string]*published, len(order))
	s.pub.panes = make([]Info, 0, len(order))
	for _, m := range order {
		if m.term != nil {
			m.shown.Store(m.screen)
		}
		s.pub.byID[m.id] = &published{info: m.info, screen: &m.shown, why: m.why}
		s.pub.panes = append(s.pub.panes, m.info)
	}
}
