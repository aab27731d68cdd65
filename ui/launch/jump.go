package launch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Jump brings pane to the human who looks at pane from ("" = none): his
// client switches session, window and pane. Without such a client the pane is
// made current where it is and the note tells how to get there.
func (t Tmux) Jump(ctx context.Context, from, pane, session string) (note string, err error) {
	tty := ""
	if from != "" {
		if tty, err = t.client(ctx, from); err != nil {
			return "", err
		}
	}
	if tty != "" {
		_, err = t.Run(ctx, "switch-client", "-c", tty, "-t", pane)
		return "", vanished(pane, err)
	}
	if _, err := t.Run(ctx, "select-window", "-t", pane, ";", "select-pane", "-t", pane); err != nil {
		return "", vanished(pane, err)
	}
	return "shown there; attach: " + t.Command("attach", "-t", session), nil
}

// vanished names the pane that was to be gone to.
func vanished(pane string, err error) error {
	if errors.Is(err, ErrGone) {
		return fmt.Errorf("the pane %s: %w", pane, ErrGone)
	}
	return err
}

// client finds the human's client that looks at a pane: the one that was used
// last among those of the pane's session, control clients left out.
func (t Tmux) client(ctx context.Context, pane string) (string, error) {
	session, err := t.Run(ctx, "display-message", "-p", "-t", pane, "#{session_id}")
	if err != nil {
		return "", err
	}
	out, err := t.Run(ctx, "list-clients", "-t", session, "-F", "#{client_control_mode} #{client_activity} #{client_tty}")
	if err != nil {
		return "", err
	}
	best, newest := "", int64(-1)
	for l := range strings.Lines(out) {
		f := strings.Fields(l)
		if len(f) != 3 || f[0] != "0" {
			continue
		}
		if at, _ := strconv.ParseInt(f[1], 10, 64); at > newest {
			best, newest = f[2], at
		}
	}
	return best, nil
}

// SessionOf is the session that a pane belongs to.
func (t Tmux) SessionOf(ctx context.Context, pane string) (string, error) {
	s, err := t.Run(ctx, "display-message", "-p", "-t", pane, "#{session_name}")
	if err == nil && s == "" {
		err = fmt.Errorf("tmux knows no session of pane %s", pane)
	}
	return s, err
}
