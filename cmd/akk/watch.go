package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newWatch(a *app) *cobra.Command {
	var limit time.Duration
	var wait bool
	c := &cobra.Command{
		Use:   "watch ID",
		Short: "Watch what an agent does now until it ends, without touching it",
		Long: `Begins to watch the task that the agent works on, as its own log names it. If the
log does not name one, the terminal's activity is watched: it settles when work
was seen and the screen has then stayed idle, which is a best effort. The watch
types nothing, survives a restart of the daemon and settles once.

With --wait the command ends when the watch settles: exit code 0 if the task was
completed, 1 if not.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			r, err := d.Watch(c.Context(), rpc.WatchParams{ID: args[0], Socket: a.narrow(args[0], srv), HardTimeoutMinutes: limit.Minutes()})
			if err != nil {
				return err
			}
			if !wait {
				return a.printWatch(r)
			}
			if r, err = a.awaitWatch(c.Context(), d, r); err != nil {
				return err
			}
			if err := a.printWatch(r); err != nil {
				return err
			}
			if r.Watch.Status != "completed" {
				return reported{}
			}
			return nil
		},
	}
	c.Flags().DurationVar(&limit, "limit", 0, "give up after this `time` (default 12h)")
	c.Flags().BoolVar(&wait, "wait", false, "end when the watch has settled")
	return c
}

// awaitWatch follows the journal until the watch has settled, telling questions
// as they come.
func (a *app) awaitWatch(ctx context.Context, d desk, r rpc.WatchResult) (rpc.WatchResult, error) {
	own := false
	defer func() {
		if own {
			d.Close()
		}
	}()
	open := func(ctx context.Context) (stream, error) {
		if own || closed(d) { // the daemon ended: the next one has taken the watch up
			next, _, err := a.connect(ctx)
			if err != nil {
				return nil, err
			}
			if own {
				d.Close()
			}
			d, own = next, true
		}
		return a.dial(ctx, "cli") // a stream has a connection of its own
	}
	look := func() error {
		var err error
		if r, err = d.WatchStatus(ctx, rpc.WatchIDParams{WatchID: r.Watch.WatchID}); err == nil && r.Watch.Status != "active" {
			return errSettled
		}
		return err
	}
	err := a.journal(ctx, &rpc.EventsParams{Follow: true}, open, func(rpc.EventsResult) error { return look() }, func(e rpc.Event) error {
		if e.Type != "watch" || e.WatchID != r.Watch.WatchID {
			return nil
		}
		switch e.Change {
		case "approval", "interaction_manual_required":
			a.note("%s asks for a decision in its pane (%s)", e.Agent, e.Pane)
		}
		return look()
	})
	if errors.Is(err, errSettled) {
		err = nil
	}
	return r, err
}

// closed tells whether the daemon behind a connection has ended.
func closed(d desk) bool {
	c, ok := d.(*rpc.Client)
	if !ok {
		return false
	}
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// printWatch is a watch for a human, or whole with --json.
func (a *app) printWatch(r rpc.WatchResult) error {
	if a.json {
		return a.print(r)
	}
	w := r.Watch
	var table [][]string
	add := func(k, v string) {
		if v != "" {
			table = append(table, []string{k, ui.Clean(v)})
		}
	}
	add("watch", w.WatchID)
	add("terminal", w.TerminalID)
	what := "exactly the task that runs"
	if w.WatchMode == "terminal_activity" {
		what = "the terminal's activity (best effort)"
	}
	add("follows", what)
	add("status", plain(watchStatuses, w.Status))
	if s := w.Settlement; s != nil {
		add("because", plain(settlements, s.ReasonCode))
		add("ended", since(s.ObservedAt))
		add("answer", strings.Join(strings.Fields(s.CompletionText), " "))
	} else {
		add("until", w.DeadlineAt.Local().Format("2006-01-02 15:04:05"))
	}
	for _, x := range w.Warnings {
		add("note", warning(x))
	}
	add("note", w.CompatibilityWarning)
	return ui.Table(a.out, table)
}
