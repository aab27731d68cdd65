package launch

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// This file opens the windows of `akk demo`. A recording's bytes are right on a
// screen of its own size only, so each gets a window of exactly that size
// (window option window-size manual: ours alone, never the global option).

// MarkDemo is the pane option of a recording's pane; its value is "agent
// version". Such a pane is never a send target.
const MarkDemo = "@akk_demo"

// Recording is one recording to play.
type Recording struct {
	Name       string // for `akk replay --demo`
	Agent      string // codex | claude
	Version    string
	Cols, Rows int
}

// Demo opens one window per recording in session, without leaving the current
// window. It returns the panes' ids.
func (t Tmux) Demo(ctx context.Context, session string, recs []Recording) ([]string, error) {
	var panes []string
	for _, r := range recs {
		label := r.Agent + " " + r.Version
		args := []string{"new-window", "-d", "-t", session + ":", "-n", "RECORDING " + r.Agent, "-P", "-F", "#{window_id} #{pane_id}", "--"}
		args = append(append(args, t.Self...), "replay", "--demo", r.Name)
		out, err := t.Run(ctx, args...)
		if err != nil {
			return panes, err
		}
		window, pane, ok := strings.Cut(out, " ")
		if !ok {
			return panes, fmt.Errorf("tmux new-window answered %q", out)
		}
		// One row more than the recording: the border with the label.
		_, err = t.Run(ctx,
			"set-option", "-p", "-t", pane, MarkDemo, label, ";",
			"set-option", "-w", "-t", window, "pane-border-status", "top", ";",
			"set-option", "-w", "-t", window, "pane-border-format", " RECORDING of "+label+" (not a live agent) ", ";",
			"set-option", "-w", "-t", window, "allow-rename", "off", ";",
			"resize-window", "-t", window, "-x", strconv.Itoa(r.Cols), "-y", strconv.Itoa(r.Rows+1))
		if err != nil {
			return panes, err
		}
		panes = append(panes, pane)
	}
	return panes, nil
}

// StopDemo ends every recording on this server and tells how many there were.
func (t Tmux) StopDemo(ctx context.Context) (int, error) {
	out, err := t.Run(ctx, "list-panes", "-a", "-F", "#{pane_id} #{"+MarkDemo+"}")
	if err != nil {
		return 0, err
	}
	n := 0
	for l := range strings.Lines(out) {
		if pane, label, _ := strings.Cut(strings.TrimSpace(l), " "); label != "" {
			if _, err := t.Run(ctx, "kill-pane", "-t", pane); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
