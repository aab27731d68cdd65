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
	"sync"
	"testing"
	"time"

	"akk/vtparse"
)

// This file looks at the input gate from the other side: a program in the pane
// writes down every byte that it reads.

// logger starts a server whose pane %0 writes what it reads into a file.
// before is written to the terminal first ("\x1b[?2004h").
func logger(t *testing.T, before string) (*tmuxServer, *Server, func() []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bytes")
	ts := newTmux(t, "sh", "-c", fmt.Sprintf("stty raw -echo; printf '%s'; echo READY; exec cat >'%s'", before, file))
	s := openServer(t, ts)
	waitScreen(t, s, "%0", shows("READY"))
	return ts, s, func() []byte {
		b, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return b
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond) // a file tells nobody when it grows
	}
}

// arrived types a last byte behind everything and waits for it.
func arrived(t *testing.T, s *Server, read func() []byte) []byte {
	t.Helper()
	in, _ := s.Pane("%0")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte{0xfe}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the last byte", func() bool { return bytes.HasSuffix(read(), []byte{0xfe}) })
	b := read()
	return b[:len(b)-1]
}

func TestAllBytesAreExact(t *testing.T) {
	_, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	sent, err := s.Input(within(t), Write{Identity: in.Identity, Keys: all})
	if err != nil || sent.Bytes != 256 {
		t.Fatal(sent, err)
	}
	if got := arrived(t, s, read); !bytes.Equal(got, all) {
		t.Errorf("%q", got)
	}
}

// B8, B10, B11, B17, B20, B22: long texts, odd texts, with the markers that
// the application asked for before we came.
func TestTextIsExact(t *testing.T) {
	_, s, read := logger(t, `\033[?2004h`)
	in, _ := s.Pane("%0")
	var want bytes.Buffer
	for _, text := range []string{"a", "-l", "--help", "-----BEGIN KEY-----", "x;", ";", "  two  spaces \t tab ", "line\nline\n", `'"$HOME\n#{pane_id}#(date)%1`, "{}~", "é😀👩‍🚀",
		strings.Repeat("0123456789abcde\n", 1<<6), strings.Repeat("x", 17<<10), strings.Repeat("日本語 text;\n", 6000), strings.Repeat("0123456789abcde\n", 1<<16)} {
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text}); err != nil {
			t.Fatalf("%.30q of %d bytes: %v", text, len(text), err)
		}
		want.WriteString("\x1b[200~" + text + "\x1b[201~")
	}
	got := arrived(t, s, read)
	if !bytes.Equal(got, want.Bytes()) {
		i := 0
		for i < min(len(got), want.Len()) && got[i] == want.Bytes()[i] {
			i++
		}
		t.Errorf("%d bytes instead of %d, first difference at %d: %.40q", len(got), want.Len(), i, got[i:])
	}
}

func TestNoMarkersUnasked(t *testing.T) {
	_, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "plain"}); err != nil {
		t.Fatal(err)
	}
	if got := arrived(t, s, read); string(got) != "plain" {
		t.Errorf("%q", got)
	}
}

// B23: what could steer the terminal is refused with its place; B37's and the
// lab's cases of a pane that must not be typed into: zero bytes.
func TestRefusalsTypeNothing(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	for _, bad := range []string{"\x1b", "ok\x03", "ab\x1b[201~c", "\x00", "\x04", "cr\r", "\x7f", "c1 \u009b201~", "\xff\xfe", strings.Repeat("x", 8<<20)} {
		refused(t, s, Write{Identity: in.Identity, Paste: bad}, "text")
	}
	refused(t, s, Write{Identity: in.Identity}, "text")
	refused(t, s, Write{Identity: in.Identity, Paste: "a", Keys: []byte("b")}, "text")
	cur := &vtparse.Cursor{X: 7, Y: 9}
	refused(t, s, Write{Identity: in.Identity, Cursor: cur, Paste: "x"}, "cursor")
	other := in.Identity
	other.PanePID++
	refused(t, s, Write{Identity: other, Paste: "x"}, "identity")
	other = in.Identity
	other.PaneBorn = other.PaneBorn.Add(-time.Hour)
	refused(t, s, Write{Identity: other, Paste: "x"}, "identity")
	other = in.Identity
	other.Server.Start = other.Server.Start.Add(time.Second)
	refused(t, s, Write{Identity: other, Paste: "x"}, "identity")
	other = in.Identity
	other.Pane = "%7"
	if _, err := s.Input(within(t), Write{Identity: other, Paste: "x"}); err == nil {
		t.Error("typed into a pane that is not there")
	}
	for _, how := range []Write{{Identity: in.Identity, Paste: "x"}, {Identity: in.Identity, Keys: []byte("x")}} {
		ts.run("copy-mode", "-t", "%0")
		refused(t, s, how, "mode")
		ts.run("send-keys", "-t", "%0", "-X", "cancel")
		ts.run("set-option", "-w", "-t", "%0", "synchronize-panes", "on")
		refused(t, s, how, "synchronized")
		ts.run("set-option", "-wu", "-t", "%0", "synchronize-panes")
		ts.run("select-pane", "-d", "-t", "%0")
		refused(t, s, how, "input_off")
		if ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}") != "1" {
			t.Error("a refusal lifted a human's lock")
		}
		ts.run("select-pane", "-e", "-t", "%0")
	}
	if got := ts.run("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
	if got := arrived(t, s, read); len(got) != 0 {
		t.Errorf("the program read %q", got)
	}
}

// A lock never outlives us: kill -9 between a text and its Enter.
func TestKilledWhileHolding(t *testing.T) {
	ts, s, _ := logger(t, "")
	s.Close()
	before := ts.state()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimEnv+"="+ts.socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "holding\n" {
		t.Fatalf("the victim says %q", line)
	}
	if got := ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}"); got != "1" {
		t.Fatalf("input off is %q while held", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "the lock to go by itself", func() bool {
		return ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}") == "0"
	})
	eventually(t, "the clients to go", func() bool { return ts.run("list-clients") == "" })
	if after := ts.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A text that a crash left in a buffer is removed at the next start.
func TestStaleBuffersAreRemoved(t *testing.T) {
	ts := newTmux(t, "cat")
	ts.run("set-buffer", "-b", bufferPrefix+"dead-1", "a prompt")
	ts.run("set-buffer", "-b", "mine", "a human's")
	openServer(t, ts)
	eventually(t, "only the human's buffer is left", func() bool { return ts.run("list-buffers", "-F", "#{buffer_name}") == "mine" })
}

// A human types 200 keys a second on a real client: 1,000 writes (500 texts,
// held, and their 500 keys; fewer in the suite) are each in one piece, without a key of the human
// within; what is refused in between says why and leaves no byte.
func TestHumanTypesAllTheTime(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	h := attachHuman(t, ts, 24, 80)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	typed := 0
	wg.Go(func() {
		const gap = 5 * time.Millisecond
		tick := time.NewTicker(gap)
		defer tick.Stop()
		for began := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C: // on a busy machine some come together
				due := int(time.Since(began)/gap) - typed
				if n, err := h.tty.Write(bytes.Repeat([]byte("h"), due)); err == nil {
					typed += n
				}
			}
		}
	})
	eventually(t, "the human's keys", func() bool { return bytes.Contains(read(), []byte("hh")) })
	rounds := 100 // in the suite; `make chaos-mirror` does all
	if os.Getenv(chaosTimeEnv) != "" {
		rounds = 500
	}
	refusals := 0
	for i := range rounds {
		text := fmt.Sprintf("<%03d some text of ours>", i)
		if i%10 == 0 {
			wrong := Write{Identity: in.Identity, Cursor: &vtparse.Cursor{X: 79, Y: 23}, Paste: "NEVER", Hold: i%20 == 0}
			refused(t, s, wrong, "cursor")
			wrong = Write{Identity: in.Identity, Shows: []string{"not on the screen"}, Keys: []byte("NEVER")}
			refused(t, s, wrong, "screen")
			refusals += 2
		}
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: text, Hold: true}); err != nil {
			t.Fatal(i, err)
		}
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r")}); err != nil {
			t.Fatal(i, err)
		}
	}
	stop()
	wg.Wait()
	h.leave()
	got := arrived(t, s, read)
	for i := range rounds {
		if want := fmt.Sprintf("<%03d some text of ours>\r", i); bytes.Count(got, []byte(want)) != 1 {
			t.Errorf("%q is not there once, in one piece", want)
		}
	}
	if rest := bytes.Count(got, []byte("h")); bytes.Contains(got, []byte("NEVER")) || len(got) != rest+rounds*len("<000 some text of ours>\r") {
		t.Errorf("%d bytes, of which %d are the human's", len(got), rest)
	}
	if off := ts.inputOff("%0"); off != "0" {
		t.Errorf("input off is %q", off)
	}
	t.Logf("%d writes, %d refusals, %d keys of the human", 2*rounds, refusals, typed)
}

// Release ends a Hold at once, and Close leaves no lock.
func TestReleaseAndClose(t *testing.T) {
	ts, s, _ := logger(t, "")
	in, _ := s.Pane("%0")
	off := func() string { return ts.run("display-message", "-p", "-t", "%0", "#{pane_input_off}") }
	hold := func() {
		t.Helper()
		if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "x", Hold: true}); err != nil {
			t.Fatal(err)
		}
		if off() != "1" {
			t.Fatal("not locked")
		}
	}
	hold()
	if err := s.Release(within(t), "%0"); err != nil || off() != "0" {
		t.Errorf("release: %v, input off %s", err, off())
	}
	hold()
	s.Close()
	if off() != "0" {
		t.Error("Close left the pane locked")
	}
}

// Two daemons can't type into one server.
func TestSecondDaemonMayNotType(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	ctx := within(t)
	second, err := Open(ctx, Options{Socket: ts.socket, Owner: "second"})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	refused(t, second, Write{Identity: in.Identity, Paste: "no"}, "owner")
	if _, err := s.Input(ctx, Write{Identity: in.Identity, Paste: "yes"}); err != nil {
		t.Error(err)
	}
	if got := arrived(t, s, read); string(got) != "yes" {
		t.Errorf("%q", got)
	}
	s.Close()
	if _, err := second.Input(ctx, Write{Identity: in.Identity, Paste: "now"}); err != nil {
		t.Errorf("after the first has left: %v", err)
	}
}

// What the caller asks in the last moment says no: behind the lock, before a
// byte. Neither a lock nor a buffer is left; a Hold of an earlier write stays.
func TestAskedInTheLastMoment(t *testing.T) {
	ts, s, read := logger(t, "")
	in, _ := s.Pane("%0")
	sc, err := s.Screen("%0")
	if err != nil {
		t.Fatal(err)
	}
	locked := ""
	refuse := func() error { locked = s.mirrors["%0"].hold; return errors.New("it is another program") }
	for name, w := range map[string]Write{
		"a text":            {Paste: "text"},
		"a text with proof": {Paste: "text", Hold: true, Cursor: &sc.Cursor},
		"a key":             {Keys: []byte("\r"), Cursor: &sc.Cursor},
	} {
		w.Identity, w.Still = in.Identity, refuse
		locked = ""
		_, err := s.Input(within(t), w)
		var no *Refused
		if !errors.As(err, &no) || no.Reason != "identity" || !strings.Contains(no.Detail, "another program") {
			t.Errorf("%s: %v", name, err)
		}
		if (locked != "") != w.Hold {
			t.Errorf("%s: the lock was %q when it was asked", name, locked)
		}
		if ts.inputOff("%0") != "0" {
			t.Errorf("%s: the pane is locked", name)
		}
	}
	asked := 0
	yes := func() error { asked++; return nil }
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Paste: "one", Hold: true, Still: yes}); err != nil || asked != 1 {
		t.Fatal(err, asked)
	}
	if _, err := s.Input(within(t), Write{Identity: in.Identity, Keys: []byte("\r"), Still: refuse}); err == nil {
		t.Error("Enter was pressed")
	}
	if ts.inputOff("%0") != "1" {
		t.Error("the earlier write's Hold was ended")
	}
	if err := s.Release(within(t), "%0"); err != nil {
		t.Fatal(err)
	}
	if left := ts.run("list-buffers"); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
	if got := arrived(t, s, read); string(got) != "one" {
		t.Errorf("%q", got)
	}
}
