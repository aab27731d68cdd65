package panes

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
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
	// backoffMin and backoffMax bound how often a lost client comes back.
	backoffMin = 250 * time.Millisecond
	backoffMax = 5 * time.Second
)

// session is one control client. It is also its reader's Handler.
type session struct {
	s      *Server
	id     string // "$1"
	client *controlmode.Client
	lost   bool
}

// Output runs on the reader's goroutine.
func (c *session) Output(pane string, data []byte) { c.s.output(c, pane, data) }

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

func (s *Server) attach(id string) {
	if s.gone || s.sessions[id] != nil {
		return
	}
	c := &session{s: s, id: id}
	cl, err := controlmode.Start(controlmode.Config{Tmux: s.tmux, Socket: s.id.Socket, Session: id, Env: clientEnv(), Handler: c})
	if err != nil {
		s.log.Warn("control client did not start", "session", id, "err", err)
		return
	}
	c.client = cl
	s.sessions[id] = c
}

// exited forgets a client. Whether the server itself has gone is asked, not
// guessed: a human's detach-client -a looks the same.
func (s *Server) exited(c *session, reason string, err error) {
	c.lost = true
	if s.sessions[c.id] == c {
		delete(s.sessions, c.id)
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
	s.log.Info("control client ended", "session", c.id, "reason", reason, "err", err)
	if s.backoff == 0 {
		s.backoff = backoffMin
	}
	s.after(s.backoff, s.comeBack)
	s.backoff = min(s.backoff*2, backoffMax)
}

// comeBack asks the server whether it lives, away from the loop.
func (s *Server) comeBack() {
	if s.gone {
		return
	}
	go func() {
		id, _, err := Probe(context.Background(), s.id.Socket)
		var ids []string
		if err == nil && id == s.id {
			ids, err = s.sessionIDs(context.Background())
		}
		s.post(func() {
			switch {
			case s.gone:
			case err != nil || id != s.id:
				if len(s.sessions) == 0 || id.PID != 0 && id != s.id {
					s.end(true)
					return
				}
				s.after(backoffMax, s.comeBack)
			default:
				for _, i := range ids {
					s.attach(i)
				}
				s.changed()
			}
		})
	}()
}

// notified handles the notifications that matter; the rest is not our
// business.
func (s *Server) notified(c *session, name, args string) {
	switch name {
	case "pause":
		// While a seed is on its way this is the echo of our own pause, and the
		// seed ends in a continue anyhow.
		if m := s.mirrors[args]; m != nil && m.feeder == c && m.state == live {
			s.seed(m)
		}
	case "session-changed":
		if id, _, _ := strings.Cut(args, " "); id != c.id && strings.HasPrefix(id, "$") {
			c.client.Close() // tmux moved us when our session ended: the other has a client of its own
			s.changed()
		}
	case "sessions-changed", "session-renamed", "window-add", "window-close", "window-renamed",
		"unlinked-window-add", "unlinked-window-close", "unlinked-window-renamed",
		"layout-change", "session-window-changed", "window-pane-changed", "pane-mode-changed",
		"subscription-changed":
		s.changed()
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

// list reads all panes through any client; after runs when it was taken in.
func (s *Server) list(after func()) {
	s.listing = true
	var c *session
	for _, x := range s.sessions {
		if !x.lost && (c == nil || x.id < c.id) {
			c = x
		}
	}
	if c == nil {
		s.listing = false
		if after != nil {
			s.after(backoffMin, func() { s.list(after) })
		}
		return
	}
	c.do(controlmode.Command{Line: "list-panes -a -F '" + listFormat + "'", Blocks: 1}, func(r []controlmode.Reply, err error) {
		s.listing, s.lastList = false, time.Now()
		if s.gone {
			return
		}
		if err != nil {
			if after != nil {
				s.after(backoffMin, func() { s.list(after) })
			}
			return
		}
		s.backoff = 0
		s.take(r[0].Lines)
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
	var order []*mirror
	for _, l := range lines {
		l = bytes.TrimSuffix(l, []byte("\r"))
		r, ok := parseRow(l, s.id)
		if !ok {
			continue
		}
		s.attach(r.session)
		if r.info.Sidebar || seen[r.info.Pane] {
			continue // ours, or a window that is linked into several sessions
		}
		seen[r.info.Pane] = true
		m := s.mirrors[r.info.Pane]
		if m == nil {
			m = &mirror{s: s, id: r.info.Pane}
			s.mirrors[m.id] = m
		}
		order = append(order, m)
		m.take(r.info)
	}
	for id, m := range s.mirrors {
		if !seen[id] {
			delete(s.mirrors, id)
			m.fail(ErrNoPane)
			s.tell(Update{Kind: UpdateGone, Pane: id, Time: time.Now()})
		}
	}
	s.publish(order)
}

// publish makes the list visible to everybody.
func (s *Server) publish(order []*mirror) {
	s.pub.Lock()
	defer s.pub.Unlock()
	old := s.pub.byID
	s.pub.byID = make(map[string]*published, len(order))
	s.pub.panes = make([]Info, 0, len(order))
	for _, m := range order {
		p := &published{info: m.info}
		if o := old[m.id]; o != nil {
			p.screen = o.screen
		}
		if m.term != nil {
			p.screen = m.screen
		}
		s.pub.byID[m.id] = p
		s.pub.panes = append(s.pub.panes, m.info)
	}
}
