package lab

// Real agents. Not in the plain suite: `AKK_LIVE=1 go test ./agents/lab -run TestLive`
// or `go test ./agents/lab -run TestLive -live`. They need npm's registry (or a
// filled cache), tmux, and some CPU.

import (
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
)

var (
	liveFlag = flag.Bool("live", os.Getenv("AKK_LIVE") != "", "run real agents (also AKK_LIVE=1)")
	codexV   = flag.String("codex", envOr("AKK_LIVE_CODEX", "0.155.1"), "version of Codex for the live tests")
	claudeV  = flag.String("claude", envOr("AKK_LIVE_CLAUDE", "2.1.267"), "version of Claude Code for the live tests")
)

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

// eachAgent runs f for both agents, one after the other.
func eachAgent(t *testing.T, f func(t *testing.T, ctx context.Context, s *Session)) {
	if !*liveFlag {
		t.Skip("live: set AKK_LIVE=1 or -live")
	}
	for _, a := range []struct {
		kind    agents.Kind
		version string
	}{{agents.Codex, *codexV}, {agents.Claude, *claudeV}} {
		t.Run(string(a.kind)+"-"+a.version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			b, err := Install(ctx, a.kind, a.version, "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := Start(ctx, Options{Binary: b})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(s.Server.Isolation())
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if left := marked(s.Server.mark); len(left) > 0 {
					t.Errorf("processes left behind: %v", left)
				}
			}()
			f(t, ctx, s)
		})
	}
}

// A prompt by paste and Enter reaches the model exactly once, and the log holds
// it once, byte for byte.
func TestLivePrompt(t *testing.T) {
	eachAgent(t, func(t *testing.T, ctx context.Context, s *Session) {
		text := "please lab:hello\nsecond line with wide 日本語 and “quotes” \\n $HOME `x`\n\n  indented, then an end"
		if err := s.Send(ctx, text); err != nil {
			t.Fatal(err)
		}
		l, err := s.WaitAnswers(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range l.UserTexts {
			l.UserTexts[i] = Unwrap(u)
		}
		if n := count(l.UserTexts, text); n != 1 || len(l.UserTexts) != 1 {
			t.Errorf("the log %s holds the text %d times: %q", l.Path, n, l.UserTexts)
		}
		if !slices.Equal(l.Answers, []string{HelloAnswer}) {
			t.Errorf("answers %q", l.Answers)
		}
		if texts, turns := s.Model.Asked(text); texts != 1 || turns != 1 {
			t.Errorf("the model was asked %d times in %d turns", texts, turns)
			for _, r := range s.Model.Requests() {
				t.Logf("%s main=%v step=%d texts=%q", r.Path, r.Main, r.Step, r.UserTexts)
			}
		}
		if _, err := s.WaitScreen(ctx, "the answer", func(s Screen) bool { return s.Has(HelloAnswer) }); err != nil {
			t.Error(err)
		}
	})
}

// Every state can be reached and left, and what is shown then is still.
func TestLiveReach(t *testing.T) {
	eachAgent(t, func(t *testing.T, ctx context.Context, s *Session) {
		for _, st := range States() {
			start := time.Now()
			scr, err := s.Reach(ctx, st)
			if errors.Is(err, ErrUnreachable) {
				t.Log(err)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s after %v", st, time.Since(start).Round(time.Millisecond))
			if testing.Verbose() {
				t.Log(strings.TrimRight(scr.Text(), "\n"))
			}
			if err := s.Leave(ctx, st); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func count(all []string, want string) int {
	n := 0
	for _, s := range all {
		if s == want {
			n++
		}
	}
	return n
}
