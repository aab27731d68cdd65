package controlmode

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// This file attaches a client in one moment. A tmux client says who it is in
// some twenty messages; between the one that makes it a control client and the
// last one any notification kills a server before 3.8 (4980, 5004), and on a
// busy machine that takes tenths of a second. So a client of ours is connected
// to us, and what it says goes on to the server only when it is whole: the
// flags and the end in one piece, which the server reads and handles at once.
// After that the few messages between the two pass unchanged; the protocol of
// this package does not come this way (the server reads the client's own
// standard input). One of them may not: a client that was thrown out says that
// it goes, and some servers end of it (3776); there the connection just ends.
// Rule: what is not understood passes as it came.

// Numbers of tmux-protocol.h; they have been the same since 2.1.
const (
	identifyFlags     = 100
	identifyDone      = 106
	identifyLongFlags = 111
	exited            = 204 // the server's answer to exiting
	exiting           = 205
)

const (
	// headSize is a message's head: type, size and mark, two ids; 32 bits each.
	headSize = 16
	// maxIdentify bounds what a client may say before it is done, in bytes.
	maxIdentify = 1 << 20
	// maxRights is how many descriptors one piece may bring.
	maxRights = 8
)

// relay is one client's way to its server.
type relay struct {
	dir, socket string
	skipDead    bool // as in Config
	ln          *net.UnixListener
	mu          sync.Mutex
	conns       []*net.UnixConn
	closed      bool
	work        sync.WaitGroup
}

// newRelay listens at a place that only this user may reach. nil: there is no
// such place (no room for temporary files), the client goes by itself.
func newRelay(socket string, skipDead bool) *relay {
	dir, err := os.MkdirTemp("", "akk-attach-")
	if err != nil {
		return nil
	}
	r := &relay{dir: dir, socket: socket, skipDead: skipDead}
	if r.ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: r.path(), Net: "unix"}); err != nil {
		os.RemoveAll(dir)
		return nil
	}
	r.work.Go(r.run)
	return r
}

func (r *relay) path() string { return filepath.Join(r.dir, "s") }

// close ends it; all that was to pass has passed when the client has ended.
func (r *relay) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	conns := r.conns
	r.mu.Unlock()
	r.ln.Close()
	for _, c := range conns {
		c.Close()
	}
	r.work.Wait()
	os.RemoveAll(r.dir)
}

// keep notes a connection, so that close ends it.
func (r *relay) keep(c *net.UnixConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
		return false
	}
	r.conns = append(r.conns, c)
	return true
}

func (r *relay) run() {
	client, err := r.ln.AcceptUnix()
	if err != nil {
		return
	}
	r.ln.Close()
	os.RemoveAll(r.dir) // so that a kill -9 of ours leaves nothing either
	defer client.Close()
	if !r.keep(client) {
		return
	}
	pieces, err := collect(client)
	defer func() {
		for i := range pieces {
			pieces[i].release()
		}
	}()
	if err != nil {
		return // nothing of half a client reaches the server
	}
	server, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: r.socket, Net: "unix"})
	if err != nil {
		return
	}
	defer server.Close()
	if !r.keep(server) {
		return
	}
	for i := range pieces {
		if pieces[i].send(server) != nil {
			return
		}
	}
	back := make(chan struct{})
	go func() { defer close(back); pass(client, server, nil) }()
	var leaves func(piece) bool
	if r.skipDead {
		leaves = piece.leaves
	}
	pass(server, client, leaves)
	<-back
}

// piece is what goes out at once.
type piece struct {
	data []byte
	fds  []int
}

func (p *piece) send(to *net.UnixConn) error {
	var rights []byte
	if len(p.fds) > 0 {
		rights = unix.UnixRights(p.fds...)
	}
	n, _, err := to.WriteMsgUnix(p.data, rights, nil)
	if err == nil && n < len(p.data) {
		_, err = to.Write(p.data[n:])
	}
	return err
}

func (p *piece) release() {
	for _, fd := range p.fds {
		unix.Close(fd)
	}
	p.fds = nil
}

// receive reads one piece; the caller releases it, also with an error.
func receive(from *net.UnixConn, buf []byte) (piece, error) {
	oob := make([]byte, unix.CmsgSpace(4*maxRights))
	n, on, _, _, err := from.ReadMsgUnix(buf, oob)
	p := piece{data: buf[:max(n, 0)]}
	if messages, perr := unix.ParseSocketControlMessage(oob[:max(on, 0)]); perr == nil {
		for i := range messages {
			if fds, perr := unix.ParseUnixRights(&messages[i]); perr == nil {
				p.fds = append(p.fds, fds...)
			}
		}
	}
	return p, err
}

// leaves turns a client's word that it goes into the server's answer to it;
// false: it is something else.
func (p piece) leaves() bool {
	if len(p.data) != headSize || len(p.fds) > 0 || binary.NativeEndian.Uint32(p.data) != exiting || binary.NativeEndian.Uint16(p.data[4:]) != headSize {
		return false
	}
	binary.NativeEndian.PutUint32(p.data, exited)
	return true
}

// pass hands on until one end closes. A piece for which leaves, if given, is true
// goes back instead, and is the last one.
func pass(to, from *net.UnixConn, leaves func(piece) bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 16<<10)
	for {
		p, err := receive(from, buf)
		if leaves != nil && err == nil && leaves(p) {
			p.send(from)
			return
		}
		if len(p.data) > 0 && err == nil {
			err = p.send(to)
		}
		p.release()
		if err != nil {
			return
		}
	}
}

// errForeign is the reason to let everything pass as it came.
var errForeign = errors.New("not what a tmux client says")

// collect reads until the client is done with saying who it is, and returns it
// in the order in which it may go out.
func collect(client *net.UnixConn) ([]piece, error) {
	client.SetReadDeadline(time.Now().Add(deadline))
	defer client.SetReadDeadline(time.Time{})
	var came []piece
	var said identity
	for size := 0; size < maxIdentify; {
		p, err := receive(client, make([]byte, 16<<10))
		came = append(came, p)
		size += len(p.data)
		if err != nil {
			return came, err
		}
		done, err := said.add(p)
		if done {
			return said.pieces(), nil
		}
		if err != nil {
			break
		}
	}
	return came, nil
}

// identity is what a client has said so far.
type identity struct {
	rest  []byte // not a whole message yet, or behind the last one
	fds   []int  // not taken by a message yet
	first []piece
	last  []byte // flags, and the end
}

// add takes a piece; done when the last message is there.
func (d *identity) add(p piece) (done bool, err error) {
	d.rest, d.fds = append(d.rest, p.data...), append(d.fds, p.fds...)
	for len(d.rest) >= headSize {
		kind := binary.NativeEndian.Uint32(d.rest)
		size, mark := int(binary.NativeEndian.Uint16(d.rest[4:])), binary.NativeEndian.Uint16(d.rest[6:])
		if size < headSize || kind < identifyFlags || kind >= 2*identifyFlags {
			return false, errForeign
		}
		if len(d.rest) < size {
			return false, nil
		}
		m := d.rest[:size:size]
		d.rest = d.rest[size:]
		switch {
		case kind == identifyDone:
			d.last = append(d.last, m...)
			return true, nil
		case kind == identifyFlags || kind == identifyLongFlags:
			d.last = append(d.last, m...)
		case mark != 0: // brings a descriptor
			if len(d.fds) == 0 {
				return false, errForeign
			}
			d.first = append(d.first, piece{m, d.fds[:1:1]})
			d.fds = d.fds[1:]
		case len(d.first) == 0 || len(d.first[len(d.first)-1].fds) > 0:
			d.first = append(d.first, piece{data: m})
		default:
			l := &d.first[len(d.first)-1]
			l.data = slices.Concat(l.data, m)
		}
	}
	return false, nil
}

// pieces is all of it: flags and end last, in one, with what came behind.
func (d *identity) pieces() []piece {
	return append(d.first, piece{append(d.last, d.rest...), d.fds})
}
