package outbox

// This file makes the frozen envelope of a callback (CONTRACT-outputs §1.1 and
// §7). It upholds R182: a route that is not whole delivers nothing.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"akk/bridge/rpc"
)

// The contract's names and bounds.
const (
	RouteSchema    = "agent-knock-knock/callback-route"
	EnvelopeSchema = "agent-knock-knock/callback-envelope"
	version        = 1
	// BodyMax bounds a body in characters.
	BodyMax = 4000
)

// ErrRoute is returned for a route that is not whole (R182).
var ErrRoute = errors.New("the callback route is not whole")

// CheckRoute returns ErrRoute unless r can be frozen.
func CheckRoute(r rpc.Route) error {
	switch {
	case r.Schema != RouteSchema || r.Version != version:
		return fmt.Errorf("%w: schema %q version %d", ErrRoute, r.Schema, r.Version)
	case r.Transport == "" || r.ProfileID == "" || r.ProfileRevision == "" || r.ControllerSessionID == "":
		return fmt.Errorf("%w: transport, profile and session must be named", ErrRoute)
	}
	return nil
}

// routeKey names the bridges that may deliver: exactly this profile, revision
// and session (R211, R212).
func routeKey(r rpc.Route) string {
	return strings.Join([]string{r.Transport, r.ProfileID, r.ProfileRevision, r.ControllerSessionID}, "\x00")
}

// ForTurn is the envelope of a Turn's callback.
func ForTurn(r rpc.Route, sessionID, turnID string, ev rpc.EnvelopeEvent) rpc.Envelope {
	e := rpc.Envelope{Schema: EnvelopeSchema, Version: version, Route: r, Event: ev,
		Source: rpc.EnvelopeSource{Kind: "managed_turn", SessionID: sessionID, TurnID: turnID, ConversationID: turnID}}
	e.Event.Body = Clip(ev.Body)
	d := Digest(map[string]any{
		"version": version, "source": e.Source, "event": e.Event,
		"route": map[string]any{"transport": r.Transport, "profile_id": r.ProfileID, "profile_revision": r.ProfileRevision, "controller_session_id": r.ControllerSessionID},
	})
	e.DeliveryID = "callback-delivery-" + d
	e.IdempotencyKey = "agent-knock-knock:" + d
	return e
}

// NotificationID names one notification of a Watch: delivery id and event id
// are the same (R138).
func NotificationID(watchID, kind, evidence string) string {
	return "terminal-watch-notification-" + Digest(map[string]any{"schema": "agent-knock-knock/terminal-watch-notification",
		"version": version, "watch_id": watchID, "kind": kind, "evidence_fingerprint": evidence})
}

// ForWatch is the envelope of a Watch's notification; ev.ID is its
// NotificationID.
func ForWatch(r rpc.Route, watchID, terminalID string, ev rpc.EnvelopeEvent) rpc.Envelope {
	ev.Body = Clip(ev.Body)
	return rpc.Envelope{Schema: EnvelopeSchema, Version: version, Route: r, Event: ev, DeliveryID: ev.ID,
		IdempotencyKey: "agent-knock-knock:terminal-watch:" + watchID + ":" + ev.ID,
		Source:         rpc.EnvelopeSource{Kind: "terminal_watch", WatchID: watchID, TerminalID: terminalID}}
}

// MessageID is the id of an event that a Turn's state makes: the same state
// makes the same id.
func MessageID(turnID, kind, evidence string) string {
	return "msg-terminal-" + Digest(map[string]any{"conversation_id": turnID, "kind": kind, "completion_fingerprint": evidence})[:32]
}

// Clip bounds a body.
func Clip(s string) string {
	r := []rune(s)
	if len(r) <= BodyMax {
		return s
	}
	return string(r[:BodyMax-1]) + "…"
}

// New is the entry of an envelope that nobody has tried yet.
func New(e rpc.Envelope, now time.Time) Entry {
	return Entry{Envelope: e, State: Pending, CreatedAt: now, UpdatedAt: now}
}
