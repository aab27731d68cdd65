package handoff

import (
	"errors"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// A refusal's cure can be followed, and leads somewhere.
func TestCuresLead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, q := b.w.play(), b.w.play()
	b.row(p, agents.Idle)
	b.row(q, agents.Idle)
	cure := func(err error, message, cure string) {
		t.Helper()
		e, ok := errors.AsType[*rpc.Error](err)
		if !ok || !strings.Contains(e.Message, message) || !strings.Contains(e.Cure, cure) {
			t.Errorf("%#v, want %q and the cure %q", err, message, cure)
		}
	}
	const all = "run `akk turns --all`"
	_, err := b.desk.Renew(t.Context(), human, rpc.RenewParams{TurnID: "foo"})
	cure(err, `no turn is called "foo"`, all)
	_, err = b.desk.Respond(t.Context(), human, rpc.RespondParams{TurnID: "foo", Request: "yes"})
	cure(err, `no turn is called "foo"`, all)
	_, err = b.desk.RetrySubmission(t.Context(), human, rpc.TurnParams{TurnID: "foo"})
	cure(err, `no turn is called "foo"`, all)
	_, err = b.desk.CloseTurn(t.Context(), human, rpc.CloseParams{ID: "foo"})
	cure(err, `"foo" is no turn's id`, all)
	_, err = b.desk.RestoreDraft(t.Context(), human, rpc.TargetParams{ID: p.id})
	cure(err, "nothing to put back", "akk screen "+p.id)
	// Waiting makes no agent of a recording.
	for _, pane := range []*player{p, q} {
		b.w.change(pane.id, func(i *panes.Info) { i.Demo = "codex" })
	}
	b.until("both are recordings", func() bool {
		rows := b.rows()
		return len(rows) == 2 && rows[0].Demo != "" && rows[1].Demo != ""
	})
	_, err = b.send("", "hello")
	cure(err, "only recordings play", "start codex or claude")
	_, err = b.desk.Cancel(t.Context(), human, rpc.CancelParams{ID: p.id}) // N14: it is no send
	cure(err, "a recording plays in this pane", "choose a pane where an agent runs: akk list")
}

// A refusal is one line; a command of two lines is not told as one command (N7).
func TestDialogInASentence(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]*agents.Dialog{
		": make ⏎ rm -rf x":       {Command: "make\n  rm -rf x\n"},
		": Do you want to go on?": {Prompt: "Do you want\n  to go on?"},
		"":                        nil,
	} {
		if got := dialogText(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
