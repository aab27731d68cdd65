package lab

// One real agent in one pane. It upholds: a helper that types waits for what
// it typed to show, and says what it saw when that doesn't happen.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

const (
	// startTimeout is how long an agent may take to its composer: 300 MB read
	// from a cold disk on a busy machine.
	startTimeout = 180 * time.Second
	// stepTimeout is how long an agent may take to show an effect.
	stepTimeout = 90 * time.Second
	// stillFor is the quiet after which a key is taken for certain: Claude Code
	// drops keys in the first 150 ms of a dialog, 2.1.332 in more.
	stillFor = 700 * time.Millisecond
)

// Options say how to start an agent. The zero value of a field is its default.
type Options struct {
	Binary     Binary            // required
	Rules      []model.Rule      // before the rules of Scenarios
	Cols, Rows int               // 120 x 40
	Args       []string          // after the lab's own
	Env        map[string]string // "" takes one of the lab's away
	Config     string            // Codex: appended to config.toml
	Settings   map[string]any    // Claude: over the lab's settings.json
	Wrapper    bool              // start npm's entry with node, the agent is its child
	Shell      bool              // a shell stays when the agent leaves
	NotReady   bool              // don't wait for the composer
	Record     bool              // keep all bytes of the pane, see Session.Raw
	Daemon     bool              // Codex: the newer versions' own way to start, with their shared daemon
	Style      string            // tmux's window-style: with a known background Codex paints its composer
	Prepare    func(Paths) error // after the home was written, before the start

	rules func(Paths) []model.Rule // before Rules, with the session's folders
}

// Session is one agent in one pane. Its methods are for one goroutine.
type Session struct {
	Binary Binary
	Server *Server
	Model  *model.Server
	Pane   string // "%3"
	Paths  Paths
	Name   string // the tmux session
	Offers int    // start-up offers that were declined
	// Started is a moment before the agent's start.
	Started time.Time

	Cols, Rows int

	own bool   // Close ends the server too
	raw string // file with the pane's bytes, "" without Record
}

// Raw are all bytes that the pane's program has written so far.
func (se *Session) Raw() ([]byte, error) {
	b, err := os.ReadFile(se.raw)
	if err != nil {
		return nil, fmt.Errorf("read the pane's bytes (start with Record): %w", err)
	}
	return b, nil
}

// Start runs an agent in a server of its own, which Session.Close ends.
func Start(ctx context.Context, o Options) (*Session, error) {
	srv, err := NewServer(ctx)
	if err != nil {
		return nil, err
	}
	s, err := srv.Start(ctx, o)
	if err != nil {
		srv.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// Start runs an agent in a new tmux session of this server and waits until its
// composer is ready.
func (s *Server) Start(ctx context.Context, o Options) (*Session, error) {
	if _, ok := packages[o.Binary.Agent]; !ok {
		return nil, fmt.Errorf("start %q: %w", o.Binary.Agent, ErrUnknownAgent)
	}
	s.mu.Lock()
	s.count++
	name := fmt.Sprintf("lab-%d-%s", s.count, o.Binary.Agent)
	s.mu.Unlock()
	paths, err := newPaths(filepath.Join(s.Dir, name), o.Binary.Agent)
	if err != nil {
		return nil, err
	}
	script := Scenarios(o.Binary.Agent, paths)
	if o.rules != nil {
		o.Rules = append(o.rules(paths), o.Rules...)
	}
	script.Rules = append(slices.Clone(o.Rules), script.Rules...)
	m, err := s.Model(o.Binary.Agent, script)
	if err != nil {
		return nil, err
	}
	if o.Binary.Agent == agents.Codex {
		err = codexHome(paths, o.Binary.Version, m.URL(), o.Config)
	} else {
		err = claudeHome(paths, o.Settings)
	}
	if err == nil {
		err = tools(o.Binary, paths)
	}
	if err == nil && o.Prepare != nil {
		err = o.Prepare(paths)
	}
	if err == nil && o.Style != "" {
		_, err = s.Tmux(ctx, "set", "-g", "window-style", o.Style)
	}
	if err != nil {
		return nil, err
	}
	launch, err := s.launcher(o, paths, m.URL())
	if err != nil {
		return nil, err
	}
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = 120, 40
	}
	se := &Session{Binary: o.Binary, Server: s, Model: m, Paths: paths, Name: name, Started: time.Now(),
		Cols: o.Cols, Rows: o.Rows}
	var record []string
	if o.Record {
		// On the same line as the start: not a byte is missed.
		se.raw = filepath.Join(paths.Root, "raw")
		if err := os.WriteFile(se.raw, nil, 0o600); err != nil {
			return nil, fmt.Errorf("make the recording: %w", err)
		}
		record = []string{";", "pipe-pane", "-O", "-t", name, "exec cat >> " + quote(se.raw)}
	}
	args := append([]string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-s", name,
		"-x", fmt.Sprint(o.Cols), "-y", fmt.Sprint(o.Rows), "-c", paths.Project, "exec /bin/sh " + quote(launch)}, record...)
	se.Pane, err = s.Tmux(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("start %s %s: %w", o.Binary.Agent, o.Binary.Version, err)
	}
	if o.NotReady {
		return se, nil
	}
	if err := se.ready(ctx); err != nil {
		return nil, fmt.Errorf("start %s %s (%s): %w", o.Binary.Agent, o.Binary.Version, s.Isolation(), err)
	}
	return se, nil
}

// launcher writes the script that becomes the agent. Only what tmux itself
// sets for a pane goes through env -i.
func (s *Server) launcher(o Options, p Paths, modelURL string) (string, error) {
	env := s.environment(o.Binary, p, modelURL)
	for k, v := range o.Env {
		if env[k] = v; v == "" {
			delete(env, k)
		}
	}
	var args []string
	if o.Binary.Agent == agents.Codex && atLeast(o.Binary.Version, 0, 159) && !o.Daemon {
		args = append(args, "--no-daemon")
	}
	argv := append([]string{o.Binary.Native}, append(args, o.Args...)...)
	if o.Wrapper {
		if o.Binary.Entry == "" {
			return "", fmt.Errorf("start through npm's entry: %w", ErrNoBinary)
		}
		argv = append([]string{"node", o.Binary.Entry}, argv[1:]...)
	}
	var b strings.Builder
	b.WriteString("set -- ")
	for _, k := range []string{"TERM", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"} {
		fmt.Fprintf(&b, "\"%s=$%s\" ", k, k)
	}
	for _, k := range sortedKeys(env) {
		b.WriteString(quote(k+"="+env[k]) + " ")
	}
	b.WriteByte('\n')
	line := "env -i \"$@\""
	for _, a := range argv {
		line += " " + quote(a)
	}
	if o.Shell {
		b.WriteString(line + "\nexec env -i \"$@\" 'PS1=lab$ ' HISTFILE=/dev/null bash --norc --noprofile -i\n")
	} else {
		b.WriteString("exec " + line + "\n")
	}
	f := filepath.Join(p.Root, "launch.sh")
	if err := os.WriteFile(f, []byte(b.String()), 0o700); err != nil {
		return "", fmt.Errorf("write the agent's launcher: %w", err)
	}
	return f, nil
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// quote makes one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Capture looks at the session's pane.
func (se *Session) Capture(ctx context.Context) (Screen, error) { return se.Server.Look(ctx, se.Pane) }

// WaitScreen looks until ok is true; what is for the error's text.
func (se *Session) WaitScreen(ctx context.Context, what string, ok func(Screen) bool) (Screen, error) {
	return se.Server.WaitPane(ctx, se.Pane, what, stepTimeout, ok)
}

// Still waits until the picture has been the same for a while, after which a
// key is not lost.
func (se *Session) Still(ctx context.Context) (Screen, error) {
	return se.Server.WaitStill(ctx, se.Pane, stillFor, stepTimeout)
}

// Keys sends tmux key names ("Enter", "C-c", "Escape"), each as a write of its own.
func (se *Session) Keys(ctx context.Context, keys ...string) error {
	for _, k := range keys {
		if _, err := se.Server.Tmux(ctx, "send-keys", "-t", se.Pane, k); err != nil {
			return err
		}
	}
	return nil
}

// Type sends text as typed characters.
func (se *Session) Type(ctx context.Context, text string) error {
	_, err := se.Server.Tmux(ctx, "send-keys", "-t", se.Pane, "-l", "--", text)
	return err
}

// Paste sends text as one bracketed paste, newlines as they are.
func (se *Session) Paste(ctx context.Context, text string) error {
	f := filepath.Join(se.Paths.Root, "paste")
	if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the text to paste: %w", err)
	}
	_, err := se.Server.Tmux(ctx, "load-buffer", "-b", "lab", f, ";", "paste-buffer", "-p", "-r", "-d", "-b", "lab", "-t", se.Pane)
	return err
}

// Send pastes text, waits for the draft to show, presses Enter, and returns
// when the agent's log holds the text.
func (se *Session) Send(ctx context.Context, text string) error {
	if err := se.submit(ctx, text); err != nil {
		return err
	}
	return se.WaitLog(ctx, "the text in the agent's log", func(l Log) bool {
		return slices.ContainsFunc(l.UserTexts, func(t string) bool { return strings.TrimSpace(Unwrap(t)) == strings.TrimSpace(text) })
	})
}

// submit pastes text, waits for the draft and presses Enter.
func (se *Session) submit(ctx context.Context, text string) error {
	before, err := se.Capture(ctx)
	if err != nil {
		return err
	}
	if err := se.Paste(ctx, text); err != nil {
		return err
	}
	if _, err := se.WaitScreen(ctx, "the pasted draft", func(s Screen) bool {
		return (s.X != before.X || s.Y != before.Y) && s.Text() != before.Text()
	}); err != nil {
		return err
	}
	if _, err := se.Server.WaitStill(ctx, se.Pane, 250*time.Millisecond, stepTimeout); err != nil {
		return err
	}
	return se.Keys(ctx, "Enter")
}

// WaitAnswers waits until n turns have ended with an answer and none is open,
// and returns the log.
func (se *Session) WaitAnswers(ctx context.Context, n int) (Log, error) {
	var last Log
	err := se.WaitLog(ctx, fmt.Sprintf("answer %d", n), func(l Log) bool { last = l; return !l.TurnOpen && len(l.Answers) >= n })
	return last, err
}

// Close ends the session's pane and model; with Start's own server, that too.
func (se *Session) Close() error {
	if se.own {
		return se.Server.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), tmuxTimeout)
	defer cancel()
	_, err := se.Server.Tmux(ctx, "kill-session", "-t", "="+se.Name)
	se.Model.Close()
	return err
}
