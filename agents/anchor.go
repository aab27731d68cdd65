package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// This file marks a place in an agent's log, so that somebody may go on from
// there later, also after akk was started anew. Rule: a place counts only while
// the bytes before it are the same; in another file it is no place at all.

// Anchor is a place between two lines of a log. It is a value and may be stored:
// of the log's text it holds a hash only.
type Anchor struct {
	Path      string `json:"path"`
	Offset    int64  `json:"offset"`         // bytes before it
	Mark      string `json:"mark,omitempty"` // sha256 in hex of the bytes right before it, at most anchorBytes
	SessionID string `json:"session_id,omitempty"`
}

// anchorBytes is how many bytes before an anchor are compared.
const anchorBytes = 4096

// Anchored is an Agent whose logs can be read from an anchor on.
type Anchored interface {
	// EventsFrom reads what the log says behind the anchor and gives the anchor
	// behind the last whole line. A turn that began before the anchor is known by
	// its own id only; put the anchor before the message that begins it.
	// ErrLogReplaced says that the file is not the one the anchor was made in.
	EventsFrom(a Anchor) ([]LogEvent, Anchor, error)
}

// Anchor is the place behind the last whole line that was given out.
func (t *Tail) Anchor() (Anchor, error) {
	a := Anchor{Path: t.path, Offset: t.Offset()}
	if t.f == nil {
		return a, fmt.Errorf("%s is gone: %w", t.path, ErrLogReplaced)
	}
	var err error
	a.Mark, err = markAt(t.f, a.Offset)
	return a, err
}

// OpenTailAt reads a file from an anchor on. ErrLogReplaced says that the file
// was truncated, rewritten or replaced since.
func OpenTailAt(a Anchor) (*Tail, error) {
	t, err := OpenTail(a.Path)
	if err != nil {
		return nil, err
	}
	mark, err := markAt(t.f, a.Offset)
	if err != nil || mark != a.Mark || a.Offset < 0 {
		t.Close()
		return nil, fmt.Errorf("%s has other bytes before %d than when it was anchored: %w", a.Path, a.Offset, ErrLogReplaced)
	}
	t.offset = a.Offset
	if n := min(a.Offset, tailCheck); n > 0 {
		t.mark = make([]byte, n)
		if _, err := t.f.ReadAt(t.mark, a.Offset-n); err != nil {
			t.Close()
			return nil, fmt.Errorf("read agent log %s: %w", a.Path, err)
		}
	}
	return t, nil
}

// markAt is the hash of the bytes before offset; "" at the file's begin.
func markAt(f io.ReaderAt, offset int64) (string, error) {
	n := min(offset, anchorBytes)
	if n <= 0 {
		return "", nil
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, offset-n); err != nil {
		return "", fmt.Errorf("read agent log: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
