package handoff

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// A newcomer found it: right after a daemon's start one of several agents was
// "the only one that is ready", and lists were short of terminals.
func TestRightAfterTheStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ps []*player
	for range 6 {
		ps = append(ps, b.w.play())
	}
	for _, p := range ps {
		b.row(p, agents.Idle)
	}
	for i := range 10 {
		b.close()
		b.start()
		back := make(chan error, 1)
		rec := b.desk.Remembered()
		if len(rec) != 1 {
			t.Fatalf("%d servers are remembered", len(rec))
		}
		go func() { back <- b.desk.Reattach(t.Context(), rec[0]) }()
		if i%2 == 0 {
			_, err := b.send("", "to nobody in particular")
			b.refused(err, "several terminals are ready")
		}
		if n := len(b.rows()); n != len(ps) {
			t.Errorf("the first list has %d terminals", n)
		}
		if err := <-back; err != nil {
			t.Fatal(err)
		}
	}
}

// As long as a server of before is not back, nobody chooses the only terminal that
// is ready: it may not be the only one.
func TestNoChoiceFromHalfADesk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.w.play()
	b.row(p, agents.Idle)
	b.desk.mu.Lock()
	b.desk.returning["/another"] = true
	b.desk.started = b.desk.started.Add(-time.Minute)
	b.desk.mu.Unlock()
	_, err := b.send("", "to nobody in particular")
	b.refused(err, "not every terminal that is there is known yet")
	b.desk.returned("/another")
	if _, err := b.send("", "to the only one"); err != nil {
		t.Error(err)
	}
}

// A server that was asked for before it was there, or that went away, is attached
// when somebody asks for the list; one that is not there is not waited for.
func TestServerThatComesLater(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, w: newWorld(), dir: t.TempDir()}
	socket := filepath.Join(t.TempDir(), "s")
	b.w.id.Socket = socket
	b.start()
	t.Cleanup(b.close)
	attach := b.desk.attach
	b.desk.attach = nil // nobody may call it yet
	b.desk.mu.Lock()
	b.desk.want(socket)
	b.desk.mu.Unlock()
	if n := len(b.rows()); n != 0 {
		t.Fatalf("%d terminals of a server that is not there", n)
	}
	b.desk.attach = attach
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := b.w.play()
	b.row(p, agents.Idle)
	if s, _ := b.desk.Servers(t.Context()); len(s) != 1 || !strings.HasSuffix(s[0].Socket, socket) {
		t.Errorf("attached: %+v", s)
	}
	if _, err := b.desk.Attach(t.Context(), rpc.AttachParams{Socket: socket}); err != nil {
		t.Error(err)
	}
}
