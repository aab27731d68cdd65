package daemon

// This file holds a small agent that runs in a real pane: it draws a composer,
// takes bracketed pastes and Enter, writes what it accepted to a log, and every
// byte that it read to another file. The screens are its own.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"akk/agents"
)

// play is the agent's main; dir is its folder. A text that begins with "slow"
// works until the file "go" is there or Ctrl-C comes, one with "ask" shows an
// approval until "y" ends it or "w" makes it slow, one with "fail" fails.
func play(dir string) {
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	got, _ := os.OpenFile(filepath.Join(dir, "bytes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	log, _ := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	a := &acting{dir: dir, log: log, idle: true}
	fmt.Print("\x1b[?2004h")
	a.draw()
	keys := make(chan byte)
	go func() {
		in := bufio.NewReader(os.Stdin)
		for {
			c, err := in.ReadByte()
			if err != nil {
				os.Exit(0)
			}
			_, _ = got.Write([]byte{c})
			keys <- c
		}
	}()
	look := time.NewTicker(10 * time.Millisecond)
	for {
		select {
		case c := <-keys:
			a.key(c)
		case <-look.C:
			if !a.idle && !a.asking && strings.HasPrefix(a.task, "slow") {
				if _, err := os.Stat(filepath.Join(dir, "go")); err == nil {
					a.end(agents.LogCompleted)
				}
			}
		}
	}
}

// acting is what the agent is doing.
type acting struct {
	dir    string
	log    *os.File
	buf    []byte // of a paste
	text   string // composer
	task   string
	turn   int
	idle   bool
	asking bool
}

func (a *acting) say(e agents.LogEvent) {
	e.Time, e.SessionID, e.TurnID = time.Now(), "native-"+filepath.Base(a.dir), fmt.Sprint("t", a.turn)
	b, _ := json.Marshal(e)
	_, _ = a.log.Write(append(b, '\n'))
}

func (a *acting) draw() {
	state := "working"
	switch {
	case a.asking:
		fmt.Print("\x1b[?2026h\x1b[H\x1b[2Jblocked approval\r\nallow it? y\x1b[?2026l")
		return
	case a.idle:
		state = "idle"
	}
	fmt.Printf("\x1b[?2026h\x1b[H\x1b[2J%s composer\r\n> %s\x1b[?2026l", state, strings.ReplaceAll(a.text, "\n", "\r\n"))
}

func (a *acting) end(kind agents.LogKind) {
	a.say(agents.LogEvent{Kind: kind, Text: fmt.Sprint("done t", a.turn), Err: "no"})
	a.idle, a.asking, a.task = true, false, ""
	a.draw()
}

func (a *acting) key(c byte) {
	a.buf = append(a.buf, c)
	switch {
	case bytes.HasPrefix(a.buf, []byte("\x1b[200~")):
		end := bytes.Index(a.buf, []byte("\x1b[201~"))
		if end < 0 {
			return
		}
		if !a.asking {
			a.text += string(a.buf[6:end])
		}
	case bytes.HasPrefix([]byte("\x1b[200~"), a.buf):
		return
	case a.asking:
		switch c {
		case 'y':
			a.end(agents.LogCompleted)
		case 'w':
			a.asking, a.task = false, "slow"
		}
	case c == 0x03:
		if a.idle {
			os.Exit(0) // as Codex does
		}
		a.end(agents.LogAborted)
	case c == 0x15:
		a.text = ""
	case c == '\r':
		a.enter()
	case c >= ' ' && c < 0x7f:
		a.text += string(c)
	}
	a.buf = nil
	a.draw()
}

func (a *acting) enter() {
	text := a.text
	a.text = ""
	if a.idle {
		a.turn++
		a.task = text
	}
	a.say(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text)})
	if !a.idle {
		return // a message into the running turn
	}
	a.idle = false
	a.draw()
	switch {
	case strings.HasPrefix(text, "slow"):
	case strings.HasPrefix(text, "ask"):
		a.asking = true
	case strings.HasPrefix(text, "fail"):
		a.end(agents.LogFailed)
	default:
		a.end(agents.LogCompleted)
	}
}

// player reads such an agent.
type playerAgent struct{}

func (playerAgent) Kind() agents.Kind { return agents.Codex }

func (playerAgent) Match(p *agents.Process) (string, bool) {
	return "1.0.0", len(p.Args) == 3 && p.Args[1] == "player"
}

func (playerAgent) Submit(string) agents.SubmitPlan {
	return agents.SubmitPlan{SettleMillis: 50, DrawMillis: 2000, AcceptMillis: 700, Enter: "\r",
		Clear: agents.ClearPlan{First: "\x15", Again: "\x15", StepMillis: 1000}, Interrupt: agents.InterruptPlan{Key: "\x03", Name: "C-c", EffectMillis: 2000}}
}

func (playerAgent) Read(in agents.Input) agents.Reading {
	r := agents.Reading{Agent: agents.Codex, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
	if in.Screen.Line(0) == "blocked approval" {
		r.Activity, r.Owner, r.Composer = agents.Blocked, agents.OwnerApproval, agents.ComposerHidden
		r.Dialog = &agents.Dialog{Kind: "exec", Command: "make", Fingerprint: "f"}
		return r
	}
	state, ok := strings.CutSuffix(in.Screen.Line(0), " composer")
	line, ok2 := strings.CutPrefix(in.Screen.Line(1), ">")
	if !ok || !ok2 {
		return r
	}
	r.Activity, r.Owner, r.Composer, r.Draft = agents.Activity(state), agents.OwnerComposer, agents.ComposerEmpty, strings.TrimSpace(line)
	if r.Draft != "" {
		r.Composer, r.DraftEnd = agents.ComposerDraft, true
	}
	return r
}

func (playerAgent) OpenLog(p *agents.Process) (agents.Log, error) {
	if hang := filepath.Join(p.Args[2], "hang"); exists(hang) {
		_ = os.WriteFile(filepath.Join(p.Args[2], "hanging"), nil, 0o600)
		f, err := os.Open(hang) // a pipe that nobody writes to
		if err == nil {
			_ = f.Close()
		}
		return nil, agents.ErrNoLog
	}
	t, err := agents.OpenTail(filepath.Join(p.Args[2], "log"))
	if err != nil {
		return nil, agents.ErrNoLog
	}
	return &playerLog{t: t, path: filepath.Join(p.Args[2], "log")}, nil
}

type playerLog struct {
	t    *agents.Tail
	path string
	st   agents.LogState
}

func (l *playerLog) Path() string              { return l.path }
func (l *playerLog) WatchPaths() []string      { return []string{l.path} }
func (l *playerLog) State() agents.LogState    { s := l.st; s.Path = l.path; return s }
func (l *playerLog) Status() *agents.AppStatus { return nil }
func (l *playerLog) Close() error              { return l.t.Close() }

func (l *playerLog) Poll() ([]agents.LogEvent, error) {
	var out []agents.LogEvent
	err := l.t.Poll(func(line []byte, end int64) {
		var e agents.LogEvent
		if json.Unmarshal(line, &e) == nil {
			e.Offset = end
			out = append(out, e)
			l.st.Last, l.st.SessionID, l.st.TurnOpen = &e, e.SessionID, e.Kind == agents.LogAccepted
		}
	})
	return out, err
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }
