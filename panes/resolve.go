package panes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file finds a tmux server the way tmux itself does, and says in words
// what is missing.

var (
	// ErrNoTmux is returned when no tmux binary is in PATH.
	ErrNoTmux = errors.New("tmux is not installed")
	// ErrOldTmux is returned for a server before 3.2.
	ErrOldTmux = errors.New("tmux is too old, akk needs 3.2 or newer")
	// ErrNoServer is returned when nobody listens on the socket.
	ErrNoServer = errors.New("no tmux server is running there")
)

// probeTimeout bounds the one command that is run before a server is attached.
const probeTimeout = 5 * time.Second

// SocketPath tells the socket that `tmux -L label -S path` would use; env is
// os.Getenv or like it. path wins over label, both over $TMUX, and without any
// it is tmux's default server.
func SocketPath(label, path string, env func(string) string) (string, error) {
	if path != "" {
		return filepath.Abs(path)
	}
	if label == "" {
		if t := env("TMUX"); t != "" {
			sock, _, _ := strings.Cut(t, ",")
			if sock == "" || !filepath.IsAbs(sock) {
				return "", fmt.Errorf("$TMUX is %q, which names no socket: unset it or give -L or -S", t)
			}
			return sock, nil
		}
		label = "default"
	}
	if strings.ContainsRune(label, '/') {
		return "", fmt.Errorf("server name %q may not contain a slash: give a path with -S", label)
	}
	dir := env("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), label), nil
}

// Probe asks the server on socket who it is. It starts no server.
func Probe(ctx context.Context, socket string) (ServerID, string, error) {
	bin, err := exec.LookPath("tmux")
	if err != nil {
		return ServerID{}, "", ErrNoTmux
	}
	if _, err := os.Stat(socket); err != nil {
		return ServerID{}, "", fmt.Errorf("%w (%s)", ErrNoServer, socket)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-S", socket, "display-message", "-p", "#{pid} #{start_time} #{version}")
	cmd.Env = clientEnv()
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return ServerID{}, "", fmt.Errorf("the tmux server on %s does not answer", socket)
		case strings.Contains(text, "protocol version mismatch"):
			return ServerID{}, "", fmt.Errorf("%w: %s runs another version than the tmux in PATH (%s)", ErrOldTmux, socket, text)
		}
		return ServerID{}, "", fmt.Errorf("%w (%s: %s)", ErrNoServer, socket, text)
	}
	f := strings.Fields(text)
	if len(f) < 2 {
		return ServerID{}, "", fmt.Errorf("tmux on %s answered %q", socket, text)
	}
	pid, err1 := strconv.Atoi(f[0])
	start, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		return ServerID{}, "", fmt.Errorf("tmux on %s answered %q", socket, text)
	}
	version := strings.Join(f[2:], " ")
	if !newEnough(version) {
		return ServerID{}, version, fmt.Errorf("%w (this one is %q)", ErrOldTmux, version)
	}
	return ServerID{Socket: socket, PID: pid, Start: time.Unix(start, 0).UTC()}, version, nil
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d+)`) })

// newEnough: 3.2 is the floor (pause-after, -f flags, subscriptions); a
// version without a number ("master") is new.
func newEnough(v string) bool {
	m := versionNumber().FindStringSubmatch(v)
	if m == nil {
		return v != ""
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > 3 || major == 3 && minor >= 2
}

// atLeast compares the numbers of a tmux version, letters left out.
func atLeast(v string, major, minor int) bool {
	m := versionNumber().FindStringSubmatch(v)
	if m == nil {
		return true
	}
	a, _ := strconv.Atoi(m[1])
	b, _ := strconv.Atoi(m[2])
	return a > major || a == major && b >= minor
}

// controlEnv is what a control client gets: with -E nothing of it reaches the
// session, and the less there is to tell the server, the shorter is the moment
// in which the client is half attached.
func controlEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TERM=dumb", "LC_ALL=C.UTF-8"}
}

// clientEnv is what our tmux children see: not nested, UTF-8, nothing else
// changed.
func clientEnv() []string {
	env := make([]string, 0, 32)
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		switch k {
		case "TMUX", "TMUX_PANE", "LC_ALL", "LC_CTYPE":
		default:
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C.UTF-8")
}
