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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

// drive writes the corpus b.N times in chunks. An emulator that panics is made
// anew and goes on with the next chunk; how often that happened is reported, so
// a library's speed never hides behind a skipped run.
func drive(b *testing.B, data []byte, fresh func() func([]byte)) {
	write, panics := fresh(), 0
	one := func(p []byte) {
		defer func() {
			if recover() != nil {
				write = fresh()
				panics++
			}
		}()
		write(p)
	}
	play := func() {
		for i := 0; i < len(data); i += chunk {
			one(data[i:min(i+chunk, len(data))])
		}
	}
	play() // to steady state
	panics = 0
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		play()
	}
	perCPU(b, len(data), cpuTime(b)-began)
	if panics > 0 {
		b.ReportMetric(float64(panics)/float64(b.N), "panics/op")
	}
}

// perCPU reports megabytes for each second of CPU, which is what compares on a
// machine that others use too.
func perCPU(b *testing.B, size int, cpu time.Duration) {
	if cpu > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/cpu.Seconds(), "MB/cpu-s")
	}
}

// cpuTime is what this process has used, its collector included.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEmulators runs everything over everything.
func BenchmarkEmulators(b *testing.B) {
	for _, c := range corpora {
		data := c.bytes(b)
		b.Run(c.name+"/vtparse", func(b *testing.B) {
			drive(b, data, func() func([]byte) {
				t := vtparse.New(cols, rows, vtparse.Options{History: 2000})
				return func(p []byte) { t.Write(p) }
			})
		})
		b.Run(c.name+"/vtparse-published", func(b *testing.B) {
			drive(b, data, func() func([]byte) {
				t := vtparse.New(cols, rows, vtparse.Options{History: 2000})
				return func(p []byte) { t.Write(p); t.Screen() }
			})
		})
		b.Run(c.name+"/parser-only", func(b *testing.B) {
			drive(b, data, func() func([]byte) {
				p := ansi.NewParser()
				p.SetHandler(ansi.Handler{})
				return func(q []byte) {
					for _, c := range q {
						p.Advance(c)
					}
				}
			})
		})
		b.Run(c.name+"/tmux", func(b *testing.B) { tmux(b, data) })
		b.Run(c.name+"/vt10x", func(b *testing.B) {
			drive(b, data, func() func([]byte) {
				t := vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(io.Discard))
				return func(p []byte) { t.Write(p) }
			})
		})
		b.Run(c.name+"/x-vt", func(b *testing.B) {
			var t *vt.Emulator
			drive(b, data, func() func([]byte) {
				if t != nil {
					t.Close()
				}
				e := vt.NewEmulator(cols, rows)
				t = e
				go io.Copy(io.Discard, e) // it blocks on its own answers otherwise
				return func(p []byte) { e.Write(p) }
			})
			t.Close()
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
	pid, err := run("display-message", "-p", "#{pid}").Output()
	if err != nil {
		b.Fatal(err)
	}
	began := processTime(string(pid))
	// Everything in one pane, so that starting it does not count much.
	b.ResetTimer()
	script := fmt.Sprintf("stty raw -echo; i=0; while [ $i -lt %d ]; do cat %s; i=$((i+1)); done; tmux wait-for -S done; sleep 1000", b.N, file)
	if err := run("new-window", "-d", script).Run(); err != nil {
		b.Fatal(err)
	}
	if err := run("wait-for", "done").Run(); err != nil {
		b.Fatal(err)
	}
	perCPU(b, len(data), processTime(string(pid))-began)
}

// processTime is what another process has used, 0 where /proc does not tell.
func processTime(pid string) time.Duration {
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	const tick = time.Second / 100 // USER_HZ, the same on every Linux
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick
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
			began := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				t.Write([]byte{0x1b, '[', '5', ';', '1', 'H', byte('a' + i%26)})
				t.Screen()
			}
			b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}
