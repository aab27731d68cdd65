package panes

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"akk/vtparse/cast"
)

// This file fills the panes of chaos: recordings of real agents, noise, floods.
// The bytes are written to the pane's terminal from here, so that all writers
// can be stopped at once and the server's screens stand still.

// The programs of the panes; the number tells what is written to the terminal.
const (
	runRecording = "stty raw -echo; exec sleep 990001"
	runNoise     = "stty raw -echo; exec sleep 990002"
	runShell     = "exec sh"
)

// pane is what the list tells a player.
type chaosPane struct {
	id, tty, pid, start string
	dead                bool
}

type player struct {
	pane chaosPane
	tty  *os.File
	quit chan struct{}
	over sync.WaitGroup
}

// players writes into panes; pause holds all of them between two writes.
type players struct {
	t     testing.TB
	seed  uint64
	casts [][]cast.Event
	pause sync.RWMutex
	all   map[string]*player
}

func newPlayers(t testing.TB, seed uint64) *players {
	ps := &players{t: t, seed: seed, all: map[string]*player{}}
	for _, glob := range []string{"../testdata/demo/*.cast.gz", "../vtparse/testdata/recordings/*.cast.gz"} {
		files, _ := filepath.Glob(glob)
		for _, name := range files {
			ps.casts = append(ps.casts, readCast(t, name))
		}
	}
	if len(ps.casts) < 4 {
		t.Fatal("the recordings of agents are missing")
	}
	return ps
}

func readCast(t testing.TB, name string) []cast.Event {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cast.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	var out []cast.Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if e.Kind == cast.Output {
			out = append(out, e)
		}
	}
}

// fit starts a player in every pane that has none. list is asked again after
// the terminals were opened: a name like /dev/pts/7 may be somebody else's by
// then, but not while its pane lives.
func (ps *players) fit(list func() map[string]chaosPane) {
	now := list()
	for id, p := range ps.all {
		if c, ok := now[id]; !ok || c != p.pane {
			p.stop()
			delete(ps.all, id)
		}
	}
	opened := map[string]*os.File{}
	for id, c := range now {
		if ps.all[id] == nil && !c.dead && (strings.Contains(c.start, runRecording) || strings.Contains(c.start, runNoise)) {
			if f, err := os.OpenFile(c.tty, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0); err == nil {
				opened[id] = f
			}
		}
	}
	if len(opened) == 0 {
		return
	}
	again := list()
	for id, f := range opened {
		c := now[id]
		if again[id] != c {
			f.Close()
			continue
		}
		p := &player{pane: c, tty: f, quit: make(chan struct{})}
		ps.all[id] = p
		var n uint64
		fmt.Sscanf(id, "%%%d", &n)
		rnd := rand.New(rand.NewPCG(ps.seed, n))
		if strings.Contains(c.start, runRecording) {
			events := ps.casts[rnd.IntN(len(ps.casts))]
			p.over.Go(func() { ps.replay(p, events, rnd) })
		} else {
			p.over.Go(func() { ps.noise(p, rnd) })
		}
	}
}

func (p *player) stop() {
	close(p.quit)
	p.tty.SetWriteDeadline(time.Now())
	p.over.Wait()
	p.tty.Close()
}

func (ps *players) stop() {
	for _, p := range ps.all {
		close(p.quit)
	}
	for _, p := range ps.all {
		p.tty.SetWriteDeadline(time.Now())
		p.over.Wait()
		p.tty.Close()
	}
	ps.all = map[string]*player{}
}

// write hands a chunk to the terminal; a server that stands still makes it
// give up, not wait for ever.
func (ps *players) write(p *player, data []byte) bool {
	ps.pause.RLock()
	defer ps.pause.RUnlock()
	select {
	case <-p.quit:
		return false
	default:
	}
	p.tty.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, err := p.tty.Write(data)
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

func (p *player) rest(d time.Duration) bool {
	select {
	case <-p.quit:
		return false
	case <-time.After(d):
		return true
	}
}

// replay plays a recording again and again, its pauses cut short.
func (ps *players) replay(p *player, events []cast.Event, rnd *rand.Rand) {
	at := 0.0
	for i := rnd.IntN(len(events)); ; i++ {
		e := events[i%len(events)]
		t := e.Time.Seconds()
		if !p.rest(time.Duration(min(max(t-at, 0.005), 0.2) * float64(time.Second))) {
			return
		}
		at = t
		if !ps.write(p, []byte(e.Data)) {
			return
		}
	}
}

// noises are what full-screen programs and shells write, the state that no
// tmux tells included: pens, charsets, saved cursors, regions.
var noises = []string{
	"plain words ", "\r\n", "\r\n\r\n", "\t", "\b", "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[5;10H", "\x1b[3A", "\x1b[7C",
	"\x1b[31m", "\x1b[38;5;200m", "\x1b[48;2;10;20;30m", "\x1b[1;3;4m", "\x1b[7m", "\x1b[m", "\x1b[2m", "\x1b[9m",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b[?25h", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[3;10r", "\x1b[r", "\x1b[?6h", "\x1b[?6l",
	"\x1b7", "\x1b8", "\x1b(0lqqk\x1b(B", "\x0e", "\x0f", "\x1b[2L", "\x1b[2M", "\x1b[3@", "\x1b[3P", "\x1b[4X", "\x1b[2S", "\x1b[2T", "\x1bM", "\x1bD",
	"日本語テキスト", "한글", "é", "e\u0301", "😀", "👩‍🚀", "❤️", "─│┌┐└┘", "\x1b]0;a title\x07", "\x1b]2;another\x1b\\", "\x1b[?2004h", "\x1b[?1000h", "\x1b[?1000l",
	"\x1b[?2026h", "\x1b[?2026l", "\x1b]8;;http://x\x07link\x1b]8;;\x07", "\x1b[6n", "\x1b[3b", "\x1b[g", "\x1bH", "\x1bc", "\xff\xfe", "\xe6\x97", "%end 1 2 1\r\n", "%exit\r\n", "\\033",
}

func (ps *players) noise(p *player, rnd *rand.Rand) {
	for p.rest(time.Duration(5+rnd.IntN(60)) * time.Millisecond) {
		var b strings.Builder
		for range 1 + rnd.IntN(20) {
			b.WriteString(noises[rnd.IntN(len(noises))])
		}
		if !ps.write(p, []byte(b.String())) {
			return
		}
	}
}

// flood writes n lines into one pane as fast as they are taken.
func (ps *players) flood(id string, n int) {
	p := ps.all[id]
	if p == nil {
		return
	}
	p.over.Go(func() {
		for i := 0; i < n; {
			var b strings.Builder
			for range 50 {
				fmt.Fprintf(&b, "\x1b[3%dmflood %07d of a program that writes as fast as it can\x1b[m 日本\r\n", i%8, i)
				i++
			}
			if !ps.write(p, []byte(b.String())) {
				return
			}
		}
	})
}
