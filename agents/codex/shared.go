package codex

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"akk/agents"
)

// This file follows the rollouts of a shared daemon (0.171 on), which no
// terminal's process holds open. Rules: nothing proves which one is ours but
// the hash of a text that we sent, so only accepted messages and the ends of
// turns are told, no state; the same hash in two rollouts at once is nobody's.

// sharedLog is an agents.Log over candidates.
type sharedLog struct {
	root  string // CODEX_HOME/sessions
	cwd   string
	since time.Time
	now   func() time.Time
	open  map[string]*follow
	// read is how many bytes all candidates have given; it stands for the
	// offset, which only ever grows.
	read    int64
	checked time.Time
	last    *agents.LogEvent
}

func openShared(root, cwd string, since time.Time) (*sharedLog, error) {
	l := &sharedLog{root: root, cwd: cwd, since: since, now: time.Now, open: map[string]*follow{}}
	l.look()
	if len(l.open) == 0 {
		return nil, agents.ErrNoLog
	}
	return l, nil
}

// Candidates are the rollouts that could be this terminal's.
func (l *sharedLog) Candidates() []string {
	out := make([]string, 0, len(l.open))
	for p := range l.open {
		out = append(out, p)
	}
	return out
}

// Rivals are all of them.
func (l *sharedLog) Rivals() int { return len(l.open) }

// look finds rollouts of this working directory that were written since the
// process began.
func (l *sharedLog) look() {
	l.checked = l.now()
	paths, _ := filepath.Glob(filepath.Join(l.root, "*", "*", "*", "rollout-*.jsonl"))
	for _, p := range paths {
		if l.open[p] != nil {
			continue
		}
		st, err := os.Stat(p)
		if err != nil || st.ModTime().Before(l.since) {
			continue
		}
		head := newRollout(p, l.since)
		if !head.readMeta(p) || head.cwd != l.cwd || head.sub {
			continue
		}
		if t, err := agents.OpenTail(p); err == nil {
			l.open[p] = &follow{tail: t, sum: newRollout(p, l.since)}
		}
	}
}

// readMeta reads the file's first line.
func (r *rollout) readMeta(path string) bool {
	f, err := agents.OpenLogFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := bufio.NewReaderSize(io.LimitReader(f, agents.MaxLogLine), 64<<10).ReadBytes('\n')
	if err != nil {
		return false
	}
	e, ok := r.parseLine(b, int64(len(b)))
	return ok && e.Kind == agents.LogSession
}

// Path is "": no file is provably this terminal's.
func (l *sharedLog) Path() string { return "" }

func (l *sharedLog) WatchPaths() []string {
	out := l.Candidates()
	day := l.now()
	return append(out, filepath.Join(l.root, day.Format("2006"), day.Format("01"), day.Format("02")))
}

func (l *sharedLog) Poll() ([]agents.LogEvent, error) {
	if l.now().Sub(l.checked) >= recheck {
		l.look()
	}
	var out []agents.LogEvent
	var failed error
	owner := map[string]string{} // hash -> session
	double := map[string]bool{}
	for _, f := range l.open {
		before := f.tail.Offset()
		events, err := f.poll()
		if err != nil {
			failed = errors.Join(failed, err)
		}
		l.read += max(0, f.tail.Offset()-before)
		for _, e := range events {
			switch e.Kind {
			case agents.LogAccepted:
				if was, ok := owner[e.Hash]; ok && was != e.SessionID {
					double[e.Hash] = true
				}
				owner[e.Hash] = e.SessionID
			case agents.LogCompleted, agents.LogFailed, agents.LogAborted:
			default:
				continue
			}
			if e.Time.Before(l.since) {
				continue // history of a resumed conversation
			}
			e.Offset = l.read
			out = append(out, e)
		}
	}
	kept := out[:0]
	for _, e := range out {
		if e.Kind != agents.LogAccepted || !double[e.Hash] {
			kept = append(kept, e)
		}
	}
	if n := len(kept); n > 0 {
		last := kept[n-1]
		l.last = &last
	}
	return kept, failed
}

// State tells nothing but the last event: whose turn is open is not known.
func (l *sharedLog) State() agents.LogState { return agents.LogState{Last: l.last} }

func (l *sharedLog) Status() *agents.AppStatus { return nil }

func (l *sharedLog) Close() error {
	var err error
	for _, f := range l.open {
		err = errors.Join(err, f.tail.Close())
	}
	clear(l.open)
	return err
}
