package daemon

// This file holds one run of the crash test: a tmux server, agents that log
// their bytes, Hosts, a human, and what was asked for.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/bridge/outbox"
	"akk/bridge/rpc"
)

// scene is one run.
type scene struct {
	t     *testing.T
	tm    *tmuxServer
	o     Options // of a daemon that lives
	dying Options // of the one that is killed
	panes [2]string
	dirs  [2]string
	hosts [2]rpc.HelloParams

	bridges []func()          // ends each
	sent    map[string]string // by Turn: the session of its Host

	mu    sync.Mutex
	asked []task
}

// task is a text that somebody asked to have typed.
type task struct {
	id, text string
	pane     int
	host     int
	explicit bool
}

func route(session string) *rpc.Route {
	return &rpc.Route{Schema: outbox.RouteSchema, Version: 1, Transport: "command_json_v1", ProfileID: "crash", ProfileRevision: "1", ControllerSessionID: session,
		Capabilities: rpc.RouteCapabilities{Wake: true}}
}

// dial reaches the daemon that runs; it starts none.
func (s *scene) dial(h rpc.HelloParams) (*rpc.Client, error) {
	p, err := PathsFor(s.o.StoreDir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	return rpc.Dial(ctx, p.Socket, h)
}

// send asks for a text as a Host; an empty error may still be a refusal's.
func (s *scene) send(c *rpc.Client, text string, more ...func(*rpc.SendParams)) (rpc.Send, error) {
	k := task{text: text, id: "msg-" + text, pane: 0}
	p := rpc.SendParams{ID: s.panes[0], Request: text, RequestID: k.id}
	for _, f := range more {
		f(&p)
	}
	if p.ID == s.panes[1] {
		k.pane = 1
	}
	k.explicit = p.Explicit
	if strings.HasPrefix(text, "also") || strings.HasPrefix(text, "there") {
		k.host = 1
	}
	s.mu.Lock()
	if !contains(s.asked, k.id) {
		s.asked = append(s.asked, k)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	return c.Send(ctx, p)
}

func contains(all []task, id string) bool {
	for _, k := range all {
		if k.id == id {
			return true
		}
	}
	return false
}

// sendable waits until a pane may be sent to, or the daemon is gone.
func (s *scene) sendable(c *rpc.Client, pane string) bool {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		e, err := c.Explain(context.Background(), rpc.TargetParams{ID: pane})
		if err == nil && e.Sendable {
			return true
		}
		if errors.Is(err, rpc.ErrClosed) {
			return false
		}
	}
	return false
}

// accepted waits until a text is in the agent's log, or the daemon is gone.
func (s *scene) accepted(c *rpc.Client, n int) bool {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Count(readFile(s.dirs[0], "log"), `"accepted"`) >= n {
			return true
		}
		if dead(c) {
			return false
		}
	}
	return false
}

// finish lets what is slow end.
func (s *scene) finish() {
	for _, dir := range s.dirs {
		_ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
	}
}

// human runs takeover or handback in a pane of its own: whoever sits there is
// the human. It returns when the daemon has answered, or is gone.
func (s *scene) human(c *rpc.Client, op string) {
	p, err := PathsFor(s.o.StoreDir)
	if err != nil {
		s.t.Error(err)
		return
	}
	done := filepath.Join(s.dirs[0], op+fmt.Sprint(time.Now().UnixNano()))
	cmd := exec.Command("tmux", "-S", s.tm.socket, "new-window", "-d", "-t", "w:", "-e", "AKK_TEST_PLAYER=human", fmt.Sprintf("exec %s %s %s %s %s", os.Args[0], p.Socket, op, s.panes[0], done))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("the human's window: %v %s", err, out)
		return
	}
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(done); err == nil {
			return
		}
		if dead(c) {
			return
		}
	}
}

// asHuman is the main of that window.
func asHuman(socket, op, pane, done string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	word := ""
	c, err := rpc.Dial(ctx, socket, rpc.HelloParams{Client: "cli"})
	if err == nil {
		if op == "takeover" {
			_, err = c.Takeover(ctx, rpc.HoldParams{ID: pane})
		} else {
			_, err = c.Handback(ctx, rpc.HoldParams{ID: pane})
		}
		_ = c.Close()
	}
	if err != nil {
		word = err.Error()
	}
	_ = os.WriteFile(done+".new", []byte(word), 0o600)
	_ = os.Rename(done+".new", done)
}

// bridge starts a process of its own that takes a Host's callbacks; each attempt
// that it was given is a line of s.leases().
func (s *scene) bridge(host int) {
	p, err := PathsFor(s.o.StoreDir)
	if err != nil {
		s.t.Error(err)
		return
	}
	cmd := exec.Command(os.Args[0], p.Socket, s.hosts[host].Session, s.leases())
	cmd.Env = append(os.Environ(), "AKK_TEST_BRIDGE=1")
	in, err := cmd.StdinPipe() // its end ends the bridge, however the test ends
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	s.bridges = append(s.bridges, func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = in.Close() })
}

// killBridges ends them as they are: what they had is uncertain then.
func (s *scene) killBridges() {
	for _, kill := range s.bridges {
		kill()
	}
	s.bridges = nil
}

func (s *scene) leases() string { return filepath.Join(s.tm.dir, "leases-"+filepath.Base(s.dirs[0])) }

// asBridge is a bridge's main: it takes whatever daemon listens, and tells an
// outcome until a daemon has it.
func asBridge(socket, session, file string) {
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	ctx := context.Background()
	h := rpc.HelloParams{Client: "host-bridge", Session: session, Route: route(session)}
	var untold *rpc.OutcomeParams
	for ; ; time.Sleep(10 * time.Millisecond) {
		c, err := rpc.Dial(ctx, socket, h)
		if err != nil {
			continue
		}
		tell, err := rpc.Dial(ctx, socket, h)
		if err == nil && untold != nil {
			if _, err = tell.Outcome(ctx, *untold); !errors.Is(err, rpc.ErrClosed) {
				untold, err = nil, nil
			}
		}
		if err == nil {
			_ = c.Deliveries(ctx, func(l rpc.Lease) error {
				f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return err
				}
				fmt.Fprintln(f, l.Envelope.DeliveryID, l.Attempt)
				_ = f.Close()
				time.Sleep(20 * time.Millisecond) // the command
				untold = &rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "a"}
				if _, err = tell.Outcome(ctx, *untold); !errors.Is(err, rpc.ErrClosed) {
					untold = nil
				}
				return err
			})
		}
		_ = c.Close()
		if tell != nil {
			_ = tell.Close()
		}
	}
}

// script is a way to keep a daemon busy: run returns when it is through or when
// the daemon is gone.
type script struct {
	name string
	long time.Duration // about how long run takes on a quiet machine, for the random moment
	run  func(s *scene, c *rpc.Client)
}

var scripts = []script{
	{"task", 300 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		_, _ = s.send(c, s.text("do"))
		s.accepted(c, 1)
		s.told(c)
	}},
	{"hold", 1500 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		_, _ = s.send(c, s.text("slow"))
		s.human(c, "takeover") // of a running task
		s.human(c, "handback")
		s.finish()
		s.told(c)
		s.sendable(c, s.panes[0])
		sent := make(chan struct{})
		go func() { defer close(sent); _, _ = s.send(c, s.text("do")) }()
		s.human(c, "takeover") // between its text and its Enter, as it comes
		<-sent
		s.human(c, "handback")
	}},
	{"interrupt", 1200 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		r, err := s.send(c, s.text("slow"))
		if err != nil || !s.accepted(c, 1) {
			return
		}
		for range 200 {
			x, err := c.Cancel(context.Background(), rpc.CancelParams{TurnID: r.TurnID})
			if errors.Is(err, rpc.ErrClosed) || err == nil && x.CancelRequested {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		s.told(c)
	}},
	{"explicit", 6500 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.tm.run("send-keys", "-t", s.panes[0], "-l", "half")
		text := s.text("do")
		for range 200 {
			r, err := s.send(c, text, func(p *rpc.SendParams) { p.Explicit = true })
			if err == nil && r.TerminalInputDispatched || errors.Is(err, rpc.ErrClosed) {
				break
			}
			if err == nil { // the draft came while it was proven empty
				text = s.text("do")
			}
			time.Sleep(50 * time.Millisecond)
		}
		s.told(c)
	}},
	{"watch", 900 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		s.sendable(c, s.panes[1])
		w, err := c.Watch(context.Background(), rpc.WatchParams{ID: s.panes[1]})
		if err != nil {
			s.t.Logf("watch: %v", err)
		}
		_, _ = s.send(c, s.text("slow"))
		_, _ = c.Watch(context.Background(), rpc.WatchParams{ID: s.panes[0]}) // of the task
		_, _ = c.Unwatch(context.Background(), rpc.WatchIDParams{WatchID: w.Watch.WatchID})
		s.finish()
		s.told(c)
	}},
	{"two hosts", 700 * time.Millisecond, func(s *scene, c *rpc.Client) {
		other, err := s.dial(s.hosts[1])
		if err != nil {
			return
		}
		defer other.Close()
		s.sendable(c, s.panes[0])
		s.sendable(c, s.panes[1])
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = s.send(c, s.text("do")) })
		wg.Go(func() { _, _ = s.send(other, s.text("also")) }) // the same pane
		wg.Go(func() {
			_, _ = s.send(other, s.text("there"), func(p *rpc.SendParams) { p.ID = s.panes[1] })
		})
		wg.Wait()
		s.told(c)
	}},
	{"bridge killed", 600 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		_, _ = s.send(c, s.text("do"))
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			if st, err := os.Stat(s.leases()); err == nil && st.Size() > 0 || dead(c) {
				break
			}
		}
		s.killBridges() // its command has begun, its outcome is not told
		s.told(c)
	}},
	{"other ends", 1500 * time.Millisecond, func(s *scene, c *rpc.Client) {
		s.sendable(c, s.panes[0])
		_, _ = s.send(c, s.text("fail"))
		s.accepted(c, 1)
		s.sendable(c, s.panes[0])
		r, err := s.send(c, s.text("ask"))
		if err != nil {
			return
		}
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			st, err := c.Status(context.Background(), rpc.StatusParams{TurnID: r.TurnID})
			if errors.Is(err, rpc.ErrClosed) {
				return
			}
			if err == nil && st.Conversation.Status == "waiting_for_openclaw" {
				break
			}
		}
		s.tm.run("send-keys", "-t", s.panes[0], "w") // it goes on
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			st, err := c.Status(context.Background(), rpc.StatusParams{TurnID: r.TurnID})
			if errors.Is(err, rpc.ErrClosed) || err == nil && st.Conversation.Status != "waiting_for_openclaw" {
				break
			}
		}
		s.finish()
		s.told(c)
		s.tm.run("send-keys", "-t", s.panes[0], "-l", "mine") // and a human types
		time.Sleep(100 * time.Millisecond)
		_, err = s.send(c, s.text("refused")) // not while he does
		if err == nil {
			s.t.Log("sent beside a human")
		}
		s.tm.run("send-keys", "-t", s.panes[0], "C-u")
		_, _ = c.CloseTurn(context.Background(), rpc.CloseParams{TurnID: r.TurnID})
	}},
}

var texts struct {
	sync.Mutex
	n int
}

// text is one that nobody else uses.
func (s *scene) text(word string) string {
	texts.Lock()
	defer texts.Unlock()
	texts.n++
	return fmt.Sprint(word, " ", texts.n)
}

// told waits until the Host's callbacks have come to their end, or the daemon is
// gone; a second if there is none.
func (s *scene) told(c *rpc.Client) {
	began := time.Now()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		list, err := c.Callbacks(context.Background(), rpc.CallbacksParams{All: true})
		if errors.Is(err, rpc.ErrClosed) {
			return
		}
		open := 0
		for _, d := range list {
			if d.Status == "in_flight" || d.Status == "pending" && len(s.bridges) > 0 {
				open++
			}
		}
		if err == nil && open == 0 && (len(list) > 0 || time.Since(began) > time.Second) {
			return
		}
		if time.Now().After(end) {
			s.t.Errorf("callbacks stay open: %+v %v", list, err)
			return
		}
	}
}

// dead tells whether the daemon of c is gone.
func dead(c *rpc.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}
