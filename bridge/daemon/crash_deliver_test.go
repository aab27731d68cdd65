package daemon

// The callback half of issue 6's first proof, scenario 65 and B136: the daemon
// is killed at every step between the end of a task and its accepted callback,
// on a real tmux. The Host is told at most once, and what was not told for sure
// is told later or stands as uncertain; nothing is lost, the store is sound.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/bridge/handoff"
	"akk/bridge/rpc"
	"akk/store"
)

// hostBridge takes callbacks from whatever daemon runs.
type hostBridge struct {
	mu  sync.Mutex
	got map[string]int // by delivery
	typ map[string]string
}

var hostRoute = rpc.Route{Schema: "agent-knock-knock/callback-route", Version: 1, Transport: "command_json_v1", ProfileID: "example", ProfileRevision: "r-1", ControllerSessionID: "s-1"}

func (h *hostBridge) dial(t *testing.T, o Options) *rpc.Client {
	t.Helper()
	socket, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.Dial(t.Context(), socket, rpc.HelloParams{Client: "host-bridge", Session: "s-1", Route: &hostRoute})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve delivers until the connection ends.
func (h *hostBridge) serve(c *rpc.Client) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Deliveries(context.Background(), func(l rpc.Lease) error {
			h.mu.Lock()
			h.got[l.Envelope.DeliveryID]++
			h.typ[l.Envelope.DeliveryID] = l.Envelope.Event.Type
			h.mu.Unlock()
			_, _ = c.Outcome(context.Background(), rpc.OutcomeParams{DeliveryID: l.Envelope.DeliveryID, LeaseID: l.LeaseID, Outcome: rpc.OutcomeAccepted, AcceptanceID: "a"})
			return nil
		})
	}()
	return done
}

func TestCrashDeliver(t *testing.T) {
	tm := startTmux(t)
	o := home(t)
	points := []string{"handoff.committed.completed", "outbox.committed.pending", "outbox.committed.in_flight", "outbox.leased", "outbox.committed.accepted"}
	if os.Getenv("AKK_CRASH") == "" { // the short form; AKK_CRASH=1 runs everything
		points = []string{"outbox.committed.pending", "outbox.leased"}
	}
	for n, point := range points {
		t.Run(point, func(t *testing.T) {
			tm.t = t
			pane, _ := tm.player(100 + n)
			defer func() { _ = exec.Command("tmux", "-S", tm.socket, "kill-pane", "-t", pane).Run() }()
			until(t, "the agent draws", func() bool { return strings.Contains(tm.run("capture-pane", "-p", "-t", pane), "idle composer") })
			h := &hostBridge{got: map[string]int{}, typ: map[string]string{}}
			t.Setenv("AKK_TEST_CRASH", point)
			c := h.dial(t, o)
			served := h.serve(c)
			pid := c.Hello().PID
			id := "msg-" + t.Name()
			var turn string
			if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
				t.Fatal(err)
			}
			until(t, "it can be sent a task", func() bool {
				e, err := c.Explain(t.Context(), rpc.TargetParams{ID: pane})
				return err != nil || e.Sendable
			})
			s, _ := c.Send(t.Context(), rpc.SendParams{ID: pane, Request: fmt.Sprint("do it ", n), RequestID: id})
			gone(t, pid) // it dies at the point
			<-served
			_ = c.Close()
			turn = s.TurnID

			t.Setenv("AKK_TEST_CRASH", "")
			c = h.dial(t, o)
			defer c.Close()
			served = h.serve(c)
			if _, err := c.Attach(t.Context(), rpc.AttachParams{Socket: tm.socket}); err != nil {
				t.Fatal(err)
			}
			if turn == "" { // the answer was lost with the daemon: the same id tells it
				until(t, "the receipt", func() bool {
					s, err := c.Send(t.Context(), rpc.SendParams{ID: pane, Request: fmt.Sprint("do it ", n), RequestID: id})
					turn = s.TurnID
					return err == nil && turn != ""
				})
			}
			var st rpc.Delivery
			until(t, "the callback is told, or known as uncertain", func() bool {
				list, err := c.Callbacks(t.Context(), rpc.CallbacksParams{All: true})
				if err != nil {
					return false
				}
				for _, d := range list {
					if d.TurnID == turn && d.Type == "done" {
						st = d
					}
				}
				// In flight of the dead daemon: its lease ends as uncertain.
				return st.Status == "accepted" || st.Status == "uncertain" || st.Status == "in_flight" && st.Attempts == 1
			})
			h.mu.Lock()
			told := h.got[st.DeliveryID]
			h.mu.Unlock()
			if told > 1 || st.Status == "accepted" && told != 1 {
				t.Errorf("told %d times, %s", told, st.Status)
			}
			t.Logf("%s, told %d times", st.Status, told)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_ = c.Close()
			<-served
			if err := Stop(ctx, o); err != nil {
				t.Fatal(err)
			}
			gone(t, c.Hello().PID)
			db, err := store.Open(o.StoreDir, store.Options{Schema: handoff.Schema()})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, err := range db.Check() {
				t.Errorf("store: %v", err)
			}
		})
	}
}
