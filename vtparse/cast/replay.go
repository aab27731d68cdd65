package cast

import (
	"errors"
	"fmt"
	"io"

	"akk/vtparse"
)

// This file plays a recording into a terminal, for `akk replay`.

// Replay is Reader.Replay for a recording whose header nobody has read.
func Replay(r io.Reader, o vtparse.Options, at func(Event, *vtparse.Screen) error) error {
	rd, err := NewReader(r)
	if err != nil {
		return err
	}
	_, err = rd.Replay(o, at)
	return err
}

// Replay plays the recording and calls at for every marker with the screen at
// that place. Each output event is one chunk. It stops at the first error of
// the recording or of at, and returns the terminal as it is then. With
// Options.History 0 it keeps as many lines as tmux does by default, since a
// resize brings them back.
func (rd *Reader) Replay(o vtparse.Options, at func(Event, *vtparse.Screen) error) (*vtparse.Terminal, error) {
	if o.TmuxVersion == "" {
		o.TmuxVersion = rd.Header.TmuxVersion
	}
	if o.History == 0 {
		o.History = tmuxHistory
	}
	t := vtparse.New(rd.Header.Width, rd.Header.Height, o)
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		switch e.Kind {
		case Output:
			t.Write([]byte(e.Data))
		case Resize:
			cols, rows, err := e.Size()
			if err != nil {
				return t, err
			}
			t.Resize(cols, rows)
		case Marker:
			if err := at(e, t.Screen()); err != nil {
				return t, fmt.Errorf("line %d: marker %q: %w", e.Line, e.Data, err)
			}
		}
	}
}

// tmuxHistory is tmux's default history-limit, in lines.
const tmuxHistory = 2000
