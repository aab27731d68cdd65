package lab

// What a pane shows, as tmux itself says. It upholds: the lab judges by tmux's
// own screen, never by akk's mirror, so that it can be a witness about akk.

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pollEvery is the pause between two looks at a screen or a log: short beside
// what an agent needs for a frame, long enough not to load the machine.
const pollEvery = 50 * time.Millisecond

// Screen is one look at a pane.
type Screen struct {
	Lines         []string // trailing blanks cut
	X, Y          int      // cursor
	CursorVisible bool
	Alternate     bool
	Title         string
	Command       string // pane_current_command
	InMode        bool   // copy mode and the like
	Dead          bool
	PID           int // the pane's process
}

// Text is all lines, joined with newlines.
func (s Screen) Text() string { return strings.Join(s.Lines, "\n") }

// Has says whether the text contains each of the words.
func (s Screen) Has(words ...string) bool {
	t := s.Text()
	for _, w := range words {
		if !strings.Contains(t, w) {
			return false
		}
	}
	return true
}

// Line is row y, "" outside.
func (s Screen) Line(y int) string {
	if y < 0 || y >= len(s.Lines) {
		return ""
	}
	return s.Lines[y]
}

const screenFormat = "#{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{pane_in_mode} #{pane_dead} #{pane_pid} " +
	"#{pane_current_command}\n#{pane_title}"

// Look reads a pane of the lab's server.
func (s *Server) Look(ctx context.Context, pane string) (Screen, error) {
	out, err := s.Tmux(ctx, "display-message", "-p", "-t", pane, screenFormat, ";", "capture-pane", "-p", "-t", pane)
	if err != nil {
		return Screen{}, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 2 {
		return Screen{}, fmt.Errorf("read pane %s: tmux answered %q", pane, out)
	}
	f := strings.SplitN(lines[0], " ", 8)
	if len(f) < 8 {
		return Screen{}, fmt.Errorf("read pane %s: tmux answered %q", pane, lines[0])
	}
	var scr Screen
	scr.X, _ = strconv.Atoi(f[0])
	scr.Y, _ = strconv.Atoi(f[1])
	scr.CursorVisible, scr.Alternate, scr.InMode, scr.Dead = f[2] == "1", f[3] == "1", f[4] != "0", f[5] == "1"
	scr.PID, _ = strconv.Atoi(f[6])
	scr.Command, scr.Title = f[7], lines[1]
	for _, l := range lines[2:] {
		scr.Lines = append(scr.Lines, strings.TrimRight(l, " "))
	}
	return scr, nil
}

// WaitPane looks at a pane until ok is true, and returns that screen. After
// timeout it returns the last screen and ErrTimeout with its text.
func (s *Server) WaitPane(ctx context.Context, pane, what string, timeout time.Duration, ok func(Screen) bool) (Screen, error) {
	end := time.Now().Add(timeout)
	for {
		scr, err := s.Look(ctx, pane)
		if err != nil {
			return scr, err
		}
		if ok(scr) {
			return scr, nil
		}
		if time.Now().After(end) {
			return scr, fmt.Errorf("wait %v for %s: %w; the screen was (title %q, cursor %d,%d):\n%s",
				timeout, what, ErrTimeout, scr.Title, scr.X, scr.Y, strings.TrimRight(scr.Text(), "\n"))
		}
		if err := pause(ctx, pollEvery); err != nil {
			return scr, err
		}
	}
}

// WaitStill waits until a pane's picture has been the same for d.
func (s *Server) WaitStill(ctx context.Context, pane string, d, timeout time.Duration) (Screen, error) {
	last, since := "", time.Now()
	return s.WaitPane(ctx, pane, "a still screen", timeout, func(scr Screen) bool {
		if now := fmt.Sprint(scr.X, scr.Y, scr.Text()); now != last {
			last, since = now, time.Now()
			return false
		}
		return time.Since(since) >= d
	})
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
