package claude

import (
	"strings"
	"testing"
)

// TestTornBatch: the lines of one flush can come in several polls, in an order
// in which the answer stands before its message (seen live with 2.1.267: the
// turn was then told as aborted). Whatever the cut, the turn is told whole.
func TestTornBatch(t *testing.T) {
	const (
		answer = `{"type":"assistant","uuid":"b","parentUuid":"x","timestamp":"2026-01-01T00:00:02Z","message":{"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"}}`
		end    = `{"type":"system","subtype":"turn_duration","uuid":"c","parentUuid":"b","timestamp":"2026-01-01T00:00:03Z"}`
		user   = `{"type":"user","uuid":"a","timestamp":"2026-01-01T00:00:01Z","promptId":"p","origin":{"kind":"human"},"message":{"content":"hi"}}`
		link   = `{"type":"attachment","uuid":"x","parentUuid":"a","timestamp":"2026-01-01T00:00:01Z","attachment":{"type":"skill_listing"}}`
	)
	for _, lines := range [][]string{
		{user, link, answer, end}, {answer, user, link, end}, {answer, end, user, link}, {answer, link, end, user}, {link, answer, user, end}, {end, answer, link, user},
	} {
		for size := 1; size <= len(lines); size++ { // lines in one poll
			var tn turns
			got := ""
			for from := 0; from < len(lines); from += size {
				var batch []record
				for _, l := range lines[from:min(from+size, len(lines))] {
					batch = append(batch, parseLine([]byte(l), 1))
				}
				got += render(tn.take(batch))
			}
			if want := "accepted t1\nturn_started t1\ncompleted t1 hello\n"; strings.ReplaceAll(got, " p", " t1") != want && got != want {
				t.Errorf("%d lines in a poll of %q: %q", size, lines, got)
			}
			if len(tn.held) > 0 {
				t.Errorf("still held: %v", tn.held)
			}
		}
	}
	// What never gets a parent is bounded.
	var tn turns
	for range 3 * maxHeld {
		tn.take([]record{parseLine([]byte(strings.ReplaceAll(answer, `"b"`, `"`+strings.Repeat("z", 1+len(tn.held))+`"`)), 1)})
	}
	if len(tn.held) > maxHeld {
		t.Errorf("%d records are held", len(tn.held))
	}
}
