package rawio

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is two ends of a connection.
func pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if a, err = net.Dial("unix", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// TestConn: what is written arrives; deadlines, the other end's close and our
// own are what they are on the connection itself.
func TestConn(t *testing.T) {
	a, b := pair(t)
	ra, rb := Conn(a), Conn(b)
	want := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	written := make(chan struct{})
	go func() {
		defer close(written)
		if n, err := ra.Write(want); n != len(want) || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(rb, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read: %v", err)
	}
	<-written
	_ = rb.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	if _, err := rb.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	_ = rb.SetReadDeadline(time.Time{})
	_ = ra.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)) // nobody reads
	if n, err := ra.Write(append(want, want...)); !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n >= 2*len(want) {
		t.Errorf("nobody reads: %d, %v", n, err)
	}
	ra.Close()
	if _, err := io.Copy(io.Discard, rb); err != nil {
		t.Errorf("to the end: %v", err)
	}
	if _, err := rb.Write(want); err == nil {
		t.Error("written to nobody")
	}
	ended := make(chan error, 1)
	c, d := pair(t)
	go func() {
		_, err := Conn(c).Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond) // it waits now, or soon
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed in a read: %v", err)
	}
	d.Close()
}

// TestWriteAll: pieces arrive in their order, more than one call can take and
// empty ones among them.
func TestWriteAll(t *testing.T) {
	for _, raw := range []bool{true, false} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if !raw {
			w.Fd() // makes it wait
		}
		var pieces [][]byte
		for i := range 300 {
			pieces = append(pieces, bytes.Repeat([]byte{byte(i)}, i*7%1000))
		}
		want := bytes.Join(pieces, nil)
		go func() {
			defer w.Close()
			if n, err := NewWriter(w).WriteAll(pieces...); n != len(want) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
		}()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
		}
		r.Close()
	}
}

// TestStdio: a pipe and a socket that wait in the system can be had for the
// poller and are afterwards as they were; a plain file stays what it is.
func TestStdio(t *testing.T) {
	waits := func(f *os.File) bool {
		raw, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var flags int
		if cerr := raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); cerr != nil || err != nil {
			t.Fatal(cerr, err)
		}
		return flags&unix.O_NONBLOCK == 0
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	s, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		in, out *os.File
		shares  bool
	}{
		{"pipe", os.NewFile(uintptr(p[0]), "r"), os.NewFile(uintptr(p[1]), "w"), false},
		{"socket", os.NewFile(uintptr(s[0]), "a"), os.NewFile(uintptr(s[1]), "b"), true},
	} {
		in, undoIn := Stdio(c.in)
		out, undoOut := Stdio(c.out)
		if in == c.in || out == c.out || waits(in) || waits(out) {
			t.Fatalf("%s: still waits in the system", c.what)
		}
		if waits(c.in) == c.shares {
			t.Errorf("%s: the original waits: %v", c.what, waits(c.in))
		}
		r := Reader(in)
		if _, ok := r.(*reader); !ok {
			t.Errorf("%s: %T", c.what, r)
		}
		go func() {
			_, _ = NewWriter(out).WriteAll([]byte("hel"), []byte("lo"))
		}()
		got := make([]byte, 5)
		if _, err := io.ReadFull(r, got); err != nil || string(got) != "hello" {
			t.Errorf("%s: %q, %v", c.what, got, err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := r.Read(got)
			ended <- err
		}()
		time.Sleep(5 * time.Millisecond) // it waits now, or soon
		undoOut()
		undoIn() // ends the read
		if err := <-ended; err == nil {
			t.Errorf("%s: read on", c.what)
		}
		if !waits(c.in) || !waits(c.out) {
			t.Errorf("%s: does not wait in the system any more", c.what)
		}
		if _, err := c.out.WriteString("bye"); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if n, err := c.in.Read(got); err != nil || string(got[:n]) != "bye" {
			t.Errorf("%s: afterwards %q, %v", c.what, got[:n], err)
		}
		c.in.Close()
		c.out.Close()
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if g, undo := Stdio(f); g != f {
		t.Error("a plain file became another")
	} else {
		undo()
	}
}
