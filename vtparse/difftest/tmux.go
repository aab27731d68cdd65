package difftest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// This file drives one private tmux server over one control client. Rules:
// every wait has a deadline; only this server is ever touched or ended.

// Server is a tmux of our own.
type Server struct {
	dir     string
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte
	windows int
	pane    string
	fifo    *os.File
	onData  func([]byte)
	got     int
}

// patience is how long tmux may take for one answer.
const patience = 10 * time.Second

// Version returns what the installed tmux says it is, "" without one.
func Version() string {
	out, err := exec.Command("tmux", "-V").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "tmux "))
}

// Start starts the server in dir, whose path must be short.
func Start(dir string) (*Server, error) {
	s := &Server{dir: dir, lines: make(chan []byte, 1024)}
	s.cmd = exec.Command("tmux", "-S", filepath.Join(dir, "s"), "-f", "/dev/null", "-C", "new-session", "-x", "80", "-y", "24", "sleep 100000")
	s.cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8", "TMUX_TMPDIR="+dir)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start tmux: %w", err)
	}
	go func() {
		defer close(s.lines)
		r := bufio.NewReaderSize(out, 1<<20)
		for {
			l, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			s.lines <- bytes.TrimRight(l, "\n")
		}
	}()
	if _, err := s.reply(); err != nil { // of new-session itself
		return nil, err
	}
	if _, err := s.Do("set -g status off"); err != nil {
		return nil, err
	}
	return s, nil
}

// Stop ends the server.
func (s *Server) Stop() {
	s.closeFifo()
	exec.Command("tmux", "-S", filepath.Join(s.dir, "s"), "kill-server").Run()
	s.in.Close()
	for range s.lines {
	}
	s.cmd.Wait()
}

func (s *Server) closeFifo() {
	if s.fifo != nil {
		s.fifo.Close()
		s.fifo = nil
	}
}

// next reads one line; output of the pane is handed on at once.
func (s *Server) next() ([]byte, error) {
	select {
	case l, ok := <-s.lines:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		if rest, ok := bytes.CutPrefix(l, []byte("%output ")); ok {
			if pane, data, ok := bytes.Cut(rest, []byte(" ")); ok && string(pane) == s.pane {
				b := unescape(data)
				s.got += len(b)
				if s.onData != nil {
					s.onData(b)
				}
			}
		}
		return l, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("tmux did not answer within %v", patience)
	}
}

func unescape(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+3 < len(p) {
			out = append(out, (p[i+1]-'0')<<6|(p[i+2]-'0')<<3|(p[i+3]-'0'))
			i += 3
			continue
		}
		out = append(out, p[i])
	}
	return out
}

// reply reads one answer block.
func (s *Server) reply() ([]string, error) {
	var block []string
	inside := false
	for {
		l, err := s.next()
		if err != nil {
			return nil, err
		}
		switch {
		case !inside && bytes.HasPrefix(l, []byte("%begin ")):
			inside = true
		case inside && bytes.HasPrefix(l, []byte("%end ")):
			return block, nil
		case inside && bytes.HasPrefix(l, []byte("%error ")):
			return nil, fmt.Errorf("tmux: %s", strings.Join(block, " "))
		case inside:
			block = append(block, string(l))
		}
	}
}

// Do runs one command.
func (s *Server) Do(cmd string) ([]string, error) {
	if _, err := io.WriteString(s.in, cmd+"\n"); err != nil {
		return nil, err
	}
	out, err := s.reply()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	return out, nil
}

// Open makes a window of the given size whose pane shows what Write writes.
func (s *Server) Open(cols, rows int) error {
	if s.pane != "" {
		if _, err := s.Do("kill-pane -t " + s.pane); err != nil {
			return err
		}
	}
	s.closeFifo()
	s.windows++
	path := filepath.Join(s.dir, fmt.Sprintf("f%d", s.windows))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return err
	}
	defer os.Remove(path)
	if _, err := s.Do(fmt.Sprintf("refresh-client -C %dx%d", cols, rows)); err != nil {
		return err
	}
	out, err := s.Do(fmt.Sprintf("new-window -P -F '#{pane_id}' 'stty raw -echo; exec cat %s'", path))
	if err != nil {
		return err
	}
	s.pane, s.got, s.onData = out[0], 0, nil
	s.fifo, err = os.OpenFile(path, os.O_WRONLY, 0)
	return err
}

// piece is what is written at once, in bytes: with more than a pipe holds,
// tmux would wait for us to read while we wait for it.
const piece = 32 << 10

// Write writes one chunk and waits until tmux has passed on all of it.
func (s *Server) Write(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), piece)
		want := s.got + n
		if _, err := s.fifo.Write(p[:n]); err != nil {
			return err
		}
		for s.got < want {
			if _, err := s.next(); err != nil {
				return err
			}
		}
		p = p[n:]
	}
	return nil
}
