package handoff

// This file looks after the store: its check, its export, its compaction, for
// the daemon and, under the store's lock, without one. It upholds R213, R226:
// what leaves the store has no secret in it.

import (
	"bytes"
	"context"
	"encoding/json"

	"akk/bridge/rpc"
	"akk/store"
)

// StoreCheck reads everything and tells what is broken.
func (d *Desk) StoreCheck(context.Context, rpc.Caller) (rpc.StoreReport, error) {
	return CheckStore(d.db)
}

// StoreCompact gives free room back; everybody waits meanwhile.
func (d *Desk) StoreCompact(_ context.Context, c rpc.Caller) (rpc.StoreCompacted, error) {
	if c.Kind == "agent" {
		return rpc.StoreCompacted{}, &rpc.Error{Code: rpc.CodeForbidden, Message: "an agent may not compact the store", Cure: "ask the human"}
	}
	got, err := d.db.Compact()
	if err != nil {
		return rpc.StoreCompacted{}, &rpc.Error{Code: rpc.CodeUnavailable, Message: err.Error(), Cure: "make room on the disk; the store goes on as it was"}
	}
	return rpc.StoreCompacted(got), nil
}

// StoreExport yields every record.
func (d *Desk) StoreExport(ctx context.Context, c rpc.Caller, yield func(rpc.StoreRow) error) error {
	if c.Kind == "agent" || c.Kind == "host" {
		return &rpc.Error{Code: rpc.CodeForbidden, Message: "only the human may export the store", Cure: "run `akk store export` in a shell"}
	}
	return ExportStore(d.db, func(r rpc.StoreRow) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return yield(r)
	})
}

// CheckStore is the check of an open store.
func CheckStore(db *store.DB) (rpc.StoreReport, error) {
	s, err := db.Stats()
	if err != nil {
		return rpc.StoreReport{}, err
	}
	r := rpc.StoreReport{Dir: s.Dir, Schema: s.Schema, Bytes: s.Bytes, Tables: s.Tables, Faults: []string{}}
	for _, e := range db.Check() {
		r.Faults = append(r.Faults, e.Error())
	}
	return r, nil
}

// ExportStore yields every record of an open store, redacted.
func ExportStore(db *store.DB, yield func(rpc.StoreRow) error) error {
	return db.Export(func(r store.Row) error {
		return yield(rpc.StoreRow{Table: r.Table, ID: r.ID, Seq: r.Seq, Rev: uint64(r.Rev), Value: redactJSON(r.Value), Error: r.Error})
	})
}

// redactJSON takes secrets out of every text of a document; one that can't be
// read is left out.
func redactJSON(raw json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	out, err := json.Marshal(redactValue(v))
	if err != nil {
		return nil
	}
	return out
}

func redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redactValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = redactValue(v[k])
		}
	}
	return v
}
