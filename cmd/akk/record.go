package main

import (
	"cmp"
	"context"
	"time"

	"akk/bridge/rpc"
	"akk/vtparse/cast"

	"github.com/spf13/cobra"
)

func newRecord(a *app) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   "record PANE > FILE.cast",
		Short: "Record a pane as asciicast v2, from its present screen on, until Ctrl-C",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, tty := terminal(a.out); tty {
				return usagef("record writes the recording to standard output: akk record %s > FILE.cast", args[0])
			}
			ctx := c.Context()
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			d, srv, err := a.connect(ctx)
			if err != nil {
				return err
			}
			defer d.Close()
			var w *cast.Writer
			var began time.Time
			err = mirrored(ctx, func() error {
				return d.Record(ctx, rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)}, func(s rpc.RecordStart) error {
					began = s.Start
					a.note("recording %s (%dx%d); Ctrl-C ends it", s.Pane, s.Cols, s.Rows)
					w, err = cast.NewWriter(a.out, cast.Header{Width: s.Cols, Height: s.Rows, Timestamp: s.Start.Unix(), Title: cmp.Or(s.Of, s.Title), Env: map[string]string{"TERM": "tmux-256color"}})
					if err != nil {
						return err
					}
					return w.Output(0, s.Paint)
				}, func(b rpc.Bytes) error {
					at := max(b.Time.Sub(began), 0)
					switch {
					case b.Gap:
						a.note("the recording has a gap at %s: the pane wrote faster than it could be kept", at.Round(time.Millisecond))
						return w.Event(cast.Event{Time: at, Kind: cast.Marker, Data: "gap"})
					case b.Resize != "":
						return w.Event(cast.Event{Time: at, Kind: cast.Resize, Data: b.Resize})
					}
					return w.Output(at, b.Data)
				})
			})
			if w != nil {
				if cerr := w.Close(); cerr != nil && err == nil {
					err = cerr
				}
			}
			if ctx.Err() != nil && w != nil {
				return nil // Ctrl-C is how a recording ends
			}
			return err
		},
	}
	c.Flags().DurationVar(&limit, "for", 0, "end after this `time`, as 30s or 5m")
	return c
}
