package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// This file makes the sidebar's pane and the session that holds it outside of
// tmux. Invariant: at most one sidebar per window.

const (
	// Width is the sidebar's width in cells: a state word, an agent with its
	// version and an age fit.
	Width = 34
	// minWidth is the narrowest sidebar that is still read with ease.
	minWidth = 20
	// minRest is what a split must leave to the human, in cells.
	minRest = 20
	// Session is the name of the session that akk opens outside of tmux.
	Session = "akk"
	// MarkSidebar is the pane option that marks a sidebar.
	MarkSidebar = "@akk_sidebar"
	// OwnPane is the flag of a sidebar whose pane was opened for it: it marks
	// the pane itself, too, should its opener die before (B124).
	OwnPane = "own-pane"
)

// Sidebar opens the sidebar in the window of pane target ("" = tmux's own
// choice), or goes to the one that is there. It returns the sidebar's pane.
func (t Tmux) Sidebar(ctx context.Context, target string) (string, error) {
	if pane, width, err := t.findSidebar(ctx, target); err != nil {
		return "", err
	} else if pane != "" {
		_, err := t.Run(ctx, "select-pane", "-t", pane)
		return pane, err
	} else {
		return t.split(ctx, target, width)
	}
}

// findSidebar looks for the mark in the window, and tells the window's width.
func (t Tmux) findSidebar(ctx context.Context, target string) (pane string, width int, err error) {
	args := []string{"list-panes"}
	if target != "" {
		args = append(args, "-t", target)
	}
	out, err := t.Run(ctx, append(args, "-F", "#{window_width} #{pane_id} #{"+MarkSidebar+"}")...)
	if err != nil {
		return "", 0, err
	}
	for l := range strings.Lines(out) {
		f := strings.Fields(l)
		if len(f) < 2 {
			continue
		}
		width, _ = strconv.Atoi(f[0])
		if len(f) == 3 && f[2] == "1" {
			return f[1], width, nil
		}
	}
	return "", width, nil
}

func (t Tmux) split(ctx context.Context, target string, window int) (string, error) {
	width := Width
	if window < Width+minRest {
		width = window - minRest
	}
	if width < minWidth {
		return "", fmt.Errorf("%w: it has %d cells, %d are needed", ErrNoRoom, window, minWidth+minRest)
	}
	args := []string{"split-window", "-hbf", "-l", strconv.Itoa(width), "-P", "-F", "#{pane_id}"}
	if target != "" {
		args = append(args, "-t", target)
	}
	args = append(append(args, "--"), t.Self...)
	pane, err := t.Run(ctx, append(args, "sidebar", "--"+OwnPane)...)
	if err != nil {
		return "", err
	}
	_, err = t.Run(ctx, "set-option", "-p", "-t", pane, MarkSidebar, "1")
	return pane, err
}

// Open makes sure that the session "akk" exists, cols x rows if it is made,
// with the sidebar in its current window; made tells whether it is new. This
// is the one place that may start a tmux server: a human asked for it.
func (t Tmux) Open(ctx context.Context, cols, rows int, folder string) (made bool, err error) {
	if _, err := t.Run(ctx, "has-session", "-t", "="+Session); err != nil {
		args := []string{"new-session", "-d", "-s", Session, "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows)}
		if folder != "" {
			args = append(args, "-c", folder)
		}
		// tmux makes its own folder for -L and the default only, not for -S.
		_ = os.Mkdir(filepath.Dir(t.Socket), 0o700)
		if _, err := t.Run(ctx, args...); err != nil {
			return false, err
		}
		made = true
	}
	_, err = t.Sidebar(ctx, "="+Session+":")
	return made, err
}

// Width control: a split keeps its share when the window changes its size, so
// a sidebar that was 34 of 80 cells would become 85 of 200.

// Keeper gives a sidebar its width back when the window's size changed, but
// leaves a width alone that the human dragged.
type Keeper struct {
	Tmux Tmux
	Pane string

	window, want int
}

// Resized is called after every change of the sidebar's size.
func (k *Keeper) Resized(ctx context.Context) {
	out, err := k.Tmux.Run(ctx, "display-message", "-p", "-t", k.Pane, "#{window_width} #{pane_width} #{window_zoomed_flag}")
	if err != nil {
		return
	}
	var window, pane, zoomed int
	if n, _ := fmt.Sscan(out, &window, &pane, &zoomed); n != 3 || zoomed != 0 {
		return
	}
	last := k.window
	k.window = window
	switch {
	case last == 0 || last == window: // the first look, or a human's drag
		k.want = pane
		if last == 0 {
			k.want = min(Width, pane)
		}
	case pane != k.want && window >= k.want+minRest:
		_, _ = k.Tmux.Run(ctx, "resize-pane", "-t", k.Pane, "-x", strconv.Itoa(k.want))
	}
}
