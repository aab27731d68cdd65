package lab

// The private tmux server of a lab. It upholds: the user's own tmux is never
// touched, and Close leaves nothing running.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

// markEnv is in the environment of all that a lab starts; by its value Close
// finds what is left.
const markEnv = "AKK_LAB_RUN"

const (
	// tmuxTimeout bounds one tmux command. A loaded machine took 2 s.
	tmuxTimeout = 20 * time.Second
	// closeGrace is how long processes have to leave after SIGHUP. Claude Code
	// writes its last state in up to 1 s.
	closeGrace = 4 * time.Second
)

// Server is one private tmux server with its network, its folders and the
// agents in it. Its methods are safe for any goroutine.
type Server struct {
	// Socket is the tmux server's socket: `tmux -S Socket`, and akk's -S.
	Socket string
	// Dir is the run folder: homes, projects, logs. Removed by Close.
	Dir string

	net    *network
	sock   string // folder of the socket
	mark   string
	tmux   string
	mu     sync.Mutex
	closed bool
	models []*model.Server
	count  int
}

// NewServer starts a private tmux server with one idle pane (session "lab-0",
// `sleep`), so that it lives while agents come and go. Errors: ErrNoTmux, or a
// folder that can't be made.
func NewServer(ctx context.Context) (*Server, error) {
	bin, err := exec.LookPath("tmux")
	if err != nil {
		return nil, ErrNoTmux
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	// Not below /tmp: Codex warns about a home there.
	runs := filepath.Join(cache, "run")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return nil, fmt.Errorf("make the lab's run folder (set %s): %w", CacheEnv, err)
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	s := &Server{tmux: bin, mark: hex.EncodeToString(id[:])}
	if s.Dir, err = os.MkdirTemp(runs, ""); err != nil {
		return nil, fmt.Errorf("make the lab's run folder: %w", err)
	}
	if s.Dir, err = filepath.EvalSymlinks(s.Dir); err != nil {
		return nil, fmt.Errorf("find the lab's run folder: %w", err)
	}
	// A socket's path has at most 107 bytes: a short folder of its own.
	if s.sock, err = os.MkdirTemp("/tmp", "akkl"); err != nil {
		os.RemoveAll(s.Dir)
		return nil, fmt.Errorf("make the lab's socket folder: %w", err)
	}
	s.Socket = filepath.Join(s.sock, "s")
	if s.net, err = newNetwork(); err != nil {
		s.Close()
		return nil, err
	}
	// The options stand before the first session on one line: a server without
	// a session would leave at once.
	_, err = s.Tmux(ctx, "-f", "/dev/null",
		"set", "-g", "default-terminal", "tmux-256color", ";", "set", "-g", "remain-on-exit", "on", ";",
		"set", "-g", "history-limit", "5000", ";", "set", "-g", "status", "off", ";", "set", "-s", "escape-time", "10", ";",
		"new-session", "-d", "-s", "lab-0", "-x", "80", "-y", "24", "exec sleep 1000000")
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("start the lab's tmux server: %w", err)
	}
	return s, nil
}

// Isolation says in one sentence how the agents are kept off the network.
func (s *Server) Isolation() string {
	if s.net.isolated() {
		return "own network namespace with loopback only"
	}
	return "no own network namespace (needs root on Linux): dead proxies and base URLs only"
}

// Isolated is true in an own network namespace.
func (s *Server) Isolated() bool { return s.net.isolated() }

// Mark is an environment setting ("AKK_LAB_RUN=...") by which Close finds and
// ends whatever a test starts with it: akk's daemon, for one.
func (s *Server) Mark() string { return markEnv + "=" + s.mark }

// Tmux runs one tmux command line on the lab's server and returns its output
// without the last newline.
func (s *Server) Tmux(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.tmux, append([]string{"-S", s.Socket}, args...)...)
	cmd.Env = s.baseEnv()
	cmd.Dir = s.Dir
	cmd.WaitDelay = time.Second
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	// The server that the first command forks stays in the namespace.
	err := s.net.do(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (s *Server) baseEnv() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.Dir, "LANG=C.UTF-8", "SHELL=/bin/sh",
		"TMUX_TMPDIR=" + s.sock, markEnv + "=" + s.mark}
}

// Model starts a model server that only the lab's agents can reach.
func (s *Server) Model(agent agents.Kind, script model.Script) (*model.Server, error) {
	api := model.Responses
	if agent == agents.Claude {
		api = model.Messages
	}
	ln, err := s.net.listen()
	if err != nil {
		return nil, fmt.Errorf("listen for the model server: %w", err)
	}
	m, err := model.Serve(ln, api, script)
	if err != nil {
		ln.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		m.Close()
		return nil, ErrClosed
	}
	s.models = append(s.models, m)
	return m, nil
}

// Close ends the tmux server, every process that carries the lab's mark, the
// model servers, and removes the run folder. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	models := s.models
	s.mu.Unlock()

	if s.net != nil {
		ctx, cancel := context.WithTimeout(context.Background(), tmuxTimeout)
		_, _ = s.Tmux(ctx, "kill-server") // it may have left already
		cancel()
		s.reap()
		for _, m := range models {
			m.Close()
		}
		s.net.close()
	}
	return errors.Join(os.RemoveAll(s.sock), removeRun(s.Dir))
}

// reap waits for the marked processes to leave and ends the rest by pid.
func (s *Server) reap() {
	end := time.Now().Add(closeGrace)
	for {
		left := marked(s.mark)
		if len(left) == 0 {
			return
		}
		late := time.Now().After(end)
		if time.Now().After(end.Add(closeGrace)) {
			return // not killable: nothing more to be done
		}
		for _, pid := range left {
			if late {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(pollEvery)
	}
}

// removeRun removes a run folder; a file that a dying process writes meanwhile
// gets a second try.
func removeRun(dir string) error {
	err := os.RemoveAll(dir)
	for range 10 {
		if err == nil {
			return nil
		}
		time.Sleep(pollEvery)
		err = os.RemoveAll(dir)
	}
	return fmt.Errorf("remove the lab's run folder: %w", err)
}
