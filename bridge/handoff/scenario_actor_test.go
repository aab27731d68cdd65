package handoff

// This file holds the actor: a scripted agent that runs in a pane of a real
// tmux. It draws its own screen, takes its input as the bug reports say that
// agents do, writes down every read with its time, and keeps Codex's log open
// as Codex does, so that the real reader of logs follows it.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"akk/agents"
	"akk/agents/codex"
)

// actorEnv makes this test binary an actor: `BINARY actor FOLDER`.
const actorEnv = "AKK_TEST_ACTOR"

// ways is how an actor takes its input; the zero value is a plain agent.
type ways struct {
	LineBreak int   `json:",omitempty"` // ms: an Enter that comes sooner after the text is a line break (B1)
	Late      int   `json:",omitempty"` // ms: how late it looks at what was pasted (B7)
	SameRead  bool  `json:",omitempty"` // an Enter in the read of a paste's end is part of the paste (B2)
	FirstKey  bool  `json:",omitempty"` // of several keys in one read only the first counts (B28)
	Suggest   bool  `json:",omitempty"` // a text that ends in a mention opens a list; Enter takes its first line (B26)
	Busy      bool  `json:",omitempty"` // the screen shows work after the task's end (scenario 61)
	Rollouts  int   `json:",omitempty"` // how many rollouts it holds open, 0 = 1 (scenario 47)
	Takes     []int // which of them take a text, nil = the first
	Apart     int   `json:",omitempty"` // ms between one that takes it and the next
	Quick     bool  `json:",omitempty"` // a turn is over before any work is drawn
}

// keyRead is one read of the actor.
type keyRead struct {
	At    time.Time
	Bytes string
}

// actor is the program.
type actor struct {
	ways
	dir   string
	mu    sync.Mutex
	reads *json.Encoder
	logs  []*os.File

	state, owner, text, popup string
	raw                       string // drawn in place of the composer
	turn                      string
	turns                     int
	pasting                   bool
	textAt                    time.Time // when the newest byte of the text was looked at
}

// act is the actor's main; it returns when it is told to.
func act(dir string) {
	a := &actor{dir: dir, state: "idle", owner: "composer"}
	if b, err := os.ReadFile(filepath.Join(dir, "ways")); err == nil {
		_ = json.Unmarshal(b, &a.ways)
	}
	if len(a.Takes) == 0 {
		a.Takes = []int{0}
	}
	state, err := term.MakeRaw(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer func() { _ = term.Restore(0, state) }()
	f, err := os.OpenFile(filepath.Join(dir, "reads"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	a.reads = json.NewEncoder(f)
	a.openLogs()
	ln, err := net.Listen("unix", filepath.Join(dir, "ctl"))
	if err != nil {
		panic(err)
	}
	fmt.Print("\x1b[?2004h")
	a.draw()
	quit := make(chan struct{})
	go a.orders(ln, quit)
	go a.input()
	<-quit
	fmt.Print("\x1b[?2004l\x1b[H\x1b[2J")
}

// openLogs opens what Codex keeps open: a rollout for each conversation.
func (a *actor) openLogs() {
	dir := filepath.Join(a.dir, "sessions")
	_ = os.MkdirAll(dir, 0o700)
	for i := range max(a.Rollouts, 1) {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("rollout-2026-11-29T10-00-0%d-%d.jsonl", i, os.Getpid())), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		a.logs = append(a.logs, f)
		a.log(i, "session_meta", map[string]any{"id": fmt.Sprintf("conversation-%d-%d", os.Getpid(), i), "cwd": a.dir})
	}
}

func (a *actor) log(i int, kind string, payload map[string]any) {
	b, _ := json.Marshal(map[string]any{"timestamp": time.Now(), "type": kind, "payload": payload})
	_, _ = a.logs[i].Write(append(b, '\n'))
}

// accept writes the text down in those rollouts that take it, and works.
func (a *actor) accept() {
	a.turns++
	for n, i := range a.Takes {
		if n > 0 {
			time.Sleep(time.Duration(a.Apart) * time.Millisecond)
		}
		a.turn = fmt.Sprintf("turn-%d-%d", i, a.turns)
		a.log(i, "event_msg", map[string]any{"type": "task_started", "turn_id": a.turn})
		a.log(i, "event_msg", map[string]any{"type": "item_completed", "turn_id": a.turn,
			"item": map[string]any{"type": "UserMessage", "content": []any{map[string]any{"type": "text", "text": a.text}}}})
	}
	a.text = ""
	if !a.Quick {
		a.state = "working"
		a.draw()
	}
}

func (a *actor) complete(text string) {
	for _, i := range a.Takes {
		a.log(i, "event_msg", map[string]any{"type": "task_complete", "turn_id": fmt.Sprintf("turn-%d-%d", i, a.turns), "last_agent_message": text})
	}
	if !a.Busy {
		a.state = "idle"
	}
	a.draw()
}

func (a *actor) draw() {
	if a.raw != "" {
		fmt.Print("\x1b[?2026h\x1b[H\x1b[2J" + a.raw + "\x1b[?2026l")
		return
	}
	fmt.Printf("\x1b[?2026h\x1b[H\x1b[2J%s %s %s\r\n> %s\x1b[?2026l", a.state, a.owner, a.popup, strings.ReplaceAll(a.text, "\n", "\r\n"))
}

// input takes what the terminal types.
func (a *actor) input() {
	buf := make([]byte, 4096)
	var rest []byte // of a marker that was split between two reads
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return
		}
		a.mu.Lock()
		_ = a.reads.Encode(keyRead{time.Now(), string(buf[:n])})
		rest = a.take(append(rest, buf[:n]...))
		a.mu.Unlock()
	}
}

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// take looks at one read and returns what may be half a marker.
func (a *actor) take(b []byte) (rest []byte) {
	ended, keys := false, 0
	for len(b) > 0 {
		s := string(b)
		switch {
		case strings.HasPrefix(s, pasteBegin):
			a.pasting, b = true, b[len(pasteBegin):]
		case strings.HasPrefix(s, pasteEnd):
			a.pasting, ended, b = false, true, b[len(pasteEnd):]
			time.Sleep(time.Duration(a.Late) * time.Millisecond)
			a.textAt = time.Now()
			if a.Suggest && strings.HasSuffix(a.text, "@re") {
				a.popup = "popup"
			}
		case b[0] == 0x1b && len(b) < len(pasteBegin) && (strings.HasPrefix(pasteBegin, s) || strings.HasPrefix(pasteEnd, s)):
			a.draw()
			return append([]byte{}, b...)
		case a.pasting:
			a.text += s[:1]
			b = b[1:]
		default:
			if keys++; keys == 1 || !a.FirstKey {
				a.key(b[0], ended)
			}
			b = b[1:]
		}
	}
	if a.state != "gone" {
		a.draw()
	}
	return nil
}

// key is a key beside a paste.
func (a *actor) key(c byte, ended bool) {
	rows := strings.Split(a.text, "\n")
	switch c {
	case '\r':
		switch {
		case ended && a.SameRead, a.LineBreak > 0 && time.Since(a.textAt) < time.Duration(a.LineBreak)*time.Millisecond:
			a.text += "\n"
		case a.popup != "": // it takes the suggestion only
			a.text, a.popup = a.text+"adme.md ", ""
		case a.Quick:
			a.draw() // the text still stands there
			time.Sleep(200 * time.Millisecond)
			a.accept()
			a.complete("done")
		default:
			a.accept()
		}
	case 0x15: // Ctrl-U
		rows[len(rows)-1] = ""
		a.text = strings.Join(rows, "\n")
	case 0x7f: // Backspace at the begin of a row
		a.text = strings.Join(rows[:max(len(rows)-1, 1)], "\n")
	case 0x05: // Ctrl-E
	default:
		if c >= ' ' {
			a.text, a.textAt = a.text+string(rune(c)), time.Now()
		}
	}
}

// orders takes the test's words, one a connection.
func (a *actor) orders(ln net.Listener, quit chan struct{}) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		line, _ := bufio.NewReader(c).ReadString('\n')
		word, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		_ = json.Unmarshal([]byte(arg), &arg)
		reply := "ok"
		a.mu.Lock()
		switch word {
		case "state":
			a.state = arg
		case "owner":
			a.owner = arg
		case "look": // both at once
			a.state, a.owner, _ = strings.Cut(arg, " ")
		case "text":
			a.text = arg
		case "popup":
			a.popup = arg
		case "raw":
			a.raw = arg
		case "complete":
			a.complete(arg)
		case "run": // a process of the agent's own
			cmd := exec.Command("sleep", "600")
			if err := cmd.Start(); err != nil {
				reply = err.Error()
				break
			}
			reply = fmt.Sprint(cmd.Process.Pid)
		case "leave":
			a.state = "gone"
		}
		if a.state != "gone" {
			a.draw()
		}
		a.mu.Unlock()
		_, _ = fmt.Fprintln(c, reply)
		_ = c.Close()
		if word == "exec" { // it becomes the program that the shell line names
			_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "exec " + arg}, os.Environ())
		}
		if word == "leave" {
			close(quit)
			return
		}
	}
}

// actorAgent reads actors. Their logs are read by the real reader of Codex.
type actorAgent struct{ plan agents.SubmitPlan }

// actorVersion is the version whose certified keys and times an actor has.
const actorVersion = "0.155.1"

func newActorAgent() *actorAgent { return &actorAgent{codex.Agent{}.Submit(actorVersion)} }

func (a *actorAgent) Kind() agents.Kind               { return agents.Codex }
func (a *actorAgent) Submit(string) agents.SubmitPlan { return a.plan }
func (a *actorAgent) Match(p *agents.Process) (string, bool) {
	return actorVersion, len(p.Args) == 3 && p.Args[1] == "actor"
}

func (a *actorAgent) OpenLog(p *agents.Process) (agents.Log, error) { return codex.Agent{}.OpenLog(p) }

func (a *actorAgent) Read(in agents.Input) agents.Reading {
	r := agents.Reading{Agent: agents.Codex, Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown,
		Why: []agents.Reason{{Layer: "frame", Rule: "actor"}}}
	f := strings.Fields(in.Screen.Line(0))
	if len(f) < 2 || len(f) > 3 || f[0] != "idle" && f[0] != "working" && f[0] != "blocked" {
		return r
	}
	r.Activity, r.Owner = agents.Activity(f[0]), agents.Owner(f[1])
	if len(f) == 3 {
		r.ComposerFlags = []string{f[2]}
	}
	line, ok := strings.CutPrefix(in.Screen.Text(1, 18), ">")
	if !ok || r.Owner != agents.OwnerComposer {
		r.Composer = agents.ComposerHidden
		return r
	}
	r.Composer, r.Draft, r.DraftEnd = agents.ComposerDraft, strings.Trim(line, "\n "), true
	if r.Draft == "" {
		r.Composer = agents.ComposerEmpty
	}
	return r
}
