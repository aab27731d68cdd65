package rawio

import (
	"bytes"
	"errors"
	"fmt"
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

// TestStdio: a pipe and a socket are had for the poller; who shares them finds
// them as they were, and what he makes of their flags holds nobody up.
func TestStdio(t *testing.T) {
	for _, shares := range []bool{false, true} { // with one that reads them without waiting
		for _, what := range []string{"pipe", "socket", "one socket"} {
			t.Run(fmt.Sprint(what, shares), func(t *testing.T) { stdio(t, what, shares) })
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, undo := Stdio(f)
	defer undo()
	if r := Reader(g); r != io.Reader(g) {
		t.Errorf("a plain file became %T", r)
	}
}

func stdio(t *testing.T, what string, nonblock bool) {
	var p [2]int
	var err error
	if what == "pipe" {
		err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	} else {
		p, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, b := os.NewFile(uintptr(p[0]), "r"), os.NewFile(uintptr(p[1]), "w")
	defer a.Close()
	defer b.Close()
	flag := func(on bool) {
		for _, fd := range p {
			if err := unix.SetNonblock(fd, on); err != nil {
				t.Fatal(err)
			}
		}
	}
	flag(nonblock)
	in, undoIn := Stdio(a)
	out, undoOut := Stdio(b)
	if what == "one socket" { // both ways on each end
		if g, undo := Stdio(a); Reader(g) == io.Reader(g) {
			t.Errorf("the second of one socket: %T", g)
		} else {
			undo()
		}
	}
	for _, fd := range p {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 != nonblock {
			t.Errorf("flags %#x, %v", flags, err)
		}
	}
	r := Reader(in)
	if _, ok := r.(*reader); !ok {
		t.Fatalf("%T", r)
	}
	flag(!nonblock) // who shares them does as he likes
	want := bytes.Repeat([]byte("hello"), 200_000)
	wrote := make(chan error, 1)
	go func() {
		_, err := NewWriter(out).WriteAll(want[:5], want[5:])
		wrote <- err
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read: %v", err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
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
		t.Error("read on")
	}
	if _, err := b.WriteString("bye"); err != nil {
		t.Error(err)
	}
	if n, err := a.Read(got); err != nil || string(got[:n]) != "bye" {
		t.Errorf("afterwards %q, %v", got[:n], err)
	}
}

// TestUnwatched: a file that the poller does not get waits all the same when a
// sharer says that it must not.
func TestUnwatched(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	g, undo := Stdio(f)
	defer undo()
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("hello"), 100_000)
	wrote := make(chan error, 1)
	go func() {
		time.Sleep(20 * time.Millisecond) // the reader finds nothing first
		_, err := NewWriter(g).WriteAll(want[:7], want[7:])
		wrote <- err
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(Reader(g), got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read: %v", err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}
