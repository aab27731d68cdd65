package handoff

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"akk/agents"
	"akk/vtparse"
)

// idleFacts are facts under which a send goes.
func idleFacts() Facts {
	return Facts{Screen: vtparse.New(80, 24, vtparse.Options{}).Screen(), Frame: true,
		Reading: agents.Reading{Activity: agents.Idle, Owner: agents.OwnerComposer, Composer: agents.ComposerEmpty}}
}

func draftFacts(text string) Facts {
	f := idleFacts()
	f.Reading.Composer, f.Reading.Draft = agents.ComposerDraft, text
	return f
}

// checker follows one Dispatch and holds the invariants of the send.
type checker struct {
	t        interface{ Fatalf(string, ...any) }
	d        Dispatch
	now      time.Time
	commits  []Effect // not answered
	pastes   int
	enters   int // keys that may have gone out
	typing   string
	durable  string // newest durable stage
	answered map[int]bool
	accepted bool // the log told our hash behind the anchor
}

func (c *checker) step(e Event) {
	e.Now = c.now
	before := c.d
	var effs []Effect
	c.d, effs = c.d.Step(e)
	if before.Phase == PhaseDone && len(effs) > 0 && !slices.ContainsFunc(effs, func(e Effect) bool { return e.Change == "accepted" || e.Change == OutcomeCompleted }) {
		c.t.Fatalf("%s acted after its end: %v", before.Turn.Outcome, effs)
	}
	for _, eff := range effs {
		switch eff.Kind {
		case EffPaste:
			if c.durable != StagePrepared {
				c.t.Fatalf("paste without a durable prepared (%q)", c.durable)
			}
			if m := before.missing(e.Facts, e.Now); len(m) > 0 {
				c.t.Fatalf("paste without proof: %v", m)
			}
			if c.pastes++; c.pastes > 1 {
				c.t.Fatalf("pasted twice")
			}
			c.typing = "paste"
		case EffEnter:
			if c.durable != StageInjected {
				c.t.Fatalf("Enter without a durable text_injected (%q)", c.durable)
			}
			if !drawn(e.Facts.Reading, "the task") || !e.Facts.Frame {
				c.t.Fatalf("Enter without exactly our text: %+v", e.Facts.Reading)
			}
			if e.Now.Before(c.d.SettleAt) {
				c.t.Fatalf("Enter inside of the paste window")
			}
			if c.enters++; c.enters > 1 {
				c.t.Fatalf("Enter twice")
			}
			c.typing = "enter"
		case EffCommit:
			c.commits = append(c.commits, eff)
		}
	}
	if c.d.Turn.AcceptedAt != nil && !c.accepted {
		c.t.Fatalf("accepted without the log")
	}
	if c.d.Turn.Outcome == OutcomeNotSubmitted && c.pastes > 0 {
		c.t.Fatalf("not submitted, but pasted")
	}
	if c.d.Phase != PhaseWatch && !c.d.Typing() && c.d.Phase != PhaseAccept && c.d.Phase != PhaseRunning && c.d.Turn.open() {
		c.t.Fatalf("phase %s without an outcome", c.d.Phase)
	}
}

// answer gives the oldest commit its word.
func (c *checker) answer(f Facts, err error) {
	eff := c.commits[0]
	c.commits = c.commits[1:]
	if err == nil {
		switch eff.Change {
		case "prepared":
			c.durable = StagePrepared
		case "text_injected":
			c.durable = StageInjected
		}
	}
	c.step(Event{Kind: EvCommitted, Commit: eff.Commit, Err: err, Facts: f})
}

// reply gives the key on its way its word.
func (c *checker) reply(f Facts, refused string, err error) {
	what := c.typing
	c.typing = ""
	if refused != "" { // nothing was typed
		if what == "paste" {
			c.pastes--
		} else {
			c.enters--
		}
	}
	c.step(Event{Kind: EvInput, Refused: refused, Err: err, Facts: f})
}

// on does what the way to acceptance asks for next.
func (c *checker) on() {
	f := idleFacts()
	if c.d.Phase == PhaseDraft || c.d.Phase == PhaseConfirm || c.d.Phase == PhaseSettle {
		f = draftFacts("the task")
	}
	switch {
	case len(c.commits) > 0:
		c.answer(f, nil)
	case c.typing != "":
		c.reply(f, "", nil)
	case c.d.Phase == PhaseProof:
		c.step(Event{Kind: EvAudited, Facts: f})
	default:
		c.now = c.now.Add(60 * time.Millisecond)
		c.step(Event{Kind: EvFacts, Facts: f})
	}
}

// reached counts how far the schedules came.
var reached = map[Phase]int{}

// TestInvariants runs random schedules of screens, answers, faults, log lines
// and clocks (issue 6, proof 4, for the part that issue 2 has): no key without the
// proof of that moment (R11), none before its stage is durable (R56), none twice
// (R55), accepted by the log only (R48).
func TestInvariants(t *testing.T) {
	hash := agents.HashRequest("the task")
	fault := errors.New("fault")
	rapid.Check(t, func(rt *rapid.T) {
		c := &checker{t: rt, now: time.Unix(1_800_000_000, 0), answered: map[int]bool{}}
		c.d = Dispatch{Turn: Turn{ID: "turn-1", Hash: hash}, Text: "the task", Plan: agents.SubmitPlan{SettleMillis: 100, DrawMillis: 400, AcceptMillis: 500}}
		facts := func(rt *rapid.T) Facts {
			f := idleFacts()
			switch rapid.SampledFrom([]string{"idle", "idle", "ours", "ours", "ours", "other", "approval", "working", "unknown", "half", "mode", "shell"}).Draw(rt, "screen") {
			case "ours":
				f = draftFacts("the  task")
			case "other":
				f = draftFacts("the tusk")
			case "approval":
				f.Reading = agents.Reading{Activity: agents.Blocked, Owner: agents.OwnerApproval, Composer: agents.ComposerHidden}
			case "working":
				f.Reading.Activity = agents.Working
			case "unknown":
				f.Reading = agents.Reading{Activity: agents.ActivityUnknown, Owner: agents.OwnerUnknown, Composer: agents.ComposerUnknown}
			case "half":
				f = draftFacts("the task")
				f.Frame = false
			case "mode":
				f.Info.InMode = true
			case "shell":
				f.Reading.Owner = agents.OwnerShell
			}
			return f
		}
		c.step(Event{Kind: EvStart, Facts: idleFacts()})
		rt.Repeat(map[string]func(*rapid.T){
			"on":         func(rt *rapid.T) { c.on() },
			"on, on":     func(rt *rapid.T) { c.on(); c.on() },
			"on, on, on": func(rt *rapid.T) { c.on(); c.on(); c.on() },
			"facts":      func(rt *rapid.T) { c.step(Event{Kind: EvFacts, Facts: facts(rt)}) },
			"tick": func(rt *rapid.T) {
				c.now = c.now.Add(time.Duration(rapid.IntRange(1, 300).Draw(rt, "ms")) * time.Millisecond)
				c.step(Event{Kind: EvTick, Facts: facts(rt)})
			},
			"audited": func(rt *rapid.T) { c.step(Event{Kind: EvAudited, Facts: facts(rt)}) },
			"moving":  func(rt *rapid.T) { c.step(Event{Kind: EvAudited, Err: fault, Facts: facts(rt)}) },
			"commit": func(rt *rapid.T) {
				if len(c.commits) > 0 {
					c.answer(facts(rt), nil)
				}
			},
			"commit fails": func(rt *rapid.T) {
				if len(c.commits) > 0 && rapid.IntRange(0, 4).Draw(rt, "rare") == 0 {
					c.answer(facts(rt), fault)
				}
			},
			"typed": func(rt *rapid.T) {
				if c.typing != "" {
					c.reply(facts(rt), "", nil)
				}
			},
			"refused": func(rt *rapid.T) {
				if c.typing != "" {
					c.reply(facts(rt), rapid.SampledFrom([]string{"cursor", "mode", "identity"}).Draw(rt, "reason"), fault)
				}
			},
			"lost answer": func(rt *rapid.T) {
				if c.typing != "" && rapid.IntRange(0, 3).Draw(rt, "rare") == 0 {
					c.reply(facts(rt), "", fault)
				}
			},
			"old log": func(rt *rapid.T) {
				c.step(Event{Kind: EvLog, Facts: facts(rt), LogPath: "/l", Logs: []agents.LogEvent{{Kind: agents.LogAccepted, Hash: hash, Time: time.Unix(1_700_000_000, 0)}, {Kind: agents.LogAccepted, Hash: "other", Time: c.now}, {Kind: agents.LogCompleted}}})
			},
			"log": func(rt *rapid.T) {
				if c.pastes > 0 && rapid.IntRange(0, 3).Draw(rt, "rare") == 0 {
					c.accepted = true
					c.step(Event{Kind: EvLog, Facts: facts(rt), LogPath: "/l", Logs: []agents.LogEvent{{Kind: agents.LogAccepted, Hash: hash, TurnID: "t", Time: c.now.Add(time.Hour)}}})
				}
			},
			"end": func(rt *rapid.T) {
				if c.accepted {
					c.step(Event{Kind: EvLog, Facts: facts(rt), Logs: []agents.LogEvent{{Kind: agents.LogCompleted, TurnID: "other"}, {Kind: agents.LogCompleted, TurnID: "t", Text: "done"}}})
				}
			},
			"gone": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "rare") == 0 {
					c.step(Event{Kind: EvGone, Facts: facts(rt), Err: errExited})
				}
			},
			"restart": func(rt *rapid.T) { // the daemon is killed: what was durable decides
				if c.durable == "" || !c.d.Turn.open() || rapid.IntRange(0, 9).Draw(rt, "rare") != 0 {
					return
				}
				turn := c.d.Turn
				if turn.AcceptedAt == nil {
					turn.Stage = c.durable
				}
				c.commits, c.typing = nil, ""
				c.pastes, c.enters = 1, 1 // may have been; never again
				c.d, _ = Resume(turn, c.d.Plan, c.now)
			},
		})
		// Whatever happened, time and silence bring it to an end.
		for range 40 {
			for len(c.commits) > 0 {
				c.answer(idleFacts(), nil)
			}
			if c.typing != "" {
				c.reply(idleFacts(), "", nil)
			}
			c.now = c.now.Add(time.Second)
			c.step(Event{Kind: EvTick, Facts: idleFacts()})
		}
		if c.enters > 0 {
			reached[PhaseEnter]++
		}
		if c.accepted {
			reached[PhaseRunning]++
		}
		if c.d.Turn.open() && c.d.Phase != PhaseRunning {
			rt.Fatalf("stuck in %s", c.d.Phase)
		}
	})
	if reached[PhaseEnter] == 0 || reached[PhaseRunning] == 0 {
		t.Fatalf("the schedules did not come far enough: %v", reached)
	}
	t.Log(reached)
}

func TestDrawn(t *testing.T) {
	for _, c := range []struct {
		draft, text string
		collapsed   bool
		want        bool
	}{
		{"hello world", "hello world", false, true},
		{"hello wor\n  ld", "hello world", false, true}, // scenario 41: wrapped
		{"漢字 かな", "漢字かな", false, true},
		{"hello worle", "hello world", false, false}, // one altered character
		{"merge hello world", "hello world", false, false},
		{"", "hello", false, false},
		{"[Pasted Content 1001 chars]", string(make([]byte, 1001)), true, true},
		{"[Pasted Content 1002 chars]", string(make([]byte, 1001)), true, false},
		{"x[Pasted Content 1001 chars]", string(make([]byte, 1001)), true, false},
		{"[Pasted Content 1001 chars][Pasted Content 1001 chars] #2", string(make([]byte, 1001)), true, false},
		{"[Pasted text #3 +11 lines]", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", true, true},
		{"[Pasted text #3 +10 lines]", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", true, false},
		{"[Pasted text #1]", string(make([]byte, 900)), true, true},
		{"[Pasted text #1]", "a\nb\nc\nd", true, false},
	} {
		r := agents.Reading{Owner: agents.OwnerComposer, Composer: agents.ComposerDraft, Draft: c.draft, DraftCollapsed: c.collapsed}
		if got := drawn(r, c.text); got != c.want {
			t.Errorf("drawn(%q, %d bytes) = %v", c.draft, len(c.text), got)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Authorization: Bearer abc.def-123456":         "Authorization: Bearer [redacted]",
		"akk --token s3cret x":                         "akk --token [redacted] x",
		"OPENAI_API_KEY=sk-abcdefgh12345":              "OPENAI_API_KEY=[redacted]",
		"key sk-abcdefgh12345 here":                    "key [redacted] here",
		"ghp_abcdefghijklmnop1234":                     "[redacted]",
		"github_pat_11ABCDEFG0123456789":               "[redacted]",
		"AKIAIOSFODNN7EXAMPLE":                         "[redacted]",
		"git clone https://u:p4ss@host/x":              "git clone https://[redacted]@host/x",
		"-----BEGIN RSA PRIVATE KEY-----\nab\ncd":      "[redacted]",
		"DB_PASSWORD='a b' next":                       "DB_PASSWORD=[redacted] next",
		"the token count is 5 and https://host:80/a@b": "the token count is 5 and https://host:80/a@b",
	} {
		if got := redact(in); got != want {
			t.Errorf("redact(%q) = %q", in, got)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("hello\r\nworld\t!")
	f.Add("\x1b[200~")
	f.Fuzz(func(t *testing.T, s string) {
		text, bad := cleanRequest(s)
		if bad != nil {
			if bad.Cure == "" {
				t.Fatal("no cure")
			}
			return
		}
		for _, r := range text {
			if r < 0x20 && r != '\t' && r != '\n' || r == 0x7f {
				t.Fatalf("%q got through", r)
			}
		}
		_ = redact(text)
		_ = squeeze(text)
	})
}
