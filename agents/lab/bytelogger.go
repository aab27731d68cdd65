package lab

// A pane with a byte logger (command bytelog) in place of an agent. It
// upholds: "not one byte was typed" is measured, not concluded.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"akk/agents"
)

// BuildByteLogger builds the command into dir with the go tool, which must be
// in PATH, and returns the program's path.
func BuildByteLogger(ctx context.Context, dir string) (string, error) {
	out := filepath.Join(dir, "bytelog")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, "akk/agents/lab/bytelog")
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the byte logger: %w: %s", err, bytes.TrimSpace(b))
	}
	return out, nil
}

// Impersonate copies a program to where npm would have put the native program
// of agent, with a package.json of that version, so that the process looks
// like that agent to everyone who looks at processes. It returns a Binary for
// ByteLogger; it is no agent.
func Impersonate(program, dir string, agent agents.Kind, version string) (Binary, error) {
	var pkg, bin string
	switch agent {
	case agents.Codex:
		pkg, bin = "node_modules/@openai/codex-linux-x64", "vendor/x86_64-unknown-linux-musl/bin/codex"
	case agents.Claude:
		pkg, bin = "node_modules/@anthropic-ai/claude-code-linux-x64", "claude"
	default:
		return Binary{}, fmt.Errorf("impersonate %q: %w", agent, ErrUnknownAgent)
	}
	b := Binary{Agent: agent, Version: version, Dir: dir, Native: filepath.Join(dir, pkg, bin)}
	name, v := "@anthropic-ai/claude-code-linux-x64", version
	if agent == agents.Codex {
		name, v = "@openai/codex", version+"-linux-x64"
	}
	doc, err := json.Marshal(map[string]string{"name": name, "version": v})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.Native), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, pkg, "package.json"), doc, 0o600)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(program)
	}
	if err == nil {
		err = os.WriteFile(b.Native, data, 0o700)
	}
	if err != nil {
		return Binary{}, fmt.Errorf("impersonate %s %s: %w", agent, version, err)
	}
	return b, nil
}

// ByteLogger is a pane in which the byte logger runs.
type ByteLogger struct {
	Server *Server
	Pane   string
	path   string
}

// ByteLogger starts program (the byte logger or a copy made by Impersonate) in
// a new session of cols x rows and returns when it has drawn the picture and
// logs.
func (s *Server) ByteLogger(ctx context.Context, program string, picture []byte, cols, rows int) (*ByteLogger, error) {
	dir, err := os.MkdirTemp(s.Dir, "bytes-")
	if err != nil {
		return nil, fmt.Errorf("make the byte logger's folder: %w", err)
	}
	l := &ByteLogger{Server: s, path: filepath.Join(dir, "log")}
	draw := filepath.Join(dir, "picture")
	if err := os.WriteFile(draw, picture, 0o600); err != nil {
		return nil, fmt.Errorf("write the byte logger's picture: %w", err)
	}
	l.Pane, err = s.Tmux(ctx, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
		"-c", dir, "exec "+quote(program)+" -log "+quote(l.path)+" -draw "+quote(draw))
	if err != nil {
		return nil, fmt.Errorf("start the byte logger: %w", err)
	}
	end := time.Now().Add(stepTimeout)
	for {
		ready, _, err := l.read()
		if ready || err != nil {
			return l, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("wait for the byte logger: %w", ErrTimeout)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

// Bytes are all bytes that the program read since it was ready. Terminal
// answers to queries in the picture are not among them.
func (l *ByteLogger) Bytes() ([]byte, error) {
	_, b, err := l.read()
	return b, err
}

func (l *ByteLogger) read() (ready bool, got []byte, err error) {
	b, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("read the byte logger's log: %w", err)
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r struct {
			Event string `json:"event"`
			Hex   string `json:"hex"`
		}
		if json.Unmarshal(sc.Bytes(), &r) != nil {
			continue // the line that is being written
		}
		switch r.Event {
		case "ready":
			ready = true
		case "read":
			h, err := hex.DecodeString(r.Hex)
			if err != nil {
				return ready, got, fmt.Errorf("read the byte logger's log: %w", err)
			}
			got = append(got, h...)
		case "end":
			return ready, got, fmt.Errorf("the byte logger has ended: %w", ErrClosed)
		}
	}
	return ready, got, nil
}
