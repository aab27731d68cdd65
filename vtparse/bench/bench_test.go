package bench

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/hinshun/vt10x"

	"akk/vtparse"
	"akk/vtparse/cast"
)

const (
	cols, rows = 120, 40
	chunk      = 4096    // bytes a write, what tmux reads at most from a pane
	corpusSize = 1 << 20 // bytes at least
)

// corpora are the byte streams of the comparison.
var corpora = []struct {
	name  string
	bytes func(testing.TB) []byte
}{
	{"plain", func(testing.TB) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < corpusSize; i++ {
			fmt.Fprintf(&b, "%6d the quick brown fox jumps over the lazy dog and runs into the woods to find another one\r\n", i)
		}
		return b.Bytes()
	}},
	{"sgr", func(testing.TB) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < corpusSize; i++ {
			fmt.Fprintf(&b, "\x1b[1;38;5;%dmword\x1b[0;48;2;%d;%d;%dmx\x1b[m ", i%256, i%7, i%11, i%13)
			if i%12 == 0 {
				b.WriteString("\r\n")
			}
		}
		return b.Bytes()
	}},
	{"codex", func(t testing.TB) []byte { return recordings(t, "codex-") }},
	{"claude", func(t testing.TB) []byte { return recordings(t, "claude-") }},
}

// recordings joins the output of the agent's recordings until it is enough.
func recordings(t testing.TB, agent string) []byte {
	paths, err := filepath.Glob("../testdata/recordings/" + agent + "*.cast.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings of %s: %v", agent, err)
	}
	var b bytes.Buffer
	for b.Len() < corpusSize {
		for _, p := range paths {
			f, err := os.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			r, err := cast.NewReader(z)
			if err != nil {
				t.Fatal(err)
			}
			for {
				e, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == cast.Output {
					b.WriteString(e.Data)
				}
			}
			f.Close()
			b.WriteString("\x1b[!p\x1b[?1049l\x1b[r\x1b[m\x1b[2J\x1b[H")
		}
	}
	return b.Bytes()
}

// drive writes the corpus b.N times in chunks.
func drive(b *testing.B, data []byte, write func([]byte)) {
	defer func() {
		if r := recover(); r != nil {
			b.Skipf("panics: %v", r)
		}
	}()
	play := func() {
		for i := 0; i < len(data); i += chunk {
			write(data[i:min(i+chunk, len(data))])
		}
	}
	play() // to steady state
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		play()
	}
}

// BenchmarkEmulators runs everything over everything.
func BenchmarkEmulators(b *testing.B) {
	for _, c := range corpora {
		data := c.bytes(b)
		b.Run(c.name+"/vtparse", func(b *testing.B) {
			t := vtparse.New(cols, rows, vtparse.Options{History: 2000})
			drive(b, data, func(p []byte) { t.Write(p) })
		})
		b.Run(c.name+"/vtparse-published", func(b *testing.B) {
			t := vtparse.New(cols, rows, vtparse.Options{History: 2000})
			drive(b, data, func(p []byte) { t.Write(p); t.Screen() })
		})
		b.Run(c.name+"/parser-only", func(b *testing.B) {
			p := ansi.NewParser()
			p.SetHandler(ansi.Handler{})
			drive(b, data, func(q []byte) {
				for _, c := range q {
					p.Advance(c)
				}
			})
		})
		b.Run(c.name+"/tmux", func(b *testing.B) { tmux(b, data) })
		b.Run(c.name+"/vt10x", func(b *testing.B) {
			t := vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(io.Discard))
			drive(b, data, func(p []byte) { t.Write(p) })
		})
		b.Run(c.name+"/x-vt", func(b *testing.B) {
			t := vt.NewEmulator(cols, rows)
			go io.Copy(io.Discard, t) // it blocks on its own answers otherwise
			defer t.Close()
			drive(b, data, func(p []byte) { t.Write(p) })
		})
	}
}

// tmux measures how fast a pane's output drains into tmux, nobody attached.
func tmux(b *testing.B, data []byte) {
	if _, err := exec.LookPath("tmux"); err != nil {
		b.Skip("no tmux")
	}
	dir, err := os.MkdirTemp("", "vb")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run := func(args ...string) *exec.Cmd {
		c := exec.Command("tmux", append([]string{"-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...)
		c.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
		return c
	}
	file := filepath.Join(dir, "bytes")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	if err := run("new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "sleep 100000").Run(); err != nil {
		b.Fatal(err)
	}
	defer run("kill-server").Run()
	b.SetBytes(int64(len(data)))
	// Everything in one pane, so that starting it does not count much.
	b.ResetTimer()
	script := fmt.Sprintf("stty raw -echo; i=0; while [ $i -lt %d ]; do cat %s; i=$((i+1)); done; tmux wait-for -S done; sleep 1000", b.N, file)
	if err := run("new-window", "-d", script).Run(); err != nil {
		b.Fatal(err)
	}
	if err := run("wait-for", "done").Run(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPublishOneRow is the cost of a Screen after one row changed.
func BenchmarkPublishOneRow(b *testing.B) {
	for _, rows := range []int{10, 40, 200} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			t := vtparse.New(cols, rows, vtparse.Options{})
			for y := range rows {
				fmt.Fprintf(t, "\x1b[%d;1Hsome text in this row", y+1)
			}
			t.Screen()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t.Write([]byte{0x1b, '[', '5', ';', '1', 'H', byte('a' + i%26)})
				t.Screen()
			}
		})
	}
}
