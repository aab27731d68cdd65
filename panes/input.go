package panes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// This file is the input gate's door: the only way by which a byte goes into a
// pane. What may never be typed is refused here with its place; what the server
// must test is in gate.go, the lock in hold.go. A text waits in a buffer of ours
// only until it is pasted.

const (
	// maxText bounds one paste in bytes.
	maxText = 1 << 20
	// maxKeys bounds one send-keys: 16384 arguments overflow tmux's parser.
	maxKeys = 500
	// bornSlack is the difference of start times that a change of the clock
	// makes.
	bornSlack = 2 * time.Second
	// maxShows and maxShown bound the text conditions, in number and in bytes
	// each: the gate's line stays short.
	maxShows = 8
	maxShown = 1000
)

// Input implements Provider.
func (s *Server) Input(ctx context.Context, w Write) (Sent, error) {
	if err := w.check(); err != nil {
		return Sent{}, err
	}
	if err := s.own(); err != nil {
		return Sent{}, &Refused{"owner", err.Error()}
	}
	if born, ok := processStart(w.Identity.PanePID); !w.Identity.PaneBorn.IsZero() && (!ok || born.Sub(w.Identity.PaneBorn).Abs() > bornSlack) {
		return Sent{}, &Refused{"identity", "the pane's process has ended"}
	}
	if in, ok := s.Pane(w.Identity.Pane); ok && w.Paste != "" {
		if err := tooLong(in.TTY, w.Paste); err != nil {
			return Sent{}, err
		}
	}
	var begun atomic.Bool // from here on it is not known what went out
	sent, err := call(ctx, s, func(done func(Sent, error)) {
		m := s.mirrors[w.Identity.Pane]
		switch {
		case ctx.Err() != nil:
			done(Sent{}, ctx.Err())
		case m == nil:
			done(Sent{}, &Refused{"identity", "the pane is gone"})
		case !w.Identity.Server.is(s.id):
			done(Sent{}, &Refused{"identity", "another tmux server runs there now"})
		case w.Identity.PanePID != m.info.PanePID:
			done(Sent{}, &Refused{"identity", "another process runs in the pane now"})
		case m.why != nil, m.barred():
			done(Sent{}, m.unread())
		case m.feeder == nil || m.feeder.lost:
			done(Sent{}, &Refused{"identity", "the pane's control connection is down"})
		default:
			begun.Store(true)
			s.gate(ctx, m, w, done)
		}
	})
	var no *Refused
	if err != nil && !errors.As(err, &no) && !begun.Load() {
		// It may still be waiting for the loop, which then finds ctx ended.
		if errors.Is(err, ErrServerGone) {
			return Sent{}, &Refused{"identity", "the tmux server is gone"}
		}
	}
	if err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err)
	}
	if errors.Is(err, ErrServerGone) {
		return Sent{}, fmt.Errorf("%w: %v", ErrUncertain, err)
	}
	return sent, err
}

// check refuses what may never be typed, with its place.
func (w Write) check() error {
	if (w.Paste == "") == (len(w.Keys) == 0) {
		return &Refused{"text", "exactly one of text and keys must be given"}
	}
	if len(w.Keys) > maxKeys {
		return &Refused{"text", fmt.Sprintf("%d keys are more than %d", len(w.Keys), maxKeys)}
	}
	if len(w.Paste) > maxText {
		return &Refused{"text", fmt.Sprintf("text of %d bytes is longer than %d", len(w.Paste), maxText)}
	}
	if !utf8.ValidString(w.Paste) {
		return &Refused{"text", "text is not valid UTF-8"}
	}
	if len(w.Shows) > maxShows {
		return &Refused{"text", fmt.Sprintf("%d text conditions are more than %d", len(w.Shows), maxShows)}
	}
	for _, t := range w.Shows {
		if t == "" || len(t) > maxShown || !utf8.ValidString(t) || strings.ContainsFunc(t, unicode.IsControl) {
			return &Refused{"text", fmt.Sprintf("a text condition must be 1 to %d bytes of one screen row", maxShown)}
		}
	}
	for i := 0; i < len(w.Paste); i++ {
		c := w.Paste[i]
		if c == 0xc2 && w.Paste[i+1] < 0xa0 { // U+0080 to U+009F: CSI among them
			return &Refused{"text", fmt.Sprintf("control character U+%04X at byte %d", w.Paste[i+1], i)}
		}
		if c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
			return &Refused{"text", fmt.Sprintf("control character 0x%02x at byte %d", c, i)}
		}
	}
	return nil
}
