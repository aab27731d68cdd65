package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/panes"
)

// States of a line.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// askTimeout bounds one question to a tmux server.
const askTimeout = 5 * time.Second

// windowSize is the fault that takes a setting, which Offline looks at.
const windowSize = "window-size"

// Offline looks at the tmux server behind socket without the daemon: its
// version, the faults that this version is known for over the transport of the
// settings, and settings of its own that meet them.
func Offline(ctx context.Context, socket string, transport panes.Transport) []rpc.Check {
	id, version, err := panes.Probe(ctx, socket)
	switch {
	case errors.Is(err, panes.ErrNoServer):
		return []rpc.Check{{Name: "tmux server", Status: Warning, Detail: "none runs on " + socket, Cure: "start one with `akk` or `tmux`, or name another with -L or -S"}}
	case errors.Is(err, panes.ErrNoTmux):
		return nil // said already
	case err != nil:
		return []rpc.Check{{Name: "tmux server", Status: Failed, Detail: err.Error(), Cure: "end that server and start it with tmux 3.2 or newer, the same that is in PATH"}}
	}
	out := []rpc.Check{
		{Name: "tmux server", Status: OK, Detail: fmt.Sprintf("tmux %s at %s, pid %d", version, socket, id.PID)},
		Crashes(version, transport),
	}
	for _, c := range panes.KnownCrashes(version, transport) {
		if c.Issue == windowSize && ask(ctx, socket, "show-options", "-gwv", "window-size") == "manual" {
			out = append(out, rpc.Check{Name: "tmux settings", Status: Failed, Detail: "window-size is manual for all windows: the next new window ends this tmux with everything in it",
				Cure: "tmux set-option -gw window-size latest, and set it to manual for single windows only"})
		}
	}
	return out
}

func ask(ctx context.Context, socket string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "tmux", append([]string{"-S", socket}, args...)...).Output()
	return strings.TrimSpace(string(out))
}

// Crashes is the line about tmux's known ways to die.
func Crashes(version string, t panes.Transport) rpc.Check {
	if t == "" {
		t = panes.Control
	}
	return faults(version, t, panes.KnownCrashes(version, t))
}

// faults is Crashes over known ones: what it comes to, then a line for each.
// Those that need no control client are told without changing the state: they
// are there without akk, too.
func faults(version string, t panes.Transport, known []panes.Crash) rpc.Check {
	c := rpc.Check{Name: "tmux faults", Status: OK}
	var open, anyway lines
	var avoided []string
	for _, k := range known {
		switch {
		case k.Issue == windowSize:
		case !k.Control:
			anyway.add(k)
		case k.Quiet:
			avoided = append(avoided, "#"+k.Issue)
		case !anyway.more(k):
			open.add(k)
		}
	}
	text := []string{fmt.Sprintf("tmux %s over transport %q: no known crash that akk's presence makes possible", version, t)}
	if len(open) > 0 {
		c.Status = Warning
		text = append([]string{fmt.Sprintf("tmux %s can crash while a control client like akk's is attached; akk never causes it, notices a dead server and binds nothing to its successor", version)}, open.text()...)
		c.Cure = `set transport = "pipe" (akk config path), which attaches no client; or use tmux 3.8, where these are fixed, once it is released`
	}
	if len(avoided) > 0 {
		text = append(text, "akk avoids "+strings.Join(avoided, ", "))
	}
	if len(anyway) > 0 {
		text = append(append(text, "with or without akk this tmux can crash:"), anyway.text()...)
	}
	c.Detail = strings.Join(text, "\n")
	return c
}

// lines are faults, each issue once.
type lines [][]panes.Crash

func (l *lines) add(k panes.Crash) {
	if !l.more(k) {
		*l = append(*l, []panes.Crash{k})
	}
}

// more adds another case of an issue that is there already.
func (l *lines) more(k panes.Crash) bool {
	for i := range *l {
		if (*l)[i][0].Issue == k.Issue {
			(*l)[i] = append((*l)[i], k)
			return true
		}
	}
	return false
}

func (l *lines) text() (out []string) {
	for _, of := range *l {
		head := "#" + of[0].Issue
		if v := of[0].Fixed(); v != "" {
			head += " (fixed in " + v + ")"
		}
		var when []string
		for _, k := range of {
			w := k.When
			if k.Control && !of[0].Control {
				w = "while a control client is attached, also: " + w
			}
			when = append(when, w)
		}
		out = append(out, head+": "+strings.Join(when, "\n  "))
	}
	return out
}

// Unique leaves out a check that is there already: the desk says of a server
// what Offline said, and of a second server what it said of the first.
func Unique(checks []rpc.Check) []rpc.Check {
	var out []rpc.Check
	for _, c := range checks {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// Mirrors is a provider that can say how its mirrors fare.
type Mirrors interface {
	Version() string
	Health(context.Context) (panes.Health, error)
}

// Server tells of one attached server; name says which.
func Server(ctx context.Context, name string, m Mirrors) []rpc.Check {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	h, err := m.Health(ctx)
	if err != nil {
		return []rpc.Check{{Name: "mirrors", Status: Failed, Detail: name + ": " + err.Error(), Cure: "restart the daemon: akk serve --stop, then any akk command"}}
	}
	audits := rpc.Check{Name: "mirrors", Status: OK, Detail: fmt.Sprintf("%s: transport %q, %d audits, %d mismatches, %d new syncs because of them", name, h.Transport, h.Audits.Audits, h.Audits.Mismatches, h.Audits.Reseeds)}
	if h.Audits.Mismatches > 0 {
		audits.Status = Warning
		audits.Cure = "nothing was typed on those screens; keep the daemon's log and a recording of the pane (akk record), and report it"
	}
	out := []rpc.Check{Crashes(m.Version(), h.Transport), audits}
	if h.WatchOnly != "" {
		out = append(out, rpc.Check{Name: "typing", Status: Warning, Detail: name + ": this daemon only watches: " + strings.TrimSuffix(h.WatchOnly, ": stop it first"),
			Cure: "leave out --store-dir, or name the other daemon's; or end that one: `akk serve --stop` with its --store-dir"})
	}
	for _, id := range slices.Sorted(maps.Keys(h.Unreadable)) {
		why, cure, _ := strings.Cut(h.Unreadable[id], "; ")
		out = append(out, rpc.Check{Name: "pane", Status: Warning, Detail: name + " " + id + ": " + why, Cure: cure})
	}
	return out
}
