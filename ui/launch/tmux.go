package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// runLimit is how long one tmux command may take: a healthy server answers in
// milliseconds, a hung one must not hang us.
const runLimit = 5 * time.Second

// Tmux is a tmux server by its socket. The zero Socket is tmux's own default.
type Tmux struct {
	Socket string   // absolute path
	Self   []string // how to start akk itself on this server: program and global flags
}

// Run carries out one tmux command line and returns its output without the
// last newline. Errors carry tmux's own words.
func (t Tmux) Run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append(t.flags(), words(args)...)...)
	cmd.Env = environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch said := strings.TrimSpace(errs.String()); {
	case err == nil:
		return strings.TrimRight(out.String(), "\n"), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", ErrNoTmux
	case ctx.Err() != nil:
		return "", fmt.Errorf("tmux %s got no answer from the server within %s", args[0], runLimit)
	case strings.Contains(said, "no server running") || strings.Contains(said, "error connecting to") || strings.Contains(said, "no current client"):
		return "", fmt.Errorf("%w: %s", ErrNoServer, said)
	case strings.HasPrefix(said, "can't find pane") || strings.HasPrefix(said, "can't find window") || strings.HasPrefix(said, "can't find session"):
		return "", fmt.Errorf("%w (tmux: %s)", ErrGone, said)
	default:
		return "", fmt.Errorf("tmux %s: %s", args[0], said)
	}
}

// words keeps tmux from taking a ";" at a word's end (of a folder, of akk's own
// path) for the end of the command; a ";" alone is one.
func words(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if rest, ok := strings.CutSuffix(a, ";"); ok && rest != "" {
			a = rest + `\;`
		}
		out[i] = a
	}
	return out
}

func (t Tmux) flags() []string {
	if t.Socket == "" {
		return nil
	}
	return []string{"-S", t.Socket}
}

// environ is ours without the marks of the tmux that we may run in: the server
// is named by -S alone.
func environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if k, _, _ := strings.Cut(kv, "="); k != "TMUX" && k != "TMUX_PANE" {
			env = append(env, kv)
		}
	}
	return env
}

// Command is how a human names this server to tmux.
func (t Tmux) Command(args ...string) string {
	words := []string{"tmux"}
	for _, a := range append(t.flags(), args...) {
		words = append(words, Quote(a))
	}
	return strings.Join(words, " ")
}

// Quote writes a word so that a shell reads it back.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Attach is the program and arguments that attach a human to a session.
func (t Tmux) Attach(session string) (path string, argv []string, env []string, err error) {
	path, err = exec.LookPath("tmux")
	if err != nil {
		return "", nil, nil, ErrNoTmux
	}
	argv = append([]string{"tmux"}, t.flags()...)
	return path, append(argv, "attach-session", "-t", "="+session), environ(), nil
}

// CheckVersion says whether the tmux program can be used: ErrNoTmux, ErrOldTmux
// with the version, or nil.
func CheckVersion(ctx context.Context) error {
	_, err := Version(ctx)
	return err
}

// Version is what the tmux program calls itself, such as "3.3a"; the error is
// that of CheckVersion.
func Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-V").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoTmux
	}
	if err != nil {
		return "", fmt.Errorf("asked tmux for its version: %w", err)
	}
	v := strings.TrimPrefix(strings.TrimSpace(string(out)), "tmux ")
	if !newEnough(v) {
		return "", fmt.Errorf("%w: it says %q, akk needs 3.2 or newer", ErrOldTmux, v)
	}
	return v, nil
}

// newEnough compares with 3.2. Builds from tmux's master call themselves
// next-3.8 or master: the first has a number, the second is new by name.
func newEnough(v string) bool {
	v = strings.TrimPrefix(v, "next-")
	if v == "master" || strings.HasPrefix(v, "openbsd-") {
		return true
	}
	major, rest, _ := strings.Cut(v, ".")
	digits := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = rest[:i]
	}
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(digits)
	return err1 == nil && err2 == nil && (a > 3 || a == 3 && b >= 2)
}
