package lab

// Bringing a real agent into a named state. It upholds: a state is reached
// when the screen and, where there is one, the agent's own sign say so.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"akk/agents"
)

// State is something that a session can be brought into.
type State string

// The states.
const (
	AtIdle          State = "idle"          // empty composer, no turn
	AtWorking       State = "working"       // an answer streams
	AtApproval      State = "approval"      // a shell command waits for a human
	AtPatch         State = "patch"         // an edit waits for a human
	AtQuestionnaire State = "questionnaire" // one question is open
	AtDraft         State = "draft"         // text in the composer, not sent
	AtMenu          State = "menu"          // the model picker has the keys
	AtViewer        State = "viewer"        // the transcript covers the screen
	AtCopyMode      State = "copy-mode"     // tmux's own mode has the keys
)

// States are all of them.
func States() []State {
	return []State{AtIdle, AtWorking, AtApproval, AtPatch, AtQuestionnaire, AtDraft, AtMenu, AtViewer, AtCopyMode}
}

// DraftText is what AtDraft leaves in the composer.
const DraftText = "a draft of the human that must stay"

// composerMark is what a composer's first row begins with. Claude Code's has a
// no-break space; with a plain space it is history.
var composerMark = map[agents.Kind]string{agents.Codex: "› ", agents.Claude: "❯\u00a0"}

// atComposer says that the cursor is in the composer's first row.
func (se *Session) atComposer(s Screen) bool {
	mark := composerMark[se.Binary.Agent]
	// tmux cuts nothing but we cut blanks at the end: an empty Codex composer
	// still has its placeholder.
	return strings.HasPrefix(s.Line(s.Y), strings.TrimRight(mark, " "))
}

// offered says that Claude Code's once-shown offer is up. 2.1.332 makes it at
// the start or some seconds later.
func offered(s Screen) bool { return s.Has("Make auto mode your default") }

// offerWait is how long a version that has the offer is watched for it: it came
// up to 2 s after the composer.
const offerWait = 4 * time.Second

// decline answers the offer with no. An Enter alone would switch the permission
// prompts off: its default is yes.
func (se *Session) decline(ctx context.Context) error {
	for _, key := range []string{"Down", "Enter"} {
		if _, err := se.Still(ctx); err != nil {
			return err
		}
		if err := se.Keys(ctx, key); err != nil {
			return err
		}
	}
	se.Offers++
	_, err := se.WaitScreen(ctx, "the end of the offer", func(s Screen) bool { return !offered(s) })
	return err
}

// ready waits for the first composer and declines what is offered before it.
func (se *Session) ready(ctx context.Context) error {
	ok := func(s Screen) bool {
		switch {
		case offered(s):
			return true
		case se.Binary.Agent == agents.Codex:
			// The composer is drawn before the session is ready; then the title
			// and the footer's model and folder come.
			return s.CursorVisible && se.atComposer(s) && strings.Contains(s.Title, "project") && !s.Has("model: loading") &&
				slices.ContainsFunc(s.Lines, func(l string) bool { return strings.HasPrefix(l, "  ") && strings.Contains(l, " · ") })
		default:
			return se.atComposer(s)
		}
	}
	still := stillFor
	if se.Binary.Agent == agents.Claude && atLeast(se.Binary.Version, 2, 1, 268) {
		still = offerWait
	}
	for {
		if _, err := se.Server.WaitPane(ctx, se.Pane, "the composer", startTimeout, func(s Screen) bool { return s.Dead || ok(s) }); err != nil {
			return err
		}
		s, err := se.Server.WaitStill(ctx, se.Pane, still, stepTimeout)
		if err != nil {
			return err
		}
		switch {
		case s.Dead:
			return fmt.Errorf("the agent left at once; the screen was:\n%s", strings.TrimRight(s.Text(), "\n"))
		case offered(s):
			if err := se.decline(ctx); err != nil {
				return err
			}
			still = stillFor // it is made once
		case ok(s):
			return nil
		}
	}
}

// shown says that a state is on the screen.
func (se *Session) shown(st State, s Screen) bool {
	codex := se.Binary.Agent == agents.Codex
	switch st {
	case AtApproval:
		if codex {
			return !s.CursorVisible && s.Has("Would you like to run the following command?", "Press enter to confirm or esc to cancel")
		}
		return s.Has("Do you want to proceed?", "❯ 1. Yes", "Esc to cancel")
	case AtPatch:
		if codex {
			return !s.CursorVisible && s.Has("Would you like to make the following edits?", "Press enter to confirm or esc to cancel")
		}
		return s.Has("Do you want to make this edit", "❯ 1. Yes")
	case AtQuestionnaire:
		if codex {
			return !s.CursorVisible && s.Has("Question 1/1", "1. Red", "enter to submit")
		}
		return s.Has("Which colour should the button have?", "❯ 1. Red", "Enter to select")
	case AtMenu:
		if codex {
			return !s.CursorVisible && s.Has("Select Model")
		}
		return s.Has("Select model") && !se.atComposer(s)
	case AtViewer:
		if codex {
			return s.Has("T R A N S C R I P T")
		}
		return s.Has("Showing detailed transcript")
	case AtWorking:
		return s.Has("word008")
	case AtDraft:
		return s.Has(DraftText) && !s.InMode
	case AtCopyMode:
		return s.InMode
	default:
		return se.atComposer(s) && !s.InMode && (!codex || s.CursorVisible)
	}
}

// Reach brings an idle session into the state and returns its screen, still
// for a while (except AtWorking). ErrUnreachable where this version has no such
// state, ErrTimeout with the screen when it didn't come.
func (se *Session) Reach(ctx context.Context, st State) (Screen, error) {
	if st == AtViewer && se.Binary.Agent == agents.Codex && atLeast(se.Binary.Version, 0, 159) {
		return Screen{}, fmt.Errorf("reach %s with codex %s: %w", st, se.Binary.Version, ErrUnreachable)
	}
	s, err := se.WaitScreen(ctx, "an idle composer before "+string(st), func(s Screen) bool { return offered(s) || se.shown(AtIdle, s) })
	if err == nil && offered(s) {
		err = se.decline(ctx)
	}
	if err != nil {
		return Screen{}, err
	}
	switch st {
	case AtIdle:
	case AtApproval:
		err = se.submit(ctx, "please "+Approval)
	case AtPatch:
		err = se.submit(ctx, "please "+Patch)
	case AtQuestionnaire:
		err = se.submit(ctx, "please "+Question)
	case AtWorking:
		err = se.submit(ctx, "please "+Slow)
	case AtDraft:
		err = se.Type(ctx, DraftText)
	case AtMenu:
		err = se.Type(ctx, "/model")
		if err == nil {
			_, err = se.Still(ctx)
		}
		if err == nil {
			err = se.Keys(ctx, "Enter")
		}
	case AtViewer:
		err = se.Keys(ctx, map[agents.Kind]string{agents.Codex: "C-t", agents.Claude: "C-o"}[se.Binary.Agent])
	case AtCopyMode:
		_, err = se.Server.Tmux(ctx, "copy-mode", "-t", se.Pane)
	default:
		return Screen{}, fmt.Errorf("reach %q: %w", st, ErrUnreachable)
	}
	if err != nil {
		return Screen{}, fmt.Errorf("reach %s: %w", st, err)
	}
	s, err = se.WaitScreen(ctx, string(st), func(s Screen) bool { return se.shown(st, s) })
	if err != nil || st == AtWorking {
		return s, err
	}
	return se.settle(ctx, st)
}

// settle waits until the state's screen holds still. Codex blinks while it
// waits for an answer, so a moving screen that goes on showing the state is
// enough after a while.
func (se *Session) settle(ctx context.Context, st State) (Screen, error) {
	s, err := se.Server.WaitStill(ctx, se.Pane, stillFor, 4*stillFor)
	if err == nil || !se.shown(st, s) {
		return s, err
	}
	return se.Capture(ctx)
}

// Leave brings the session back from the state to an idle composer. What
// waited for a human is refused.
func (se *Session) Leave(ctx context.Context, st State) error {
	var err error
	switch st {
	case AtIdle:
	case AtDraft:
		err = se.Keys(ctx, "C-c") // clears the composer in both; never pressed twice
	case AtCopyMode:
		_, err = se.Server.Tmux(ctx, "send-keys", "-X", "-t", se.Pane, "cancel")
	case AtViewer:
		err = se.Keys(ctx, map[agents.Kind]string{agents.Codex: "q", agents.Claude: "C-o"}[se.Binary.Agent])
	case AtWorking:
		_, err = se.WaitAnswers(ctx, 1)
	default:
		err = se.Keys(ctx, "Escape")
	}
	if err != nil {
		return fmt.Errorf("leave %s: %w", st, err)
	}
	_, err = se.WaitScreen(ctx, "an idle composer after "+string(st), func(s Screen) bool {
		return se.shown(AtIdle, s) && (st == AtIdle || st == AtWorking || !se.shown(st, s))
	})
	if err == nil {
		_, err = se.Still(ctx)
	}
	return err
}
