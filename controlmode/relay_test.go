package controlmode

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// tmux 4980, 5004: a notification that meets a half attached control client
// ends a server before 3.8. Ours are whole at once: many attach, and some are
// killed while they do, in a storm of notifications.
func TestAttachInAStorm(t *testing.T) {
	s := newServer(t)
	storm, _ := attach(t, s, "a")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			done := make(chan error, 1)
			storm.Do(Command{Line: "rename-window -t a: w" + strconv.Itoa(i), Blocks: 1, Done: func(_ []Reply, err error) { done <- err }})
			select {
			case err := <-done:
				if err != nil {
					return
				}
			case <-stop:
				return
			}
		}
	}()
	for i := range 60 {
		l := newListener()
		c, err := Start(Config{Tmux: s.tmux, Socket: s.socket, Session: "a", Env: s.env(), Handler: l})
		if err != nil {
			t.Fatal(err)
		}
		// A busy machine takes the client off the CPU somewhere on its way.
		time.Sleep(time.Duration(i) * 100 * time.Microsecond)
		c.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(10 * time.Millisecond)
		c.cmd.Process.Signal(syscall.SIGCONT)
		if i%5 == 4 {
			c.cmd.Process.Kill()
		} else if a := get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1})); a.err != nil {
			t.Fatalf("client %d: %v", i, a.err)
		}
		c.Close()
		gone(t, c)
	}
	close(stop)
	<-stopped
	if got := s.run("display-message", "-p", "lives"); got != "lives" {
		t.Errorf("the server says %q", got)
	}
}

// said is a message as a client says it.
func said(kind uint32, fd bool, text string) []byte {
	b := binary.NativeEndian.AppendUint32(nil, kind)
	b = binary.NativeEndian.AppendUint16(b, uint16(headSize+len(text)))
	mark := uint16(0)
	if fd {
		mark = 1
	}
	b = binary.NativeEndian.AppendUint16(b, mark)
	return append(append(b, make([]byte, 8)...), text...)
}

// What a client says is put in order, wherever it is cut; what is not a
// client's is left to pass as it came.
func TestIdentityIsWhole(t *testing.T) {
	flags, long, term := said(identifyFlags, false, "flag"), said(identifyLongFlags, false, "longflag"), said(101, false, "xterm\x00")
	in, out, end, command := said(104, true, ""), said(110, true, ""), said(identifyDone, false, ""), said(200, false, "attach")
	all := bytes.Join([][]byte{long, flags, term, in, out, term, end, command}, nil)
	want := [][]byte{bytes.Join([][]byte{term}, nil), in, out, term, bytes.Join([][]byte{long, flags, end, command}, nil)}
	for cut := 1; cut < len(all); cut++ {
		var d identity
		done, err := d.add(piece{data: all[:cut:cut], fds: []int{-3, -4}})
		if !done && err == nil {
			done, err = d.add(piece{data: all[cut:]})
		}
		// A piece that ended right behind the last message leaves the rest to come.
		rest := []byte(nil)
		if cut >= len(all)-len(command) {
			rest = all[cut:]
		}
		if err != nil || !done {
			t.Fatalf("cut at %d: %v, %v", cut, done, err)
		}
		got := d.pieces()
		got[len(got)-1].data = append(got[len(got)-1].data, rest...)
		if len(got) != len(want) {
			t.Fatalf("cut at %d: %d pieces", cut, len(got))
		}
		for i, p := range got {
			if !bytes.Equal(p.data, want[i]) {
				t.Errorf("cut at %d: piece %d is %q, want %q", cut, i, p.data, want[i])
			}
			if fd := map[int]int{1: -3, 2: -4}[i]; fd != 0 && (len(p.fds) != 1 || p.fds[0] != fd) {
				t.Errorf("cut at %d: piece %d brings %v", cut, i, p.fds)
			}
		}
	}
	for name, b := range map[string][]byte{"a command": command, "no head": []byte("GET / HTTP/1.1\r\n\r\n"), "a size of nothing": make([]byte, headSize), "no descriptor": in} {
		var d identity
		if done, err := d.add(piece{data: b}); done || err == nil {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	f.Add(append(said(identifyLongFlags, false, "f"), said(identifyDone, false, "")...), 3)
	f.Add(said(104, true, ""), 0)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		var d identity
		done, err := d.add(piece{data: b[:cut:cut]})
		if !done && err == nil {
			done, _ = d.add(piece{data: b[cut:]})
		}
		n := 0
		for _, p := range d.pieces() {
			n += len(p.data)
		}
		if done && cut < len(b) && n > len(b) || n > len(b) {
			t.Errorf("%d bytes became %d", len(b), n)
		}
	})
}

// Nothing of a connection is in the file system once it stands.
func TestRelayLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := newServer(t)
	c, _ := attach(t, s, "a")
	get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1}))
	left, err := filepath.Glob(filepath.Join(dir, "akk-attach-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	// One that never starts leaves nothing either.
	if c, err := Start(Config{Tmux: "/nonexistent", Socket: s.socket, Session: "a", Handler: newListener()}); err == nil {
		c.Close()
		t.Error("what is not there was started")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "akk-attach-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Without a place for a relay the client attaches by itself.
func TestAttachWithoutARelay(t *testing.T) {
	s := newServer(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	c, _ := attach(t, s, "a")
	if c.way != nil {
		t.Error("there is a relay")
	}
	if a := get(t, ask(c, Command{Line: "display-message -p x", Blocks: 1})); a.err != nil || a.r[0].Text() != "x" {
		t.Errorf("%+v", a)
	}
}
