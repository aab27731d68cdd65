package handoff

// This file finds the terminal or pane that a caller names. It upholds R9 and
// R13: a name that fits several is refused with the candidates, a name of the
// past means the same terminal only while its process lives.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"akk/bridge/rpc"
	"akk/panes"
)

// minRef is the least number of hex digits of a short ref.
const minRef = 4

// target is "session:window.pane".
func target(v *view) string {
	return fmt.Sprintf("%s:%d.%d", v.Info.SessionName, v.Info.WindowIndex, v.Info.PaneIndex)
}

// resolve returns the terminal that id names. A terminal that a Host knows from
// before the daemon's start is waited for while its server is being looked at.
func (d *Desk) resolve(id, socket string) (*view, *rpc.Error) {
	d.whole(d.ctx, socket, false)
	late := time.NewTimer(freshFor)
	defer late.Stop()
	for {
		ch := d.changed.wait()
		v, err := d.known(id, socket)
		if err == nil || err.Code != rpc.CodeNotFound || !strings.HasPrefix(id, "terminal:") || !d.fresh() {
			return v, err
		}
		select {
		case <-ch:
		case <-late.C:
			return v, err
		case <-d.ctx.Done():
			return v, err
		}
	}
}

// fresh tells whether a server was attached just now, see freshFor.
func (d *Desk) fresh() bool {
	now := d.now()
	return slices.ContainsFunc(d.serverList(), func(s *server) bool { return now.Sub(s.since) < freshFor })
}

// known is resolve without waiting.
func (d *Desk) known(id, socket string) (*view, *rpc.Error) {
	if id == "" {
		return nil, usage("name a terminal: a full id, %pane or a short ref of `akk list`", "no terminal was named")
	}
	var found []*view
	d.look(socket, askAge)
	all := d.unordered(socket)
	for _, v := range all {
		if v.id == id || strings.HasPrefix(id, "%") && v.Info.Pane == id {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		for _, v := range all {
			if slices.Contains(v.aliases, id) {
				found = append(found, v)
			}
		}
	}
	if len(found) == 0 && isRef(id) {
		ref := "@" + strings.ToLower(strings.TrimPrefix(id, "@"))
		is := func(id string) bool { return strings.HasPrefix(shortRef(id), ref) }
		for _, v := range all {
			if is(v.id) {
				found = append(found, v)
			}
		}
		if len(found) == 0 { // of an earlier name, as the full id above
			for _, v := range all {
				if slices.ContainsFunc(v.aliases, is) {
					found = append(found, v)
				}
			}
		}
	}
	if len(found) == 0 && socket != "" {
		if err := d.elsewhere(id, socket); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 && strings.HasPrefix(id, "%") {
		if err := d.agentless(id, socket); err != nil {
			return nil, err
		}
	}
	return one(id, found)
}

// agentless tells why a pane is no agent's terminal; nil if one runs there.
func (d *Desk) agentless(id, socket string) *rpc.Error {
	switch pn, err := d.resolvePane(id, socket); {
	case err != nil:
		return err
	case pn.view == nil && pn.info.Demo == "":
		return &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("no agent runs in pane %s (%s)", id, pn.info.Command), Cure: "start codex or claude in it, or name another pane"}
	}
	return nil
}

// elsewhere tells that a pane is on another server than the one that the caller
// is on or has named; nil if it is on none.
func (d *Desk) elsewhere(id, socket string) *rpc.Error {
	for _, s := range d.serverList() {
		if s.id.Socket == socket {
			continue
		}
		if _, ok := s.prov.Pane(id); ok {
			return &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("there is no pane %s on the server %s, but on %s", id, socket, s.id.Socket), Cure: "name that server with -S " + s.id.Socket}
		}
	}
	return nil
}

func isRef(id string) bool {
	hex := strings.TrimPrefix(id, "@")
	if len(hex) < minRef || len(hex) > 10 {
		return false
	}
	return strings.Trim(strings.ToLower(hex), "0123456789abcdef") == ""
}

func one(id string, found []*view) (*view, *rpc.Error) {
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, notFound("no agent's terminal is called %q", id)
	}
	order(found)
	return nil, ambiguous(fmt.Sprintf("%q means several terminals", id), found)
}

func ambiguous(what string, found []*view) *rpc.Error {
	var b strings.Builder
	b.WriteString(what + ":")
	for _, v := range found {
		fmt.Fprintf(&b, "\n  %s  %s %s (%s)", shortRef(v.id), v.kind, target(v), v.id)
	}
	return &rpc.Error{Code: rpc.CodeAmbiguous, Message: b.String(), Cure: "name one of them by its full id or short ref"}
}

// pane is any pane, with its terminal if an agent runs there.
type pane struct {
	prov panes.Provider
	info panes.Info
	view *view
}

// resolvePane returns the pane that id names: "%3", or a terminal.
func (d *Desk) resolvePane(id, socket string) (pane, *rpc.Error) {
	d.whole(d.ctx, socket, false)
	if !strings.HasPrefix(id, "%") {
		v, err := d.resolve(id, socket)
		if err != nil {
			return pane{}, err
		}
		for _, s := range d.serverList() {
			if s.id == v.Info.Server {
				return pane{prov: s.prov, info: v.Info, view: v}, nil
			}
		}
		return pane{}, notFound("the server of %q is gone", id)
	}
	var found []pane
	for _, s := range d.serverList() {
		if socket != "" && s.id.Socket != socket {
			continue
		}
		if i, ok := s.prov.Pane(id); ok {
			p := pane{prov: s.prov, info: i}
			s.mu.Lock()
			if st := s.panes[id]; st != nil && st.term != nil {
				p.view = st.term.view.Load()
			}
			s.mu.Unlock()
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		if socket != "" {
			if err := d.elsewhere(id, socket); err != nil {
				return pane{}, err
			}
		}
		return pane{}, &rpc.Error{Code: rpc.CodeNotFound, Message: fmt.Sprintf("there is no pane %s on the attached servers", id), Cure: "run `tmux list-panes -a`, or name the server with -L or -S"}
	case 1:
		return found[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "several servers have a pane %s:", id)
	for _, p := range found {
		fmt.Fprintf(&b, "\n  %s", p.info.Server.Socket)
	}
	return pane{}, &rpc.Error{Code: rpc.CodeAmbiguous, Message: b.String(), Cure: "name the server with -L or -S"}
}
