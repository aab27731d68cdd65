package product

// The journal and the outbox as `akk events` and `akk callbacks list` tell
// them. It upholds: no number of the journal is missing, and what a Host was
// told is counted at three places: its command, the outbox, the journal.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is a line of the journal.
type Event struct {
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`
	Change     string    `json:"change"`
	TerminalID string    `json:"terminal_id"`
	TurnID     string    `json:"turn_id"`
	SessionID  string    `json:"session_id"`
	DeliveryID string    `json:"delivery_id"`
	Pane       string    `json:"pane"`
	Reason     string    `json:"reason"`
	Text       string    `json:"text"`
}

// Events reads the whole journal; a hole in it is an error.
func (p *Akk) Events() []Event {
	p.T.Helper()
	out, errs, code := p.Run("events", "--json", "--all", "--follow=false")
	if code != 0 {
		p.T.Fatalf("akk events: %s", errs)
	}
	var all []Event
	for l := range strings.Lines(out) {
		var e Event
		Decode(p.T, l, &e)
		if n := len(all); e.Type == "gap" || n > 0 && e.Seq != all[n-1].Seq+1 {
			p.T.Errorf("a hole in the journal before %s", l)
		}
		all = append(all, e)
	}
	return all
}

// Changes are the words of the journal about one Turn, in order.
func Changes(all []Event, turn string) []string {
	var out []string
	for _, e := range all {
		if e.TurnID == turn && e.Type == "turn" {
			out = append(out, e.Change)
		}
	}
	return out
}

// Table is the journal in words, times in milliseconds since the first line
// that is shown; readings without a Turn are left out unless they say
// something new about the pane.
func Table(all []Event, from uint64) string {
	var b strings.Builder
	var zero time.Time
	names := map[string]string{}
	short := func(id string) string {
		if id == "" {
			return ""
		}
		if names[id] == "" {
			names[id] = fmt.Sprintf("turn %d", len(names)+1)
		}
		return names[id]
	}
	for _, e := range all {
		if e.Seq < from {
			continue
		}
		if zero.IsZero() {
			zero = e.Time
		}
		words := strings.Join(strings.Fields(strings.Join([]string{e.Type, e.Change, short(e.TurnID)}, " ")), " ")
		if e.DeliveryID != "" {
			words += " " + e.DeliveryID[max(0, len(e.DeliveryID)-6):]
		}
		if e.Reason != "" {
			words += " (" + e.Reason + ")"
		}
		fmt.Fprintf(&b, "%5d %8d ms  %s\n", e.Seq, e.Time.Sub(zero).Milliseconds(), words)
	}
	return b.String()
}

// Delivery is an entry of the outbox.
type Delivery struct {
	ID       string `json:"delivery_id"`
	Type     string `json:"type"`
	TurnID   string `json:"turn_id"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
}

// Deliveries is all that the outbox keeps.
func (p *Akk) Deliveries() []Delivery {
	p.T.Helper()
	out, errs, code := p.Run("callbacks", "list", "--all", "--json")
	var l []Delivery
	if code != 0 || json.Unmarshal([]byte(out), &l) != nil {
		p.T.Fatalf("akk callbacks list: exit %d, %s\n%s", code, errs, out)
	}
	return l
}

// Told says what a Host was told: "TYPE: a word of the body".
type Told struct{ Type, Has string }

func (t Told) String() string { return t.Type + ": " + t.Has }

// WaitTold waits until each callback of want has come to the Host, and checks
// that each came once, in one attempt, and that nothing else came.
func (h *Host) WaitTold(turn string, want ...Told) {
	h.p.T.Helper()
	end := time.Now().Add(waitTime)
	for {
		problem := h.told(turn, want)
		if problem == "" {
			break
		}
		if time.Now().After(end) {
			h.p.T.Errorf("%s, %s: %s", h.name, turn, problem)
			return
		}
		time.Sleep(pollEvery)
	}
}

// told compares; "" when all is as wanted.
func (h *Host) told(turn string, want []Told) string {
	var mine []Delivery
	for _, d := range h.p.Deliveries() {
		if d.TurnID == turn && d.Status != "superseded" {
			mine = append(mine, d)
		}
	}
	runs := h.Callbacks()
	var got []string
	left := slices.Clone(want)
	for _, d := range mine {
		var body string
		n := 0
		for _, r := range runs {
			if r.Delivery == d.ID {
				n, body = n+1, r.Body
			}
		}
		got = append(got, fmt.Sprintf("%s (%s, %d attempts, command ran %d times): %.80q", d.Type, d.Status, d.Attempts, n, body))
		at := slices.IndexFunc(left, func(w Told) bool { return w.Type == d.Type && strings.Contains(body, w.Has) })
		if d.Status != "accepted" || d.Attempts != 1 || n != 1 || at < 0 {
			return fmt.Sprintf("wanted %v, got %s", want, strings.Join(got, "; "))
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		return fmt.Sprintf("still missing %v, got %s", left, strings.Join(got, "; "))
	}
	accepted := map[string]int{}
	for _, e := range h.p.Events() {
		if e.Type == "delivery" && e.Change == "accepted" {
			accepted[e.DeliveryID]++
		}
	}
	for _, d := range mine {
		if accepted[d.ID] != 1 {
			return fmt.Sprintf("the journal tells the acceptance of %s %d times", d.ID, accepted[d.ID])
		}
	}
	return ""
}
