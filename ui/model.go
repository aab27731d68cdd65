package ui

import (
	"cmp"
	"slices"
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// This file holds what the sidebar knows and how its rows are ordered: the
// agents that wait for a human come first, recordings come last, and an
// unknown state is shown as unknown.

// Link is the state of the connection to the daemon.
type Link int

// The links.
const (
	Connecting Link = iota
	Live
	Reconnecting
)

// Model is all that a picture depends on. It is a value.
type Model struct {
	List     rpc.List
	Link     Link
	Trouble  string // why it is reconnecting, "" if nothing is known
	Note     string // answer to the last key, "" for none
	Now      time.Time
	Help     bool
	Selected string // id of the chosen row, "" = the first one, whichever it is
	Top      int    // first drawn line of the rows
	Keys     Keys
}

// State is what a row shows: one letter, one word, one role.
type State struct {
	Letter string
	Word   string
	Role   Role
	order  int
}

// wordDraft is the word of an idle agent with a text in its composer.
const wordDraft = "draft"

// needsHuman are the owners of the keyboard that only a human can serve.
var needsHuman = []agents.Owner{agents.OwnerApproval, agents.OwnerQuestionnaire, agents.OwnerEditor, agents.OwnerStartup}

// StateOf is the state of a row. Blocked and every open dialog are one thing
// for a human: something waits for him.
func StateOf(r rpc.Row) State {
	g := r.Reading
	switch {
	case g.Activity == agents.Blocked || slices.Contains(needsHuman, g.Owner):
		word := "needs you"
		switch {
		case g.Dialog != nil && g.Dialog.Kind != "":
			word = g.Dialog.Kind + "?"
		case g.Owner == agents.OwnerStartup:
			word = "start-up"
		}
		return State{"B", word, Blocked, 0}
	case g.Activity == agents.Idle:
		switch {
		case g.LimitedUntil != "":
			return State{"L", "limited", Alert, 1}
		case g.Background:
			return State{"I", "idle+bg", Ready, 2}
		case g.Composer == agents.ComposerDraft:
			return State{"I", wordDraft, Ready, 2}
		case g.Owner == agents.OwnerMenu || g.Owner == agents.OwnerViewer:
			return State{"I", string(g.Owner), Ready, 2}
		}
		return State{"I", "idle", Ready, 2}
	case g.Activity == agents.Working:
		return State{"W", "working", Working, 4}
	case g.Activity == agents.Starting:
		return State{"S", "starting", Inactive, 5}
	case g.Activity == agents.Exited:
		return State{"X", "exited", Inactive, 6}
	}
	return State{"?", "unknown", Unknown, 3}
}

// Since is since when a row's state holds; of a draft, which begins while the
// agent is idle, since when it was seen to be typed. Zero: not known.
func Since(r rpc.Row) time.Time {
	if StateOf(r).Word != wordDraft {
		return r.Reading.Since
	}
	if r.Hold != nil && r.Hold.Soft {
		return r.Hold.Since
	}
	return time.Time{}
}

// Rows returns the rows in the order in which they are shown: by need, then
// by how long it lasts, then by place. Recordings follow after all agents.
func Rows(l rpc.List) []rpc.Row {
	rows := slices.Clone(l.Terminals)
	slices.SortStableFunc(rows, func(a, b rpc.Row) int {
		demo := func(r rpc.Row) int {
			if r.Demo != "" {
				return 1
			}
			return 0
		}
		return cmp.Or(
			cmp.Compare(demo(a), demo(b)),
			cmp.Compare(StateOf(a).order, StateOf(b).order),
			a.Reading.Since.Truncate(time.Second).Compare(b.Reading.Since.Truncate(time.Second)),
			cmp.Compare(a.TerminalControl.SocketPath, b.TerminalControl.SocketPath),
			cmp.Compare(a.TerminalControl.Session, b.TerminalControl.Session),
			cmp.Compare(a.TerminalControl.Window, b.TerminalControl.Window),
			cmp.Compare(a.TerminalControl.Pane, b.TerminalControl.Pane),
			cmp.Compare(a.ID, b.ID),
		)
	})
	return rows
}

// index is the place of the chosen row, -1 without rows.
func (m Model) index(rows []rpc.Row) int {
	for i, r := range rows {
		if r.ID == m.Selected {
			return i
		}
	}
	if len(rows) == 0 {
		return -1
	}
	return 0
}

// Move chooses the row that is n further, without going round.
func (m Model) Move(n int) Model {
	rows := Rows(m.List)
	if i := m.index(rows); i >= 0 {
		m.Selected = rows[min(max(i+n, 0), len(rows)-1)].ID
	}
	return m
}

// Take puts a new list into the model. A choice stays with its row; when the
// chosen row is gone, the row that now has its place is chosen.
func (m Model) Take(l rpc.List, now time.Time) Model {
	old := Rows(m.List)
	at := m.index(old)
	m.List, m.Link, m.Trouble, m.Now = l, Live, "", now
	rows := Rows(l)
	if m.Selected == "" { // nobody chose: the most urgent one stays on top
		return m
	}
	if !slices.ContainsFunc(rows, func(r rpc.Row) bool { return r.ID == m.Selected }) {
		m.Selected = ""
		if len(rows) > 0 {
			m.Selected = rows[min(max(at, 0), len(rows)-1)].ID
		}
	}
	return m
}

// Current is the chosen row.
func (m Model) Current() (rpc.Row, bool) {
	rows := Rows(m.List)
	if i := m.index(rows); i >= 0 {
		return rows[i], true
	}
	return rpc.Row{}, false
}

// Age is how long ago t was, in at most four cells: 9s, 59m, 23h, 99d.
func Age(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Minute:
		return itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return itoa(int(d/time.Minute)) + "m"
	case d < 24*time.Hour:
		return itoa(int(d/time.Hour)) + "h"
	}
	return itoa(min(int(d/(24*time.Hour)), 999)) + "d"
}
