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

// play is the agent's main; dir is its folder.
func play(dir string) {
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	got, _ := os.OpenFile(filepath.Join(dir, "bytes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	log, _ := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	say := func(e agents.LogEvent) {
		e.Time, e.SessionID = time.Now(), "native"
		b, _ := json.Marshal(e)
		_, _ = log.Write(append(b, '\n'))
	}
	text, turn := "", 0
	draw := func(state string) {
		fmt.Printf("\x1b[?2026h\x1b[H\x1b[2J%s composer\r\n> %s\x1b[?2026l", state, strings.ReplaceAll(text, "\n", "\r\n"))
	}
	fmt.Print("\x1b[?2004h")
	draw("idle")
	in := bufio.NewReader(os.Stdin)
	var buf []byte
	for {
		c, err := in.ReadByte()
		if err != nil {
			return
		}
		_, _ = got.Write([]byte{c})
		buf = append(buf, c)
		switch {
		case bytes.HasPrefix(buf, []byte("\x1b[200~")):
			if end := bytes.Index(buf, []byte("\x1b[201~")); end >= 0 {
				text += string(buf[6:end])
				buf = nil
				draw("idle")
			}
		case bytes.HasPrefix([]byte("\x1b[200~"), buf):
		case c == '\r':
			buf = nil
			turn++
			id := fmt.Sprint("t", turn)
			say(agents.LogEvent{Kind: agents.LogAccepted, Hash: agents.HashRequest(text), TurnID: id})
			text = ""
			draw("working")
			say(agents.LogEvent{Kind: agents.LogCompleted, TurnID: id, Text: "done " + id})
			draw("idle")
		default:
			buf = nil
		}
	}
}

// player reads such an agent.
type playerAgent struct{}

func (playerAgent) Kind() agents.Kind { return agents.Codex }

func (playerAgent) Match(p *agents.Process) (string, bool) {
	return "1.0.0", len(p.Args) == 3 && p.Args[1] == "player"
}

func (playerAgent) Submit(string) agents.SubmitPlan {
	return agents.SubmitPlan{SettleMillis: 50, DrawMillis: 2000, AcceptMillis: 700, Enter: "\r"}
}

func (playerAgent) Read(in agents.Input) agents.Reading {
	r := agents.Reading{Agent: agents.Codex, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
	state, ok := strings.CutSuffix(in.Screen.Line(0), " composer")
	line, ok2 := strings.CutPrefix(in.Screen.Line(1), ">")
	if !ok || !ok2 {
		return r
	}
	r.Activity, r.Owner, r.Composer, r.Draft = agents.Activity(state), agents.OwnerComposer, agents.ComposerEmpty, strings.TrimSpace(line)
	if r.Draft != "" {
		r.Composer = agents.ComposerDraft
	}
	return r
}

func (playerAgent) OpenLog(p *agents.Process) (agents.Log, error) {
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
