package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// This file follows a file that another program appends lines to. Rules: a
// torn last line waits for its end; a truncated or replaced file is noticed
// and told, never read as if nothing had happened; a line without end can't
// eat the memory.

// MaxLogLine is the longest line that is given out, in bytes. Longer ones are
// skipped and counted: a tool's output may be huge, and no event that counts
// is in a line of this size.
const MaxLogLine = 16 << 20

// tailCheck is how many bytes before the read position are compared at each
// poll, to notice a file that was rewritten in place.
const tailCheck = 64

// Tail reads a growing file line by line. It is used by one goroutine and
// never waits. The file is open for reading only between Poll calls' needs: a
// Tail keeps one descriptor until Close.
type Tail struct {
	path    string
	f       *os.File
	offset  int64  // behind the last byte read
	rest    []byte // begin of a line whose end has not come
	skip    bool   // inside a line that is too long
	skipped int
	mark    []byte // the last bytes before offset
}

// OpenTail opens the file at its begin. A file that does not exist is
// fs.ErrNotExist.
func OpenTail(path string) (*Tail, error) {
	f, err := OpenLogFile(path)
	if err != nil {
		return nil, fmt.Errorf("open agent log: %w", err)
	}
	return &Tail{path: path, f: f}, nil
}

// OpenLogFile opens a file of an agent for reading. What is not a regular file
// is refused: a named pipe in its place would hold whoever opens it for ever,
// and the end of the daemon with it.
func OpenLogFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Path is the file's path.
func (t *Tail) Path() string { return t.path }

// Skipped is the number of lines that were too long.
func (t *Tail) Skipped() int { return t.skipped }

// Offset is the byte behind the last whole line that was given out.
func (t *Tail) Offset() int64 { return t.offset - int64(len(t.rest)) }

// Poll calls line for every whole line that came since the last call, without
// its newline and with the offset behind it; the bytes are only valid during
// the call. ErrLogReplaced says that the file was truncated, rewritten or
// replaced: the next Poll starts at the begin of what is there now.
func (t *Tail) Poll(line func(text []byte, end int64)) error {
	if t.f == nil { // replaced by nothing so far
		f, err := OpenLogFile(t.path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("open agent log again: %w", err)
		}
		t.f = f
	}
	if err := t.check(); err != nil {
		return err
	}
	chunk := make([]byte, 64<<10)
	for {
		n, err := t.f.ReadAt(chunk, t.offset)
		t.take(chunk[:n], line)
		if err == io.EOF || n == 0 && err == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read agent log %s: %w", t.path, err)
		}
	}
}

// check notices a file that is not the one that was read so far.
func (t *Tail) check() error {
	held, err := t.f.Stat()
	if err != nil {
		return fmt.Errorf("look at agent log: %w", err)
	}
	now, err := os.Stat(t.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		// Deleted: what is still held open may be read to its end.
		return nil
	case err != nil:
		return fmt.Errorf("look at agent log: %w", err)
	case !os.SameFile(held, now):
		t.f.Close()
		t.f = nil
		t.reset()
		return fmt.Errorf("%s is another file now: %w", t.path, ErrLogReplaced)
	case held.Size() < t.offset:
		t.reset()
		return fmt.Errorf("%s became shorter: %w", t.path, ErrLogReplaced)
	}
	if len(t.mark) > 0 {
		got := make([]byte, len(t.mark))
		if _, err := t.f.ReadAt(got, t.offset-int64(len(got))); err != nil || !bytes.Equal(got, t.mark) {
			t.reset()
			return fmt.Errorf("%s was rewritten: %w", t.path, ErrLogReplaced)
		}
	}
	return nil
}

func (t *Tail) reset() {
	t.offset, t.rest, t.skip, t.mark = 0, nil, false, nil
}

func (t *Tail) take(b []byte, line func([]byte, int64)) {
	if len(b) == 0 {
		return
	}
	t.mark = append(t.mark, b[max(0, len(b)-tailCheck):]...)
	t.mark = t.mark[max(0, len(t.mark)-tailCheck):]
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			t.offset += int64(len(b))
			if t.skip || len(t.rest)+len(b) > MaxLogLine {
				t.skip, t.rest = true, nil
				return
			}
			t.rest = append(t.rest, b...)
			return
		}
		t.offset += int64(i + 1)
		switch {
		case t.skip || len(t.rest)+i > MaxLogLine:
			t.skipped++
		case len(t.rest) > 0:
			t.rest = append(t.rest, b[:i]...)
			line(t.rest, t.offset)
		default:
			line(b[:i], t.offset)
		}
		t.skip, t.rest, b = false, t.rest[:0], b[i+1:]
	}
}

// Close gives the descriptor back.
func (t *Tail) Close() error {
	if t.f == nil {
		return nil
	}
	err := t.f.Close()
	t.f = nil
	return err
}
