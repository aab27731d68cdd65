package handoff

// This file puts a draft back that an explicit send cleared (issue 6: one key).
// It upholds: only for the human, only into a proven empty composer, and never
// an Enter with it.

import (
	"context"
	"time"

	"akk/bridge/rpc"
	"akk/panes"
)

// restoring is what stands in the way; the human's own hold does not.
func restoring(f Facts, now time.Time) []Missing {
	f.Hold = nil
	return answerable(f, now)
}

// RestoreDraft puts the kept draft back.
func (d *Desk) RestoreDraft(ctx context.Context, c rpc.Caller, p rpc.TargetParams) (rpc.Restored, error) {
	if bad := mayDecide(c, "put a draft back"); bad != nil {
		return rpc.Restored{}, bad
	}
	v, bad := d.resolve(p.ID, p.Socket)
	if bad != nil {
		return rpc.Restored{}, bad
	}
	t := d.terminalOf(v)
	if t == nil {
		return rpc.Restored{}, notFound("the terminal %s is gone", v.id)
	}
	var res rpc.Restored
	var failed *rpc.Error
	err := t.ask(ctx, func(t *terminal, reply func()) {
		t.restore(func(r rpc.Restored, err *rpc.Error) { res, failed = r, err; reply() })
	})
	if err == nil && failed != nil {
		err = failed
	}
	return res, err
}

func (t *terminal) restore(then func(rpc.Restored, *rpc.Error)) {
	res := rpc.Restored{TerminalID: t.publicID()}
	if t.kept == "" {
		then(res, refused("look at the pane: akk screen "+t.facts.Info.Pane+"; only a draft that an explicit task took the place of is kept, until the daemon ends", "no draft is kept for %s, there is nothing to put back", res.TerminalID))
		return
	}
	if missing := restoring(t.facts, t.desk.now()); len(missing) > 0 && !transient(missing) {
		then(res, refused(missing[0].Cure, "the draft was not put back: %s", missing[0].What))
		return
	}
	end := func(err *rpc.Error) { t.facts.Busy = ""; then(res, err) }
	t.facts.Busy = "a draft that is put back"
	t.audit(func(err error) {
		f := t.facts
		f.Busy = ""
		missing := restoring(f, t.desk.now())
		switch {
		case err != nil:
			end(refused("try again", "the draft was not put back: the screen could not be proven: %v", err))
			return
		case len(missing) > 0:
			end(refused(missing[0].Cure, "the draft was not put back: %s", missing[0].What))
			return
		}
		text := restorable(t.kept, t.facts.Screen.Cols)
		t.input(panes.Write{Paste: text}, func(err error) {
			switch e := inputEvent(err); {
			case e.Refused != "":
				end(refused("try again", "the draft was not put back: %v", err))
			case err != nil:
				t.kept = ""
				end(&rpc.Error{Code: rpc.CodeUncertain, Message: "the draft may have been put back, the terminal's answer was lost", Cure: "look at the pane"})
			default:
				res.Restored, res.Rows = true, len(draftLines(t.kept))
				t.kept = ""
				t.facts.TypedAt = t.desk.now() // it is the human's again
				end(nil)
			}
		})
	})
}
