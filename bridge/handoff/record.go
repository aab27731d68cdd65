package handoff

// This file streams a pane's raw bytes, beginning with bytes that draw the
// screen on which they go on.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"akk/bridge/rpc"
	"akk/panes"
	"akk/vtparse"
)

// runs are the rows as stretches of one style.
func runs(s *vtparse.Screen) [][][2]string {
	out := make([][][2]string, s.Rows)
	for y := range out {
		out[y] = [][2]string{}
		for _, r := range s.Row(y).Runs() {
			out[y] = append(out[y], [2]string{r.Text, r.Style.SGR()})
		}
	}
	return out
}

// export draws s in a format of rpc.Screen.Export, "" for none.
func export(s *vtparse.Screen, format string) (string, *rpc.Error) {
	switch format {
	case "":
		return "", nil
	case rpc.ScreenANSI:
		return s.ANSI(), nil
	case rpc.ScreenSVG:
		return s.SVG(), nil
	}
	return "", &rpc.Error{Code: rpc.CodeUsage, Message: fmt.Sprintf("screen format %q is not known", format), Cure: "ask for ansi or svg"}
}

// paint returns bytes that draw s on an empty terminal of its size.
func paint(s *vtparse.Screen) []byte {
	var b strings.Builder
	if s.Alternate {
		b.WriteString("\x1b[?1049h")
	}
	b.WriteString("\x1b[H\x1b[2J")
	for y := range s.Rows {
		row := s.Row(y).Runs()
		if len(row) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%dH", y+1)
		for _, r := range row {
			fmt.Fprintf(&b, "\x1b[0;%sm%s", r.Style.SGR(), r.Text)
		}
	}
	if s.Title != "" {
		fmt.Fprintf(&b, "\x1b]2;%s\x1b\\", s.Title)
	}
	fmt.Fprintf(&b, "\x1b[0m\x1b[%d;%dH", s.Cursor.Y+1, min(s.Cursor.X, s.Cols-1)+1)
	if !s.Cursor.Visible {
		b.WriteString("\x1b[?25l")
	}
	if s.Modes.BracketedPaste {
		b.WriteString("\x1b[?2004h")
	}
	return []byte(b.String())
}

// Record yields the raw bytes of a pane until ctx ends or the pane is gone.
func (d *Desk) Record(ctx context.Context, _ rpc.Caller, p rpc.TargetParams, started func(rpc.RecordStart) error, yield func(rpc.Bytes) error) error {
	pn, bad := d.resolvePane(p.ID, p.Socket)
	if bad != nil {
		return bad
	}
	tap, err := pn.prov.Tap(pn.info.Pane)
	if err != nil {
		return paneError(pn.info.Pane, err)
	}
	defer tap.Close()
	s := tap.Start()
	of := pn.info.Demo
	if of == "" && pn.view != nil {
		of = strings.TrimSpace(string(pn.view.kind) + " " + pn.view.vers)
	}
	if err := started(rpc.RecordStart{Pane: pn.info.Pane, Cols: s.Cols, Rows: s.Rows, Title: s.Title, Of: of, Start: d.now(), Paint: paint(s)}); err != nil {
		return err
	}
	size := [2]int{s.Cols, s.Rows}
	for {
		data, at, err := tap.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, panes.ErrGap):
			if err := yield(rpc.Bytes{Time: d.now(), Gap: true}); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if now, err := pn.prov.Screen(pn.info.Pane); err == nil && [2]int{now.Cols, now.Rows} != size {
			size = [2]int{now.Cols, now.Rows}
			if err := yield(rpc.Bytes{Time: at, Resize: fmt.Sprintf("%dx%d", now.Cols, now.Rows)}); err != nil {
				return err
			}
		}
		if err := yield(rpc.Bytes{Time: at, Data: data}); err != nil {
			return err
		}
	}
}
