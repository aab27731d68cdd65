package ui

import (
	"context"
	"io"
	"time"
)

// This file plays a recording in the human's terminal, in real time.

// Clip is one piece of a recording: Data is written At after the beginning.
type Clip struct {
	At   time.Duration
	Data []byte
}

// maxPause bounds a silence in a recording, so that nobody waits for one.
const maxPause = 3 * time.Second

// Reset gives a terminal back what a recording may have switched: alternate
// screen, bracketed paste, focus events, mouse, synchronized update, kitty
// keys, scroll region (the cursor stays), cursor, attributes.
const Reset = "\x1b[?2026l\x1b[?1049l\x1b[?2004l\x1b[?1004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[<u\x1b[>4;0m\x1b7\x1b[r\x1b8\x1b[?25h\x1b[0m"

// Play writes the clips at their times, speed times as fast (1 = as recorded,
// 0 = at once). It ends early with ctx.
func Play(ctx context.Context, w io.Writer, clips []Clip, speed float64) error {
	var last time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for _, c := range clips {
		if speed > 0 {
			timer.Reset(time.Duration(float64(min(max(c.At-last, 0), maxPause)) / speed))
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
		}
		last = c.At
		if _, err := w.Write(c.Data); err != nil {
			return err
		}
	}
	return ctx.Err()
}
