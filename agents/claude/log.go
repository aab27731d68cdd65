package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"akk/agents"
)

// This file follows a session: its status file and the transcript that the
// status file names. Rule: /clear and /resume change the file under the same
// process; what was written to the old one is read to its end first.

// sessionLog implements agents.Log.
type sessionLog struct {
	proc   agents.Process
	config string
	path   string // of the status file
	st     status
	app    *agents.AppStatus
	tail   *agents.Tail
	turns  turns
	told   bool      // the session's id was given out
	left   time.Time // since when the status names another session, zero = it does not
	now    func() time.Time
}

// OpenLog finds the status file of the process. It returns agents.ErrNoLog
// while there is none; the transcript may come later.
func (Agent) OpenLog(p *agents.Process) (agents.Log, error) {
	if p == nil {
		return nil, fmt.Errorf("no process: %w", agents.ErrNoLog)
	}
	l := &sessionLog{proc: *p, config: configDir(p), now: time.Now}
	l.path = statusPath(l.config, p.PID)
	st, mod, err := readStatus(l.path)
	switch {
	case errors.Is(err, agents.ErrNoLog):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("status file of process %d: %v: %w", p.PID, err, agents.ErrNoLog)
	case !st.fresh(p):
		return nil, fmt.Errorf("%s was left by another process: %w", l.path, agents.ErrNoLog)
	case st.SessionID == "":
		return nil, fmt.Errorf("%s names no session: %w", l.path, agents.ErrNoLog)
	}
	l.st, l.app = st, st.app(mod)
	l.turns.session = st.SessionID
	return l, nil
}

// Path is the transcript's path, "" while there is none.
func (l *sessionLog) Path() string {
	if l.tail == nil {
		return ""
	}
	return l.tail.Path()
}

// WatchPaths are the status file, the folder of status files and the folder in
// which the transcript is or will be.
func (l *sessionLog) WatchPaths() []string {
	paths := []string{l.path, filepath.Dir(l.path)}
	if l.tail != nil {
		return append(paths, l.tail.Path(), filepath.Dir(l.tail.Path()))
	}
	return append(paths, projectDir(l.config, l.st.Cwd), filepath.Join(l.config, "projects"))
}

// endGrace is how long a session that was left is read on for the end of its open
// turn: Claude Code writes it after the status file names the next one, when a
// /clear was waiting for that end. Some 0.1 s were seen.
const endGrace = time.Second

// Poll reads what came since the last call.
func (l *sessionLog) Poll() ([]agents.LogEvent, error) {
	st, mod, err := readStatus(l.path)
	if err == nil && st.fresh(&l.proc) {
		l.app = st.app(mod)
	} else {
		st = l.st
		if errors.Is(err, fs.ErrNotExist) {
			l.app = nil // the agent has ended or is about to
		}
	}
	out, err := l.read()
	if err != nil {
		return out, err
	}
	if st.SessionID != "" && st.SessionID != l.st.SessionID {
		if l.left.IsZero() {
			l.left = l.now()
		}
		if len(out) > 0 || l.turns.open && l.now().Sub(l.left) < endGrace {
			return out, nil // what ended the old session goes out under its path
		}
		l.leave(st)
		out, err = l.read()
	} else if st.SessionID != "" {
		l.st, l.left = st, time.Time{}
	}
	out = append(out, l.turns.rest(l.app, l.now())...)
	return out, err
}

// leave goes over to another session.
func (l *sessionLog) leave(st status) {
	if l.tail != nil {
		l.tail.Close()
	}
	l.tail, l.st, l.told, l.left = nil, st, false, time.Time{}
	l.turns = turns{session: st.SessionID}
}

// read reads the transcript's new lines.
func (l *sessionLog) read() ([]agents.LogEvent, error) {
	if l.tail == nil {
		path := transcript(l.config, l.st.Cwd, l.st.SessionID)
		if path == "" {
			return nil, nil
		}
		t, err := agents.OpenTail(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		l.tail = t
	}
	var batch []record
	err := l.tail.Poll(func(text []byte, end int64) {
		if r := parseLine(text, end); r.kind != recNone {
			batch = append(batch, r)
		}
	})
	var out []agents.LogEvent
	if !l.told {
		l.told = true
		out = append(out, agents.LogEvent{Kind: agents.LogSession, SessionID: l.st.SessionID, Time: l.now()})
	}
	out = append(out, l.turns.take(batch)...)
	if errors.Is(err, agents.ErrLogReplaced) {
		l.turns = turns{session: l.st.SessionID}
	}
	return out, err
}

// State is the sum of the events so far.
func (l *sessionLog) State() agents.LogState {
	s := agents.LogState{Path: l.Path(), SessionID: l.st.SessionID, TurnOpen: l.turns.open, Last: l.turns.last}
	if len(l.turns.pending) > 0 {
		p := l.turns.pending[0]
		s.Pending = &p
	}
	return s
}

// Status is the status file as last polled, nil once the agent has removed it.
func (l *sessionLog) Status() *agents.AppStatus { return l.app }

// Close gives the descriptor back.
func (l *sessionLog) Close() error {
	if l.tail == nil {
		return nil
	}
	return l.tail.Close()
}
