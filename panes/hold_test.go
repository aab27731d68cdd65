package panes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/controlmode"
	"akk/vtparse"
)

// This file tests the lock: who holds it, what ends it, and what is on its way
// when it is taken.

// inputOff is what tmux says of the pane's lock.
func (ts *tmuxServer) inputOff(pane string) string {
	return ts.run("display-message", "-p", "-t", pane, "#{pane_input_off}")
}

// The switch of an earlier Hold never opens a later one.
func TestSecondHoldOutlivesTheFirstSwitch(t *testing.T) {
	ts, s, _ := logger(t, "")
	in, _ := s.Pane("%0")
	hold := func(text string) {
		t.Helper()
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text, Hold: true}); err != nil {
			t.Fatal(err)
		}
	}
	hold("a")
	m := s.mirrorTag(t, "%0")
	ts.run("run-shell", "-d", "1", "true") // half of the first one's time
	hold("b")
	second := s.mirrorTag(t, "%0")
	if m == second {
		t.Fatal("the second Hold has the first one's mark")
	}
	// The first one's switch is run now, whatever the clocks do.
	ts.run("run-shell", s.deadMan("%0", m))
	if ts.inputOff("%0") != "1" {
		t.Error("the first switch opened the second Hold")
	}
	ts.run("run-shell", s.deadMan("%0", second))
	if ts.inputOff("%0") != "0" {
		t.Error("its own switch did not open the second Hold")
	}
	if got := ts.run("show-environment", "-gh"); strings.Contains(got, holdPrefix) {
		t.Errorf("left in the environment: %s", got)
	}
}

func (s *Server) mirrorTag(t *testing.T, pane string) string {
	t.Helper()
	tag, err := call(within(t), s, func(done func(string, error)) { done(s.mirrors[pane].hold, nil) })
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// A Hold that ended by itself hinders nothing, and a human's lock behind it is
// respected.
func TestWriteAfterTheHoldEnded(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	ctx := within(t)
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Paste: "a", Hold: true}); err != nil {
		t.Fatal(err)
	}
	ts.run("run-shell", s.deadMan("%0", s.mirrorTag(t, "%0"))) // the time is over
	ts.run("select-pane", "-d", "-t", "%0")                    // a human
	refused(t, s, Write{Identity: in.Identity, Keys: []byte("x")}, "input_off")
	if ts.inputOff("%0") != "1" {
		t.Error("a human's lock was lifted")
	}
	ts.run("select-pane", "-e", "-t", "%0")
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Keys: []byte("b")}); err != nil {
		t.Error(err)
	}
	if got := arrived(t, s, read); string(got) != "ab" {
		t.Errorf("%q", got)
	}
}

// Text conditions are tested by the server: the fingerprint of a dialog is
// checked in the same line as the key (B76).
func TestTextConditions(t *testing.T) {
	odd := `te,xt }{ #{pane_id} #(date) [a]*?\ $x "q" 'é' 日本 a:b;c`
	file := filepath.Join(t.TempDir(), "bytes")
	ts := newTmux(t, "sh", "-c", `stty raw -echo; printf '%s\r\n' "$0"; echo READY; exec cat >"$1"`, odd, file)
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("READY"))
	in, _ := s.Pane("%0")
	for _, text := range []string{odd, "READY", "*?", `\ $x`, "}{ #{pane_id} #(", "日本 a:b;c"} {
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("y"), Shows: []string{text}}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"te.xt", "*x*", "READY?", "#{pane_id", "ready", "%0", "nothing like it"} {
		if strings.Contains(odd, text) {
			continue
		}
		refused(t, s, Write{Identity: in.Identity, Keys: []byte("n"), Shows: []string{"READY", text}}, "screen")
	}
	for _, text := range []string{"", "two\nrows", "\x1b[m", strings.Repeat("x", maxShown+1), "\xff"} {
		refused(t, s, Write{Identity: in.Identity, Keys: []byte("n"), Shows: []string{text}}, "text")
	}
	read := func() []byte { b, _ := os.ReadFile(file); return b }
	if got := arrived(t, s, read); string(got) != "yyyyyy" {
		t.Errorf("the program read %q", got)
	}
}

// slowEcho is a program that draws what it reads 30 ms later, as an agent's
// frame clock does; the log has the bytes.
const slowEcho = `stty raw -echo; printf READY; while c=$(dd bs=64 count=1 2>/dev/null); do sleep 0.03; printf '%s' "$c"; printf '%s' "$c" >>"$0"; done`

// B31: a human's key that is not drawn yet does not fuse with our text.
func TestHumanKeyBeforeOurPasteIsSeen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bytes")
	ts := newTmux(t, "sh", "-c", slowEcho, file)
	s := openServer(t, ts)
	attachHuman(t, ts, 24, 80)
	waitScreen(t, s, "%0", shows("READY"))
	in, _ := s.Pane("%0")
	s.post(func() { s.settle = settling{time.Second, patience, time.Hour} }) // this machine may be slow
	for i := range 2 {
		scr := audited(t, s, "%0")
		ts.run("send-keys", "-t", "%0", "-l", "h") // seen by no proof
		refused(t, s, Write{Identity: in.Identity, Cursor: &scr.Cursor, Paste: "our text", Hold: true}, "cursor")
		if off := ts.inputOff("%0"); off != "0" {
			t.Errorf("input off is %q after the refusal", off)
		}
		waitScreen(t, s, "%0", shows("READY"+strings.Repeat("h", i+1)))
	}
	scr := audited(t, s, "%0")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Cursor: &scr.Cursor, Shows: []string{"READY"}, Paste: "our text", Hold: true}); err != nil {
		t.Error(err)
	}
	waitScreen(t, s, "%0", shows("READYhhour text"))
	if got := ts.run("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
}

// Nobody is at a client of the server: no key can be on its way, and a quiet
// pane is typed into at once.
func TestNobodyTypes(t *testing.T) {
	ts, s, read := logger(t, "")
	if s.pipe != nil {
		t.Skip("the pipe transport always waits")
	}
	in, _ := s.Pane("%0")
	s.post(func() { s.settle.quiet, s.settle.latest = time.Hour, time.Hour })
	want := 0
	write := func() {
		t.Helper()
		scr := audited(t, s, "%0")
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Cursor: &scr.Cursor, Paste: "x", Hold: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.Release(within(t), "%0"); err != nil {
			t.Fatal(err)
		}
		want++
	}
	write()
	attachHuman(t, ts, 24, 80)
	s.post(func() { s.settle.keys = -time.Hour }) // he has done nothing for long
	write()
	s.post(func() { s.settle = settling{time.Millisecond, time.Second, time.Hour} })
	write()
	if got := arrived(t, s, read); len(got) != want {
		t.Errorf("%q", got)
	}
}

// What the lock's answer says of the clients; what it does not say is a human.
func TestTypedLately(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &Server{settle: settle}
	for text, want := range map[string]bool{
		"akk-client 7 1800000000":                          true,
		"akk-client 7 1799999998":                          true,
		"akk-client 7 1799999997":                          false,
		"akk-client 7 1799999000\nakk-client 8 1799999999": true,
		"akk-client 7 1800000009":                          true, // a clock that jumped
		"akk-client 7 ":                                    true,
		"akk-client 7 soon":                                true,
		"":                                                 true,
		"something else":                                   true,
	} {
		var lines [][]byte
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, []byte(l))
		}
		if got := s.typedLately([]controlmode.Reply{{}, {Lines: lines}}, now); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A pane that never stops writing is typed into all the same.
func TestHoldInAStream(t *testing.T) {
	ts := newTmux(t, "sh", "-c", `stty -echo; while :; do printf '\0337\033[5;1H%s\0338' $((i=i+1)); sleep 0.02; done & exec cat`)
	s := openServer(t, ts)
	waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool { return scr.Line(4) != "" })
	in, _ := s.Pane("%0")
	cursor := vtparse.Cursor{}
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Cursor: &cursor, Paste: "text", Hold: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
		t.Fatal(err)
	}
	waitScreen(t, s, "%0", func(scr *vtparse.Screen) bool { return scr.Line(0) == "text" })
}

// B101, B128: kill -9 at any point leaves no lock, no buffer with prompt text
// and no variable; the switch does it, or the next daemon's start.
func TestKilledAtAnyPoint(t *testing.T) {
	ts, s, _ := logger(t, "")
	s.Close()
	before := ts.state()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, delay := range []time.Duration{0, 10, 30, 50, 65, 80, 100, 120} {
		t.Run(fmt.Sprint(int(delay)), func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), victimEnv+"="+ts.socket, victimEnv+"_TYPES=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			if line != "typing\n" {
				t.Fatalf("the victim says %q", line)
			}
			time.Sleep(delay * time.Millisecond) // chooses the point, decides nothing
			cmd.Process.Kill()
			cmd.Wait()
			eventually(t, "its clients to go", func() bool { return ts.run("list-clients") == "" })
			if delay != 30 { // the next daemon's start ends all, else the switch does
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				next, err := Open(ctx, Options{Socket: ts.socket})
				if err != nil {
					t.Fatal(err)
				}
				next.Close()
				if after := ts.state(); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
				return
			}
			eventually(t, "the switch", func() bool {
				for _, b := range strings.Fields(ts.run("list-buffers", "-F", "#{buffer_name}")) {
					if strings.HasPrefix(b, bufferPrefix) {
						ts.run("delete-buffer", "-b", b) // a start removes it
					}
				}
				return ts.state() == before
			})
		})
	}
}

// typer types for ever, with Holds; see victim.
func typer(ctx context.Context, s *Server) {
	in, _ := s.Pane("%0")
	fmt.Println("typing")
	for i := 0; ctx.Err() == nil; i++ {
		cursor := vtparse.Cursor{X: 0, Y: 1}
		w := Write{Identity: in.Identity, Cursor: &cursor, Paste: strings.Repeat("x", 100<<(i%10)), Hold: true}
		var no *Refused
		if _, err := s.Input(ctx, w); err != nil && !errors.As(err, &no) {
			return
		}
	}
}

// The server's own list of what a Hold is: nothing of it stays.
func TestHoldLeavesNothing(t *testing.T) {
	ts, s, read := logger(t, "")
	before := ts.state()
	in, _ := s.Pane("%0")
	for range 3 {
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "a", Hold: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
		t.Fatal(err)
	}
	if after := ts.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got := arrived(t, s, read); !bytes.Equal(got, []byte("aaa\r")) {
		t.Errorf("%q", got)
	}
}
