package lab

// The lab's own network. It upholds: whatever is started in a lab sees
// loopback only.

import (
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// network runs functions on one thread that lives in its own network
// namespace. A nil thread (not root) runs them where they are.
type network struct {
	calls chan func()
	quit  chan struct{}
	done  chan struct{}
}

// newNetwork enters a new namespace if we may, else returns one without.
func newNetwork() (*network, error) {
	n := &network{}
	if os.Geteuid() != 0 {
		return n, nil
	}
	n.calls, n.quit, n.done = make(chan func()), make(chan struct{}), make(chan struct{})
	ready := make(chan error)
	go func() {
		// Never unlocked: the thread is in another namespace and must end with
		// this goroutine.
		runtime.LockOSThread()
		defer close(n.done)
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		ready <- err
		if err != nil {
			return
		}
		for {
			select {
			case f := <-n.calls:
				f()
			case <-n.quit:
				return
			}
		}
	}()
	if err := <-ready; err != nil {
		<-n.done
		return &network{}, nil // a container without the right: the caller is told by isolated()
	}
	return n, nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	return nil
}

// isolated says whether the network really is ours alone.
func (n *network) isolated() bool { return n.calls != nil }

// do runs f in the namespace and waits for it. What f starts as a child
// process or makes as a socket stays in the namespace.
func (n *network) do(f func() error) error {
	if n.calls == nil {
		return f()
	}
	res := make(chan error, 1)
	select {
	case n.calls <- func() { res <- f() }:
		return <-res
	case <-n.done:
		return ErrClosed
	}
}

func (n *network) listen() (ln net.Listener, err error) {
	err = n.do(func() error {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	return ln, err
}

// close ends the thread; it is called once.
func (n *network) close() {
	if n.calls != nil {
		close(n.quit)
		<-n.done
	}
}
