package handoff

// This file is what time and the agent's questions do to an accepted Turn, as a
// pure function: (Turn, look) -> (Turn, changes, when to look again). It
// upholds R170 and CONTRACT-outputs §5: a Turn without a sign of life stalls, a
// hard limit fires at its time whatever the screen says, a question is told
// once. A Turn that stalled is still watched: what the log says later counts.

import (
	"time"

	"akk/agents"
	"akk/bridge/rpc"
)

// The contract's limits (CONTRACT-outputs §5).
const (
	inactivityDefault = 60 * time.Minute
	hardDefault       = 720 * time.Minute
	// idleRetention is when an ended Turn is closed.
	idleRetention = 7 * 24 * time.Hour
	minutesMax    = 100 * 24 * 60 // of any limit that a caller names
)

// Why a Turn stalled.
const (
	StallInactivity = "inactivity"
	StallHard       = "hard_lifetime"
)

// The changes that a look makes, beside the outcomes.
const (
	changeQuestion = "question" // the agent asks; the Turn waits for its Host
	changeAnswered = "answered" // it asks no more
	changeStalled  = "stalled"
	changeRenewed  = "renewed"
	changeClosed   = "closed"
)

// Limits is the part of a Turn that time moves. It is embedded, so that its
// fields are the record's own.
type Limits struct {
	// Route is where this Turn's callbacks go, frozen when it was sent (R212);
	// nil = nowhere.
	Route      *rpc.Route    `json:"route,omitempty"`
	Inactivity time.Duration `json:"inactivity,omitempty"` // 0 = never
	HardAt     *time.Time    `json:"hard_at,omitempty"`    // nil = never
	Life       *time.Time    `json:"life,omitempty"`       // last sign of life, as of the newest change
	StalledAt  *time.Time    `json:"stalled_at,omitempty"`
	Stall      string        `json:"stall,omitempty"`
	Asked      string        `json:"asked,omitempty"`      // key of the question that stands
	Questions  int           `json:"questions,omitempty"`  // how many there were
	Notice     string        `json:"notice,omitempty"`     // delivery of that question
	HoldTold   bool          `json:"hold_told,omitempty"`  // a typing human was told once
	Told       int           `json:"told,omitempty"`       // control callbacks so far
	SteeredAt  int64         `json:"steered_at,omitempty"` // log offset of the newest foreign message that was told
}

// newLimits are a new Turn's; minutes 0 = the contract's, below 0 = never.
func newLimits(route *rpc.Route, idle, hard float64, now time.Time) Limits {
	l := Limits{Route: route, Inactivity: minutes(idle, inactivityDefault)}
	if d := minutes(hard, hardDefault); d > 0 {
		at := now.Add(d)
		l.HardAt = &at
	}
	return l
}

func minutes(m float64, normal time.Duration) time.Duration {
	switch {
	case m == 0:
		return normal
	case m < 0:
		return 0
	}
	return time.Duration(min(m, minutesMax) * float64(time.Minute))
}

// look is what is known at one moment.
type look struct {
	Now      time.Time
	Life     time.Time // last sign of life
	Activity agents.Activity
	Whole    bool // the reading rests on a whole frame
	Ask      *ask // the question that stands, nil if none
}

// look moves the Turn; next is when to look again, zero for never.
func (t Turn) look(l look) (out Turn, changes []string, next time.Time) {
	if t.AcceptedAt == nil || !t.open() {
		return t, nil, time.Time{}
	}
	if l.Whole {
		switch {
		case l.Ask != nil && l.Ask.Key != t.Asked:
			t.Asked, t.Questions = l.Ask.Key, t.Questions+1
			changes = append(changes, changeQuestion)
		case l.Ask == nil && t.Asked != "" && l.Activity != agents.ActivityUnknown:
			t.Asked = ""
			changes = append(changes, changeAnswered)
		}
	}
	if t.StalledAt != nil {
		if t.HardAt != nil && l.Now.Before(*t.HardAt) {
			next = *t.HardAt // from then on it can't be renewed
		}
		return t, changes, next
	}
	stall := func(why, words string) {
		now, life := l.Now, l.Life
		t.StalledAt, t.Stall, t.Reason, t.Life = &now, why, words, &life
		changes = append(changes, changeStalled)
	}
	soonest := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if t.HardAt != nil {
		if !l.Now.Before(*t.HardAt) {
			stall(StallHard, "the task has run longer than its hard limit")
			return t, changes, time.Time{}
		}
		soonest(*t.HardAt)
	}
	// A question waits for somebody, a working mark is life: neither is silence.
	if t.Inactivity > 0 {
		at := l.Life.Add(t.Inactivity)
		if l.Activity == agents.Working || t.Asked != "" {
			at = l.Now.Add(t.Inactivity)
		}
		if !l.Now.Before(at) {
			stall(StallInactivity, "the agent has shown no sign of life for "+t.Inactivity.String())
			return t, changes, next // the hard limit
		}
		soonest(at)
	}
	return t, changes, next
}

// renew takes a stalled Turn up again (R170): the hard limit stays.
func (t Turn) renew(idle float64, now time.Time) (Turn, *rpc.Error) {
	switch {
	case t.AcceptedAt == nil && !t.open():
		return t, refused("look at the pane, then send a new task", "the turn %s is %s: its submission was never proven", t.ID, turnStatus(&t, nil))
	case !t.open():
		return t, refused("send a new task", "the turn %s has ended (%s)", t.ID, t.Outcome)
	case t.StalledAt == nil:
		return t, refused("there is nothing to renew: akk status "+t.ID, "the turn %s has not stalled", t.ID)
	case t.HardAt != nil && !now.Before(*t.HardAt):
		return t, refused("look at the pane, then close it", "the turn %s has run over its hard limit", t.ID)
	}
	if idle > 0 {
		t.Inactivity = minutes(idle, inactivityDefault)
	} else if t.Inactivity == 0 {
		t.Inactivity = inactivityDefault
	}
	t.StalledAt, t.Stall, t.Reason, t.Life = nil, "", "", &now
	return t, nil
}
