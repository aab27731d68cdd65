package controlmode

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This file replays conversations that were recorded with real tmux servers
// (testdata, named after the version; -CC ones on a pty). Rule: what the parser
// tells does not depend on where the stream is cut.

var update = flag.Bool("update", false, "write the golden files anew")

type step struct {
	Send string
	Recv string
}

// conversation reads one recorded file. Its strings are Latin-1: one character
// per byte.
func conversation(t testing.TB, name string) []step {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<22)
	for sc.Scan() {
		var s step
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.Recv = latin1(s.Recv)
		steps = append(steps, s)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// teller writes what a parser tells, one line per event; adjacent output of a
// pane stays apart, as tmux cut it.
type teller struct {
	b    strings.Builder
	want func() int
	pure bool // blocks of ours are plain
	got  []Reply
}

func (s *teller) Output(pane, data []byte) {
	if len(data) > 120 {
		h := fnv.New64a()
		h.Write(data)
		fmt.Fprintf(&s.b, "output %s %d bytes %x\n", pane, len(data), h.Sum64())
		return
	}
	fmt.Fprintf(&s.b, "output %s %q\n", pane, data)
}

func (s *teller) Begin() (int, bool) {
	if s.want != nil {
		return s.want(), s.pure
	}
	return -1, s.pure
}

func (s *teller) Reply(r Reply) {
	s.got = append(s.got, r)
	kind := "end"
	if r.Err {
		kind = "error"
	}
	fmt.Fprintf(&s.b, "reply %d ours=%v %s", r.Number, r.Ours, kind)
	for _, l := range r.Lines {
		fmt.Fprintf(&s.b, " %q", l)
	}
	s.b.WriteByte('\n')
}

func (s *teller) Notify(name, args []byte) { fmt.Fprintf(&s.b, "notify %s %q\n", name, args) }
func (s *teller) Overlong()                { s.b.WriteString("overlong\n") }
func (s *teller) Noise(l []byte)           { fmt.Fprintf(&s.b, "noise %q\n", l) }

func tell(pieces ...string) string {
	var p Parser
	s := &teller{}
	for _, x := range pieces {
		p.Feed([]byte(x), s)
	}
	return s.b.String()
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl.gz")
	if err != nil || len(files) != 7 {
		t.Fatalf("%d recorded conversations: %v", len(files), err)
	}
	for _, name := range files {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")
		t.Run(base, func(t *testing.T) {
			var log strings.Builder
			var all string
			var p Parser
			s := &teller{}
			for _, st := range conversation(t, name) {
				if st.Send != "" {
					fmt.Fprintf(&log, "> %s\n", st.Send)
				}
				if st.Recv == "" {
					continue
				}
				all += st.Recv
				p.Feed([]byte(st.Recv), s)
				log.WriteString(s.b.String())
				s.b.Reset()
			}
			golden := filepath.Join("testdata", base+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(log.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, string(want), log.String())
			whole := tell(all)
			for _, n := range []int{1, 2, 3, 7, 4096} {
				var pieces []string
				for rest := all; rest != ""; {
					k := min(n, len(rest))
					pieces, rest = append(pieces, rest[:k]), rest[k:]
				}
				if tell(pieces...) != whole {
					t.Errorf("cut after every %d bytes tells something else", n)
				}
			}
		})
	}
}

func compareLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Fatalf("line %d\nwant %s\ngot  %s", i+1, a, b)
		}
	}
}

// What must hold in every conversation, whatever the golden files say.
func TestTranscriptsAnswerEveryCommand(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jsonl.gz")
	for _, name := range files {
		var p Parser
		s := &teller{}
		var sent string
		for _, st := range conversation(t, name) {
			if st.Send != "" {
				sent, s.got = st.Send, nil
				continue
			}
			if st.Recv == "" {
				continue
			}
			p.Feed([]byte(st.Recv), s)
			var n, failed int
			for _, r := range s.got {
				if r.Err {
					failed++
				}
				n++
			}
			switch {
			case sent == "":
			case sent == "display-message -p a ; bogus-command ; display-message -p b":
				if n != 1 || failed != 1 {
					t.Errorf("%s: %q: %d replies, %d failed; nothing of a line that does not parse is run", name, sent, n, failed)
				}
			case sent == "display-message -p a ; kill-pane -t %99 ; display-message -p b":
				if n != 2 || failed != 1 {
					t.Errorf("%s: %q: %d replies, %d failed; a list ends at its first failure", name, sent, n, failed)
				}
			case strings.HasPrefix(sent, "if-shell"):
				if n < 2 {
					t.Errorf("%s: %q: %d replies", name, sent, n)
				}
			case n < 1:
				t.Errorf("%s: %q was not answered", name, sent)
			}
			sent = ""
		}
		if p.in {
			t.Errorf("%s: ends inside of a block", name)
		}
	}
}
