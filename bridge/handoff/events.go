package handoff

// This file reads the journal to its readers. It upholds: an event is told
// after it is durable, in order, without a hole; a reader that is behind the
// retention gets one gap event that names the missing numbers.

import (
	"context"

	"akk/bridge/rpc"
	"akk/store"
)

// readBatch bounds one look into the journal.
const readBatch = 500

// Events yields the journal from p.Since on, and with Follow what comes.
func (d *Desk) Events(ctx context.Context, _ rpc.Caller, p rpc.EventsParams, started func(rpc.EventsResult) error, yield func(rpc.Event) error) error {
	var first, last uint64
	if err := d.db.View(func(tx *store.Tx) error { first, last = journal.Bounds(tx); return nil }); err != nil {
		return err
	}
	after := p.Since
	switch {
	case p.Since > last:
		return usage("read from the start with --all, or without --since", "the journal ends at %d, %d was asked for: another store?", last, p.Since)
	case p.Since == 0 && !p.All:
		after = last
	case p.Since == 0 && first > 0:
		after = first - 1
	}
	if err := started(rpc.EventsResult{Next: after + 1}); err != nil {
		return err
	}
	for {
		ch := d.journalled.wait()
		for {
			batch, gap, err := d.readJournal(after)
			if err != nil {
				return err
			}
			if gap != nil {
				if err := yield(*gap); err != nil {
					return err
				}
				after = gap.To
			}
			for _, e := range batch {
				after = e.Seq
				if p.Socket != "" && e.Socket != "" && e.Socket != p.Socket {
					continue
				}
				if err := yield(e); err != nil {
					return err
				}
			}
			if len(batch) < readBatch {
				break
			}
		}
		if !p.Follow {
			return nil
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		case <-d.ctx.Done():
			return nil
		}
	}
}

func (d *Desk) readJournal(after uint64) (batch []rpc.Event, gap *rpc.Event, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		from, to, err := journal.Read(tx, after, readBatch, func(seq uint64, e rpc.Event) error {
			e.Seq = seq
			batch = append(batch, e)
			return nil
		})
		if to != 0 {
			gap = &rpc.Event{Seq: to, Type: "gap", Time: d.now(), From: from, To: to, Reason: "older events are no longer kept"}
		}
		return err
	})
	return batch, gap, err
}
