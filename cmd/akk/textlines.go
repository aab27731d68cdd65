package main

import (
	"slices"
	"strings"
)

// This file lays out text of several lines. It upholds: a command is shown as
// it would run, so its lines stay lines.

// textRows are table rows of a text: its first line beside the name, the others
// below it; none for an empty text.
func textRows(name, text string) (rows [][]string) {
	for i, l := range lines(text) {
		if i > 0 {
			name = ""
		}
		rows = append(rows, []string{name, l})
	}
	return rows
}

// lines are a text's lines without the empty ones around them and the blanks at
// their ends.
func lines(text string) []string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t\r")
	}
	full := func(l string) bool { return l != "" }
	first := slices.IndexFunc(all, full)
	if first < 0 {
		return nil
	}
	for all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all[first:]
}
