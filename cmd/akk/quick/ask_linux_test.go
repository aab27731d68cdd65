package quick

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listener is a daemon that is none: it says exactly that to whoever comes.
func listener(t *testing.T, say string, stay bool) talk {
	t.Helper()
	dir := shortDir(t)
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, say)
		if stay {
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return talk{daemon: filepath.Join(dir, "s"), store: "/s", tmux: "/a"}
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkq")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Issue 6: a daemon that answers nonsense, half, too much or nothing gets no
// word printed: quick steps back, and ends by itself.
func TestStepsBack(t *testing.T) {
	hello, list := helloLine+"\n", listHead+`{"a":"`+strings.Repeat("x", 700_000)+`"}}`+"\n"
	for name, c := range map[string]struct {
		say  string
		stay bool
		want bool
	}{
		"all":           {hello + serversLine + "\n" + list, true, true},
		"list first":    {hello + list + serversLine + "\n", false, true},
		"nonsense":      {"HTTP/1.1 400 Bad Request\n\n", true, false},
		"no hello":      {serversLine + "\n" + list, true, false},
		"hello twice":   {hello + hello + list, true, false},
		"list twice":    {hello + list + list, true, false},
		"notified":      {hello + `{"jsonrpc":"2.0","method":"end","params":{"stream":3}}` + "\n" + serversLine + "\n" + list, true, false},
		"error":         {hello + serversLine + "\n" + `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}` + "\n", true, false},
		"empty line":    {hello + "\n" + serversLine + "\n" + list, true, false},
		"half a line":   {hello + serversLine + "\n" + list[:9_000], false, false},
		"half, silent":  {hello + serversLine + "\n" + list[:9_000], true, false},
		"too long":      {hello + serversLine + "\n" + listHead + `{"a":"` + strings.Repeat("x", maxLine) + `"}}` + "\n", false, false},
		"closes":        {"", false, false},
		"only hello":    {hello, false, false},
		"other version": {strings.Replace(hello, `"dev"`, `"dev2"`, 1) + serversLine + "\n" + list, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, ok := listener(t, c.say, c.stay).ask()
			if ok != c.want || ok && string(got) != list[len(listHead):len(list)-2] {
				t.Fatalf("%v, %d bytes", ok, len(got))
			}
			if took := time.Since(began); took > 10*patience {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Issue 6: nobody listens.
func TestNoDaemon(t *testing.T) {
	if _, ok := (talk{daemon: filepath.Join(shortDir(t), "none")}).ask(); ok {
		t.Fatal("somebody answered")
	}
	if _, ok := (talk{daemon: "/" + strings.Repeat("x", 200)}).ask(); ok {
		t.Fatal("somebody answered")
	}
}

// Issue 6: a daemon of another user is not asked.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can listen as somebody else")
	}
	path := filepath.Join(shortDir(t), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // it ends with its thread, whose user is changed
		const keep, nobody = ^uintptr(0), 65534
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, nobody, keep); e != 0 {
			done <- e
			return
		}
		done <- syscall.Listen(fd, 1)
	}()
	if err := <-done; err != nil {
		t.Skip(err)
	}
	said := make(chan int, 1)
	go func() {
		c, _, err := syscall.Accept(fd)
		if err != nil {
			said <- -1
			return
		}
		defer syscall.Close(c)
		n, _ := syscall.Read(c, make([]byte, 10))
		said <- n
	}()
	if _, ok := (talk{daemon: path, store: "/s", tmux: "/a"}).ask(); ok {
		t.Fatal("it was asked")
	}
	if n := <-said; n != 0 {
		t.Fatalf("it was told %d bytes", n)
	}
}
