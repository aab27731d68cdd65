package rpc

import (
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// TypeGap is the Type of the line that a reader gets for events that have
// passed out of retention.
const TypeGap = "gap"

type plainEvent Event

type gapEvent struct {
	plainEvent
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// MarshalJSON adds from and to, both inclusive, to a gap and to nothing else.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Type != TypeGap {
		return fast.Marshal(plainEvent(e))
	}
	return json.Marshal(gapEvent{plainEvent(e), e.From, e.To})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(b []byte) error {
	var g gapEvent
	if err := json.Unmarshal(b, &g); err != nil {
		return err
	}
	*e = Event(g.plainEvent)
	e.From, e.To = g.From, g.To
	return nil
}
