package product

// What a reader of `akk list --json` and `akk status --json` sees, as far as
// tests need it, and waiting for it.

import (
	"encoding/json"
	"slices"
	"time"

	"akk/agents"
)

// waitTime bounds the wait for a state of akk: an agent of 300 MB on a loaded
// machine needs most of it to start.
const waitTime = 90 * time.Second

// pollEvery is the pause between two calls of akk, a process each.
const pollEvery = 100 * time.Millisecond

// Action is an entry of available_actions.
type Action struct {
	Tool            string         `json:"tool"`
	Arguments       map[string]any `json:"arguments"`
	MissingRequired []string       `json:"missing_required"`
	Scope           string         `json:"scope"`
}

// Hold is who has a terminal.
type Hold struct {
	By    string    `json:"by"`
	Soft  bool      `json:"soft"`
	Since time.Time `json:"since"`
	Note  string    `json:"note"`
}

// Turn is a Turn's document.
type Turn struct {
	TurnID          string            `json:"turn_id"`
	SessionID       string            `json:"session_id"`
	TerminalID      string            `json:"terminal_id"`
	Status          string            `json:"status"`
	Stage           string            `json:"stage"`
	Outcome         string            `json:"outcome"`
	Reason          string            `json:"reason"`
	FinalText       string            `json:"final_text"`
	Steer           bool              `json:"steer"`
	HumanControlled bool              `json:"human_controlled"`
	Actions         map[string]Action `json:"available_actions"`
}

// Decision is a row's handoff_decision.
type Decision struct {
	Kind            string `json:"kind"`
	SourceSessionID string `json:"source_session_id"`
	SourceTurnID    string `json:"source_turn_id"`
	Choices         struct {
		TakeOver struct {
			Action Action `json:"action"`
		} `json:"take_over_current"`
		Keep struct {
			Effect string `json:"effect"`
		} `json:"keep_source"`
	} `json:"choices"`
}

// Row is a terminal's row.
type Row struct {
	ID              string `json:"id"`
	Agent           string `json:"agent"`
	PID             int    `json:"pid"`
	NativeSession   string `json:"native_agent_session_id"`
	ManagementState string `json:"management_state"`
	Conflict        *struct {
		Kind       string   `json:"kind"`
		SessionIDs []string `json:"session_ids"`
	} `json:"management_conflict"`
	HandoffState    string    `json:"handoff_state"`
	HandoffBlocked  string    `json:"handoff_blocked_reason"`
	HandoffDecision *Decision `json:"handoff_decision"`
	Managed         struct {
		SessionID   *string `json:"session_id"`
		CurrentTurn *Turn   `json:"current_turn"`
		RecentTurn  *Turn   `json:"recent_turn"`
		TurnCount   int     `json:"turn_count"`
	} `json:"managed"`
	TerminalControl struct {
		PaneID string `json:"paneId"`
		Target string `json:"target"`
	} `json:"terminal_control"`
	Reading struct {
		Activity string   `json:"activity"`
		Owner    string   `json:"owner"`
		Composer string   `json:"composer"`
		Draft    string   `json:"draft"`
		Why      []string `json:"why"`
	} `json:"reading"`
	Hold             *Hold             `json:"hold"`
	AvailableActions map[string]Action `json:"available_actions"`
}

// Held tells whether somebody has the terminal.
func (r Row) Held() bool { return r.Hold != nil }

// Session is the row's Session, "" for none.
func (r Row) Session() string {
	if r.Managed.SessionID == nil {
		return ""
	}
	return *r.Managed.SessionID
}

// List is the list's document.
type List struct {
	Terminals   []Row  `json:"terminals"`
	Unavailable []Turn `json:"unavailable_managed_turns"`
}

// Pane is the row of a pane.
func (l List) Pane(id string) (Row, bool) {
	i := slices.IndexFunc(l.Terminals, func(r Row) bool { return r.TerminalControl.PaneID == id })
	if i < 0 {
		return Row{}, false
	}
	return l.Terminals[i], true
}

// Idle is a row whose composer is proven empty and waits.
func Idle(r Row) bool {
	return r.Reading.Activity == string(agents.Idle) && r.Reading.Owner == string(agents.OwnerComposer) &&
		r.Reading.Composer == string(agents.ComposerEmpty)
}

// Ready is idle, and akk offers a send.
func Ready(r Row) bool { return Idle(r) && r.AvailableActions["send"].Tool != "" }

// Working is a row whose agent works.
func Working(r Row) bool { return r.Reading.Activity == string(agents.Working) }

// List asks `akk list --json`.
func (p *Akk) List() List {
	p.T.Helper()
	out, errs, code := p.Run("list", "--json")
	var l List
	if code != 0 || json.Unmarshal([]byte(out), &l) != nil {
		p.T.Fatalf("akk list --json: exit %d, %s\n%s", code, errs, out)
	}
	return l
}

// WaitRow asks `akk list` until the pane's row is as wanted.
func (p *Akk) WaitRow(pane, what string, ok func(Row) bool) Row {
	p.T.Helper()
	end := time.Now().Add(waitTime)
	for {
		r, found := p.List().Pane(pane)
		if found && ok(r) {
			return r
		}
		if time.Now().After(end) {
			scr, _ := p.Srv.Look(p.T.Context(), pane)
			p.T.Fatalf("pane %s never became %s; its row (found %v) is %+v; the screen:\n%s", pane, what, found, r, scr.Text())
		}
		time.Sleep(pollEvery)
	}
}

// WaitGone waits until no agent is listed in the pane.
func (p *Akk) WaitGone(pane string) List {
	p.T.Helper()
	end := time.Now().Add(waitTime)
	for {
		l := p.List()
		r, found := l.Pane(pane)
		if !found {
			return l
		}
		if time.Now().After(end) {
			p.T.Fatalf("pane %s is still listed: %+v", pane, r)
		}
		time.Sleep(pollEvery)
	}
}

// Turn asks `akk status TURN --json`.
func (p *Akk) Turn(id string) Turn {
	p.T.Helper()
	out, errs, code := p.Run("status", id, "--json")
	var s struct {
		Conversation *Turn `json:"conversation"`
	}
	if code != 0 || json.Unmarshal([]byte(out), &s) != nil || s.Conversation == nil {
		p.T.Fatalf("akk status %s: exit %d, %s\n%s", id, code, errs, out)
	}
	return *s.Conversation
}

// WaitTurn asks for a Turn until it is as wanted.
func (p *Akk) WaitTurn(id, what string, ok func(Turn) bool) Turn {
	p.T.Helper()
	end := time.Now().Add(waitTime)
	for {
		t := p.Turn(id)
		if ok(t) {
			return t
		}
		if time.Now().After(end) {
			p.T.Fatalf("the turn %s never was %s; it is %+v", id, what, t)
		}
		time.Sleep(pollEvery)
	}
}

// Ended is a Turn that has an outcome.
func Ended(t Turn) bool { return t.Outcome != "" }
