package panes

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This file finds out what a server of chaos died of. The server is our child
// (tmux -D), so its end is known exactly, and it may leave a core, which says
// where it stood. Rule: a death is excused only by the signature of a crash
// that was reproduced, together with an operation that can cause it; every
// other end of a server fails the run.

// serverProc is a tmux server in the foreground.
type serverProc struct {
	cmd   *exec.Cmd
	dir   string // where a core falls
	said  bytes.Buffer
	done  chan struct{}
	ended time.Time // after done
}

// startTmux starts the server of a socket; it has no session yet, and stays
// without one.
func startTmux(t testing.TB, socket string) *serverProc {
	t.Helper()
	dir := socket + ".d"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// A limit that may not be raised leaves the end without a core.
	p := &serverProc{dir: dir, done: make(chan struct{}), cmd: exec.Command("sh", "-c", `ulimit -c unlimited 2>/dev/null; exec tmux -D -S "$0" -f /dev/null`, socket)}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = clientEnv(), dir, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		p.ended = time.Now()
		close(p.done)
	}()
	return p
}

// death is how a server ended.
type death struct {
	running bool
	signal  syscall.Signal // 0: it exited
	code    int
	core    *coreFacts // nil: none was left
	at      time.Time  // as near as is known: of its core, else when its end was told
}

func (p *serverProc) death() death {
	select {
	case <-p.done:
	case <-time.After(patience):
		return death{running: true}
	}
	d := death{code: p.cmd.ProcessState.ExitCode(), at: p.ended}
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		d.signal = ws.Signal()
	}
	cores, _ := filepath.Glob(filepath.Join(p.dir, "core*"))
	for _, name := range cores {
		if c, err := readCore(name); err == nil {
			d.core = c
			if fi, err := os.Stat(name); err == nil && fi.ModTime().Before(d.at) {
				d.at = fi.ModTime()
			}
		}
	}
	return d
}

func (d death) String() string {
	switch {
	case d.running:
		return "it runs and does not answer"
	case d.signal == 0:
		return fmt.Sprintf("exit status %d", d.code)
	case d.core == nil:
		return d.signal.String() + ", no core"
	}
	return fmt.Sprintf("%v at address %#x, in %s+%#x (build %.12s)", d.signal, d.core.addr, filepath.Base(d.core.file), d.core.at, d.core.build)
}

// coreFacts is where a process stood when it died.
type coreFacts struct {
	addr  uint64 // that it could not read
	file  string
	at    uint64 // the instruction, as an offset in file
	build string // of file, hex
	// Where a function in a library returns to, when it has pushed one word
	// since it was called; 0 elsewhere, and on other machines than amd64.
	caller      uint64
	callerBuild string
}

// Places of registers and notes in a Linux core (elf.h, sys/procfs.h).
const (
	noteStatus  = 1
	noteSigInfo = 0x53494749
	noteFiles   = 0x46494c45
	regsAt      = 112
	pcAMD64     = regsAt + 16*8
	pcARM64     = regsAt + 32*8
	spAMD64     = regsAt + 19*8
	sigAddrAt   = 16
)

// readCore reads the first thread's place of a 64-bit core.
func readCore(name string) (*coreFacts, error) {
	f, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pcAt := map[string]int{"amd64": pcAMD64, "arm64": pcARM64}[runtime.GOARCH]
	if f.Type != elf.ET_CORE || f.Class != elf.ELFCLASS64 || pcAt == 0 {
		return nil, fmt.Errorf("%s is no core of this machine", name)
	}
	var pc, sp uint64
	var c coreFacts
	var files []byte
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err != nil {
			return nil, err
		}
		for len(b) >= 12 {
			nameSize, size, kind := f.ByteOrder.Uint32(b), f.ByteOrder.Uint32(b[4:]), f.ByteOrder.Uint32(b[8:])
			from := 12 + (int(nameSize)+3)&^3
			to := from + int(size)
			if to > len(b) {
				break
			}
			switch d := b[from:to]; {
			case kind == noteStatus && pc == 0 && len(d) >= pcAt+8:
				pc = f.ByteOrder.Uint64(d[pcAt:])
				if pcAt == pcAMD64 && len(d) >= spAMD64+8 {
					sp = f.ByteOrder.Uint64(d[spAMD64:])
				}
			case kind == noteSigInfo && len(d) >= sigAddrAt+8:
				c.addr = f.ByteOrder.Uint64(d[sigAddrAt:])
			case kind == noteFiles:
				files = d
			}
			b = b[min(len(b), (to+3)&^3):]
		}
	}
	if c.file, c.at, err = place(f.ByteOrder, files, pc); err != nil {
		return nil, err
	}
	c.build = buildID(c.file)
	word := make([]byte, 8)
	for _, p := range f.Progs {
		if at := sp + 8; p.Type == elf.PT_LOAD && at >= p.Vaddr && at-p.Vaddr < p.Filesz {
			if _, err := p.ReadAt(word, int64(at-p.Vaddr)); err != nil {
				break
			}
			if file, at, err := place(f.ByteOrder, files, f.ByteOrder.Uint64(word)); err == nil {
				c.caller, c.callerBuild = at, buildID(file)
			}
		}
	}
	return &c, nil
}

// place finds the file that an instruction is in.
func place(order binary.ByteOrder, files []byte, pc uint64) (file string, at uint64, err error) {
	if len(files) < 16 {
		return "", 0, fmt.Errorf("the core names no files")
	}
	n, page := order.Uint64(files), order.Uint64(files[8:])
	if n > uint64(len(files))/24 {
		return "", 0, fmt.Errorf("the core's list of files is cut")
	}
	names := bytes.Split(files[16+24*n:], []byte{0})
	for i := range int(n) {
		m := files[16+24*i:]
		start, end, off := order.Uint64(m), order.Uint64(m[8:]), order.Uint64(m[16:])
		if pc >= start && pc < end && i < len(names) {
			return string(names[i]), pc - start + off*page, nil
		}
	}
	return "", 0, fmt.Errorf("instruction %#x is in no file", pc)
}

// buildID is the mark that the linker gave a program, "" if none.
func buildID(name string) string {
	f, err := elf.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	b, err := s.Data()
	if err != nil || len(b) < 16 {
		return ""
	}
	return hex.EncodeToString(b[16:])
}

// tmux 4562 on a bare server: no akk, no control client. tmux joins wrapped
// lines again when a pane's width changes; a line that is followed by an empty
// one which counts as wrapped, too, and then by nothing that can be joined,
// leaves it without a line to take from.
//
// Can akk cause it? The daemon can't: its clients attach with ignore-size and
// name no size, and no command of this package changes one. The sidebar can, as
// any split of a human's: it is a split, gives its own pane its width back, and
// either changes the width of the panes beside it; `akk demo` sizes the
// windows of its recordings.
func TestReflowCrashIsRecognised(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	if tmux, err = filepath.EvalSymlinks(tmux); err != nil {
		t.Fatal(err)
	}
	if b := buildID(tmux); b != knownBuild {
		t.Skipf("the tmux here is build %.12s; the instruction is known of Debian 12's 3.3a for amd64 alone (build %.12s)", b, knownBuild)
	}
	// A wide character in the last column of an empty line makes that line wrapped
	// and stays empty; an insertion above pushes it down to the region's end, away
	// from what it was wrapped into. Twice, one above the other.
	const pushed = `\033[4;6r\033[5;80H日\033[4;1H\033[L` + `\033[3;5r\033[4;80H日\033[3;1H\033[L`
	for _, c := range []struct {
		name, bytes string
		cmds        []string // the last one ends the server
	}{
		// In one column the wide character leaves an empty line before it; in two
		// it does not fit behind the narrow one.
		{"one column and two", "a日", []string{"resize-window -x 1", "resize-window -x 2"}},
		{"any width, by what a program wrote", pushed, []string{"split-window -hbf -l 34 cat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "akkx")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			ts := &tmuxServer{t, filepath.Join(dir, "s")}
			p := startTmux(t, ts.socket)
			t.Cleanup(func() { p.cmd.Process.Kill(); <-p.done })
			eventually(t, "the server", func() bool { _, err := os.Stat(ts.socket); return err == nil })
			// The title comes behind the bytes: they were read when it is there.
			ts.run("new-session", "-d", "-x", "80", "-y", "24", `printf '`+c.bytes+`\033]2;written\033\\'; exec cat`)
			eventually(t, "the bytes", func() bool { return ts.run("display-message", "-p", "#{pane_title}") == "written" })
			var ops []chaosOpAt
			for i, line := range c.cmds {
				name, _, _ := strings.Cut(line, " ")
				ops = append(ops, chaosOpAt{name, line, time.Now()})
				cmd := exec.Command("tmux", append([]string{"-S", ts.socket}, strings.Fields(line)...)...)
				cmd.Env = clientEnv()
				if out, err := cmd.CombinedOutput(); err != nil && i < len(c.cmds)-1 {
					t.Fatalf("%s: %s", line, out)
				}
			}
			d := p.death()
			if d.signal == syscall.SIGSEGV && d.core == nil {
				t.Skip("no core was left here, so nothing tells where it stood")
			}
			issue, why := verdict(d, ops)
			if issue != "4562" || d.core.addr != 8 {
				t.Errorf("%v: %q %s", d, issue, why)
			}
			t.Logf("%v; %s", d, why)
		})
	}
}
