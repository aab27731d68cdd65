package outbox

// This file holds the deliveries' table and their documents.

import (
	"akk/bridge/rpc"
	"akk/store"
)

// Table holds every delivery by its id. A delivery is about a Turn or a Watch
// that exists.
var Table = store.NewCollection[Entry]("deliveries",
	store.Ref[Entry]{Table: "turns", ID: func(e Entry) []string { return []string{e.Envelope.Source.TurnID} }},
	store.Ref[Entry]{Table: "watches", ID: func(e Entry) []string { return []string{e.Envelope.Source.WatchID} }})

// Doc is the entry as callers see it.
func (e Entry) Doc() rpc.Delivery {
	d := rpc.Delivery{DeliveryID: e.Envelope.DeliveryID, EventID: e.Envelope.Event.ID, Type: e.Envelope.Event.Type, TurnID: e.Envelope.Source.TurnID,
		WatchID: e.Envelope.Source.WatchID, TerminalID: e.Envelope.Source.TerminalID, ProfileID: e.Envelope.Route.ProfileID, Status: string(e.State),
		Attempts: e.Attempts, CreatedAt: e.CreatedAt, AcceptanceID: e.AcceptanceID, LastErrorCode: e.ErrorCode, LastError: e.Detail}
	if !e.NextAt.IsZero() {
		d.NextAttemptAt = &e.NextAt
	}
	if !e.AcceptedAt.IsZero() {
		d.AcceptedAt = &e.AcceptedAt
	}
	return d
}
