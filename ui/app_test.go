package ui

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"akk/bridge/rpc"

	"github.com/gdamore/tcell/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a Source that plays lists and ends of connections.
type script chan any // rpc.List or error

func (s script) Follow(ctx context.Context, yield func(rpc.List) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case x := <-s:
			switch x := x.(type) {
			case rpc.List:
				if err := yield(x); err != nil {
					return err
				}
			case error:
				return x
			}
		}
	}
}

type jumps struct {
	mu   sync.Mutex
	ids  []string
	did  []string
	note string
	err  error
}

func (j *jumps) Jump(_ context.Context, r rpc.Row) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ids = append(j.ids, r.TerminalControl.PaneID)
	return j.note, j.err
}
func (j *jumps) did1(what string, r rpc.Row) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.did = append(j.did, what+" "+r.TerminalControl.PaneID)
	return what + " done", j.err
}
func (j *jumps) Takeover(_ context.Context, r rpc.Row) (string, error) {
	return j.did1("takeover", r)
}
func (j *jumps) Handback(_ context.Context, r rpc.Row) (string, error) {
	return j.did1("handback", r)
}
func (j *jumps) Restore(_ context.Context, r rpc.Row) (string, error) { return j.did1("restore", r) }
func (j *jumps) Resized(context.Context)                              {}
func (j *jumps) list() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.ids...)
}

// shown keeps a copy of what was drawn last: the simulation hands out its own
// cells, which only the drawing goroutine may read.
type shown struct {
	tcell.SimulationScreen
	mu   sync.Mutex
	text string
}

func (s *shown) Show() {
	s.SimulationScreen.Show()
	cells, w, h := s.GetContents()
	var b strings.Builder
	for y := range h {
		for x := range w {
			b.WriteString(string(cells[y*w+x].Runes))
		}
		b.WriteByte('\n')
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = b.String()
}

// rig runs a sidebar on a simulated screen.
type rig struct {
	t    *testing.T
	s    *shown
	src  script
	act  *jumps
	done chan error
}

func newRig(t *testing.T, w, h int) *rig {
	s := &shown{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(w, h)
	r := &rig{t: t, s: s, src: make(script), act: &jumps{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.done <- Run(ctx, s, r.src, r.act, Keys{}) }()
	t.Cleanup(func() { cancel(); s.Fini() })
	return r
}

func (r *rig) lines() string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.text
}

// until waits for a screen, as a human would.
func (r *rig) until(what string, ok func(string) bool) {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if l := r.lines(); ok(l) {
			return
		} else if time.Now().After(deadline) {
			r.t.Fatalf("no %s; the screen is\n%s", what, l)
		}
	}
}

func (r *rig) shows(s string) {
	r.t.Helper()
	r.until(s, func(l string) bool { return strings.Contains(l, s) })
}

func TestSidebar(t *testing.T) {
	r := newRig(t, 40, 20)
	r.shows("akk connecting")
	r.src <- several()
	r.shows("akk 1 needs you")

	r.s.InjectKey(tcell.KeyRune, '?', 0)
	r.shows("akk help")
	r.s.InjectKey(tcell.KeyEscape, 0, 0)
	r.shows("akk 1 needs you")

	r.act.mu.Lock()
	r.act.note = "shown there"
	r.act.mu.Unlock()
	r.s.InjectKey(tcell.KeyRune, 'j', 0)
	r.s.InjectKey(tcell.KeyEnter, 0, 0)
	r.shows("shown there")
	if got := strings.Join(r.act.list(), " "); got != "%2" {
		t.Errorf("j and Enter went to %s", got)
	}
	// One key takes the chosen terminal over, one hands it back, one puts a
	// cleared draft back; on the help page none of them does anything.
	for key, what := range map[rune]string{'t': "takeover", 'b': "handback", 'r': "restore"} {
		r.s.InjectKey(tcell.KeyRune, '?', 0)
		r.shows("akk help")
		r.s.InjectKey(tcell.KeyRune, key, 0)
		r.s.InjectKey(tcell.KeyEscape, 0, 0)
		r.shows("akk 1 needs you")
		r.s.InjectKey(tcell.KeyRune, key, 0)
		r.shows(what + " done")
		r.act.mu.Lock()
		if got := strings.Join(r.act.did, ", "); got != what+" %2" {
			t.Errorf("%c did %s", key, got)
		}
		r.act.did = nil
		r.act.mu.Unlock()
	}

	r.act.mu.Lock()
	r.act.note, r.act.err = "", errors.New("no such pane")
	r.act.mu.Unlock()
	r.s.InjectMouse(3, 1, tcell.ButtonPrimary, 0)
	r.shows("no such pane")
	if got := strings.Join(r.act.list(), " "); got != "%2 %3" {
		t.Errorf("the click went to %s", got)
	}

	// A resize draws at once, down to nothing.
	r.s.SetSize(20, 5)
	r.until("narrow head", func(l string) bool { return strings.HasPrefix(l, "akk 1 needs you    4\n") })
	r.s.SetSize(1, 1)
	r.until("one cell", func(l string) bool { return l == "…\n" })
	r.s.SetSize(40, 12)
	r.shows("akk 1 needs you")

	// The daemon restarts: what was seen stays, marked, and it comes back.
	r.src <- errors.New("connection lost")
	r.shows("akk reconnecting")
	r.shows("connection lost")
	r.src <- rpc.List{}
	r.shows("No agent seen.")

	r.s.InjectKey(tcell.KeyRune, 'q', 0)
	if err := <-r.done; err != nil {
		t.Fatal(err)
	}
}

// The chosen row stays chosen when the order changes, and its place is taken
// by the next one when it goes.
func TestTakeKeepsChoice(t *testing.T) {
	l := several()
	m := Model{}.Take(l, noon)
	if first, _ := m.Current(); m.Selected != "" || first.ID != Rows(l)[0].ID {
		t.Errorf("nobody chose, yet %q is chosen, %q is current", m.Selected, first.ID)
	}
	m = m.Move(1)
	want := m.Selected
	l.Terminals[0].Reading.Activity = "blocked"
	if m = m.Take(l, noon); m.Selected != want {
		t.Errorf("the choice moved to %s", m.Selected)
	}
	var rest rpc.List
	for _, r := range l.Terminals {
		if r.ID != want {
			rest.Terminals = append(rest.Terminals, r)
		}
	}
	if m = m.Take(rest, noon); m.Selected == "" || m.Selected == want {
		t.Errorf("the choice is %q", m.Selected)
	}
	if m = m.Take(rpc.List{}, noon).Move(1); m.Selected != "" {
		t.Errorf("nothing to choose, yet %q", m.Selected)
	}
}

func TestPlay(t *testing.T) {
	var b strings.Builder
	clips := []Clip{{0, []byte("a")}, {time.Hour, []byte("b")}}
	if err := Play(context.Background(), &b, clips, 1e6); err != nil || b.String() != "ab" {
		t.Errorf("%q %v", b.String(), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Play(ctx, &b, clips, 1); err == nil {
		t.Error("a cancelled play went on")
	}
}
