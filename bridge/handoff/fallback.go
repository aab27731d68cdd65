package handoff

// This file watches what an explicit send typed while the store could not keep
// its Turn (R50 to R53). It upholds: the send is as it is; a Watch that can't be
// had is told and changes nothing about it.

import (
	"context"
	"errors"
	"time"

	"akk/bridge/rpc"
	"akk/store"
)

// unkeptTime bounds the way to such a Watch; the send has ended by then.
const unkeptTime = 10 * time.Second

// watchUnkept attaches the automatic Watch of a send without a Turn, and tells
// in the answer what observes it. The same send is the same Watch.
func (d *Desk) watchUnkept(ctx context.Context, c rpc.Caller, live *liveTurn, s *rpc.Send) {
	turn, _ := live.get()
	if !turn.Unmanaged || !turn.Entered && turn.AcceptedAt == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unkeptTime)
	defer cancel()
	id, err := d.unkept(ctx, c, turn.ID)
	if err != nil {
		s.Reason = "the store could not keep a turn for it, and no watch either (" + err.Error() + "): nobody tells its end"
		s.Cure = "do not send it again; look at the pane: akk screen " + turn.Key.Pane.Pane
		return
	}
	told := route(c) != nil
	s.ObservationMode, s.WatchID = "terminal_watch", id
	s.Capabilities = rpc.Capabilities{Callback: told, InteractionNotify: told}
	s.Reason = "the store could not keep a turn for it; the watch " + id + " tells its end"
}

// unkept begins the Watch and returns when it is durable.
func (d *Desk) unkept(ctx context.Context, c rpc.Caller, turn string) (id string, err error) {
	t := d.carrierOf(turn)
	if t == nil {
		return "", errors.New("the agent is gone")
	}
	var failed error
	err = t.ask(ctx, func(t *terminal, reply func()) {
		defer reply()
		carry := t.carries(turn)
		if carry == nil {
			failed = errors.New("the task has ended")
			return
		}
		switch now := carry.disp.Turn; {
		case now.AcceptedAt == nil:
			id = t.fallbackWatch(c, now.RequestID, now.Hash, now.AltHash, now.Anchor)
		case !now.open():
			failed = errors.New("the task has ended")
		default: // what the log says runs is it
			w := Watch{ID: fallbackID(now.RequestID, now.Hash, t.key), Source: sourceFallback, Host: c.Kind, Owner: owner(c), Route: route(c)}
			w, _ = t.beginWatch(w)
			id = w.ID
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return "", err
	}
	if err = d.writer.Sync(func(tx *store.Tx) error { _, _, err := watches.Get(tx, id); return err }); err != nil {
		_ = t.ask(ctx, func(t *terminal, reply func()) { t.dropWatch(id); reply() })
	}
	return id, err
}
