package handoff

// This file holds the daemon's half of doctor: what only the desk can see.

import (
	"context"
	"fmt"

	"akk/bridge/doctor"
	"akk/bridge/rpc"
)

// Doctor checks the store, the servers and the terminals.
func (d *Desk) Doctor(ctx context.Context, _ rpc.Caller) (rpc.Doctor, error) {
	var out rpc.Doctor
	add := func(name, status, detail, cure string) {
		out.Checks = append(out.Checks, rpc.Check{Name: name, Status: status, Detail: detail, Cure: cure})
	}
	if bad := d.db.Check(); len(bad) > 0 {
		add("store", "failed", fmt.Sprintf("%s: %d faults, first: %v", d.db.Dir(), len(bad), bad[0]), "keep a copy of the file and report it; a new store begins with --store-dir")
	} else {
		add("store", "ok", d.db.Dir(), "")
	}
	list := d.serverList()
	if len(list) == 0 {
		add("servers", "warning", "no terminal server is attached", "run akk inside tmux, or name a server with -L or -S")
	}
	for _, s := range list {
		doc := s.doc()
		add("server", "ok", fmt.Sprintf("tmux %s at %s, pid %d: %s", doc.Version, doc.Socket, doc.PID, doc.Counts()), "")
		if m, ok := s.prov.(doctor.Mirrors); ok {
			out.Checks = append(out.Checks, doctor.Server(ctx, doc.Socket, m)...)
		}
	}
	for _, v := range d.views("") {
		switch {
		case v.Info.Demo != "":
			add("recording", "ok", v.id+": a recording of "+v.Info.Demo+" plays, no agent runs", "")
			continue
		case v.vers == "":
			add("agent", "warning", v.id+": its version is not known", "install it from its package, so that its version can be read")
		case v.Reading.Verification == "generic":
			add("agent", "warning", fmt.Sprintf("%s: version %s is not certified", v.id, v.vers), "run `akk certify` for that version")
		default:
			add("agent", "ok", fmt.Sprintf("%s: version %s, %s", v.id, v.vers, v.Reading.Activity), "")
		}
		if v.LogPath == "" {
			add("log", "warning", v.id+": its log is not known yet", "it appears with the agent's first task")
		}
	}
	return out, nil
}
