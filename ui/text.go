package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"akk/bridge/rpc"
)

// This file is the sidebar for a stdout that is no terminal, and the table of
// `akk list`: one line per agent, the same order and words.

// Text writes the rows once. It returns the writer's error.
func Text(w io.Writer, l rpc.List, now time.Time) error {
	rows := Rows(l)
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "No agent seen. Start one by running codex or claude in a pane, or run `akk demo` to see recordings of real ones.")
		return err
	}
	head := []string{"", "STATE", "SINCE", "AGENT", "PANE", "WHERE", "REF", "FOLDER"}
	table := [][]string{head}
	for _, r := range rows {
		s := StateOf(r)
		agent := strings.TrimSpace(r.Agent + " " + r.AgentVersion)
		if r.Demo != "" {
			agent = "RECORDING of " + agent
		}
		word := s.Word
		if r.Hold != nil {
			word += ", held by " + r.Hold.By
		}
		table = append(table, []string{s.Letter, word, Age(now, Since(r)), agent, r.TerminalControl.PaneID, Place(r), r.ShortRef, r.Cwd})
	}
	return Table(w, table)
}

// Table writes cells in aligned columns; every cell is cleaned first.
func Table(w io.Writer, table [][]string) error {
	var width []int
	for _, row := range table {
		for i := range row {
			row[i] = Clean(row[i])
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], TextWidth(row[i]))
		}
	}
	for _, row := range table {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-TextWidth(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
