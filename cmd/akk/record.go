package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"akk/bridge/rpc"
	"akk/vtparse/cast"

	"github.com/spf13/cobra"
)

// This file records a pane. It upholds: what stands in the file is a whole
// recording at any time, and whoever's recording ends early is told so.

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
			var cut error // the daemon's end, after the recording began
			err = mirrored(ctx, func() error {
				err := d.Record(ctx, rpc.TargetParams{ID: args[0], Socket: a.narrow(args[0], srv)}, func(s rpc.RecordStart) error {
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
						return w.Event(cast.Event{Time: at, Kind: cast.Marker, Data: gapLabel})
					case b.Resize != "":
						return w.Event(cast.Event{Time: at, Kind: cast.Resize, Data: b.Resize})
					}
					return w.Output(at, b.Data)
				})
				if w != nil && (daemonEnded(err) || errors.Is(err, rpc.ErrSilent)) {
					cut = err
					return nil // and no second recording into the same file
				}
				return err
			})
			if w != nil {
				if cerr := w.Close(); cerr != nil && err == nil {
					err = cerr
				}
			}
			if ctx.Err() != nil && w != nil {
				return nil // Ctrl-C is how a recording ends
			}
			if err == nil && cut != nil {
				return a.cutOff(args[0], cut)
			}
			return err
		},
	}
	c.Flags().DurationVar(&limit, "for", 0, "end after this `time`, as 30s or 5m")
	return c
}

// cutOff tells of a recording that the daemon's end has ended.
func (a *app) cutOff(pane string, err error) error {
	file, named := a.outFile()
	if !named {
		file = "FILE.cast"
	}
	where := "what standard output got"
	if named {
		where = file
	}
	return &failure{"the recording ended early, with the daemon (" + err.Error() + "); " + where + " is a whole recording up to then",
		"play it with akk replay " + file + "; go on into another file with akk record " + pane + ": the daemon is started anew", err}
}

// outFile is the regular file that standard output goes to, if the system tells.
func (a *app) outFile() (string, bool) {
	f, ok := a.out.(*os.File)
	if !ok {
		return "", false
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", false
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return name, err == nil && filepath.IsAbs(name)
}
