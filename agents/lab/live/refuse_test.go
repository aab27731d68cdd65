package live

// A send that must not happen: it is refused with a reason, and the
// application in the pane reads zero bytes.

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/product"
)

// focusIn is what tmux sends for the focus (DECSET 1004).
const focusIn = "\x1b[I"

const neverTyped = "please lab:hello, this must never be typed"

// refused runs `akk send` and checks that it is refused with a reason that
// fits.
func (p *rig) refused(pane string, reason *regexp.Regexp) {
	p.T.Helper()
	out, errs, code := p.Run("send", pane, neverTyped)
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	if code != 1 || out != "" {
		p.T.Errorf("akk send: exit %d, stdout %q, stderr %q", code, out, errs)
		return
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "akk: ") || !strings.Contains(lines[1], "cure: ") {
		p.T.Errorf("the refusal has no reason and cure on two lines: %q", errs)
	}
	if !reason.MatchString(lines[0]) {
		p.T.Errorf("the reason does not fit %v: %q", reason, errs)
	}
	p.T.Logf("%s", strings.TrimSpace(errs))
}

// reasons are words of which a refusal must have some. A draft and a menu that
// a human just opened by typing may be told as the human's hands being there.
var reasons = map[string]*regexp.Regexp{
	"approval":      regexp.MustCompile(`approval`),
	"patch":         regexp.MustCompile(`approval|edit`),
	"questionnaire": regexp.MustCompile(`question`),
	"draft":         regexp.MustCompile(`draft|not empty|human is typing`),
	"menu":          regexp.MustCompile(`menu|human is typing`),
	"viewer":        regexp.MustCompile(`viewer|transcript`),
	"copy-mode":     regexp.MustCompile(`copy mode`),
	"stranger":      regexp.MustCompile(`no agent`),
}

// moving are the parts of a picture that change by themselves.
var moving = regexp.MustCompile(`[•◦⠀-⣿✻✶✽✢✳·*]|\d+[ms]\b|\[ [!.] \]`)

func picture(s lab.Screen) string { return moving.ReplaceAllString(s.Text(), "?") }

// Real agents: while a dialog, a draft, a menu, a viewer or copy mode is up,
// nothing reaches the agent: the picture stays, the draft stays, the model is
// not asked, the log has no new text. Then, idle again, a send is accepted.
func TestLiveRefused(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			srv, p := newLab(t)
			s, err := srv.Start(t.Context(), lab.Options{Binary: binary(t, k)})
			if err != nil {
				t.Fatal(err)
			}
			p.WaitRow(s.Pane, "idle", product.Idle)
			for _, st := range []lab.State{lab.AtApproval, lab.AtPatch, lab.AtQuestionnaire, lab.AtDraft, lab.AtMenu, lab.AtViewer, lab.AtCopyMode} {
				t.Run(string(st), func(t *testing.T) {
					p := p.with(t)
					// Also ends the hold that the last state's typing left.
					p.WaitRow(s.Pane, "ready", product.Ready)
					before, err := s.Reach(t.Context(), st)
					if errors.Is(err, lab.ErrUnreachable) {
						t.Skip(err)
					}
					if err != nil {
						t.Fatal(err)
					}
					// The log lags behind the dialog; then the human's turn is
					// known and the human's hands are off.
					if st == lab.AtApproval || st == lab.AtPatch || st == lab.AtQuestionnaire {
						if err := s.WaitLog(t.Context(), "the tool call", func(l lab.Log) bool { return len(l.Pending) > 0 && len(l.UserTexts) > 0 }); err != nil {
							t.Fatal(err)
						}
						p.WaitRow(s.Pane, "blocked and free of hands", func(r product.Row) bool { return r.Reading.Activity == string(agents.Blocked) && !r.Held() })
					}
					asked := len(s.Model.Requests())
					log, _ := s.ReadLog()
					p.refused(s.Pane, reasons[string(st)])
					// A key that went out would show within this time.
					time.Sleep(time.Second)
					after, err := s.Capture(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if picture(after) != picture(before) || after.X != before.X || after.Y != before.Y || after.InMode != before.InMode {
						t.Errorf("the picture changed from\n%s\nto\n%s", before.Text(), after.Text())
					}
					if n := len(s.Model.Requests()); n != asked {
						t.Errorf("the model was asked %d times more", n-asked)
					}
					if l, _ := s.ReadLog(); !slices.Equal(l.UserTexts, log.UserTexts) || len(l.Pending) != len(log.Pending) {
						t.Errorf("the log changed from %+v to %+v", log, l)
					}
					if err := s.Leave(t.Context(), st); err != nil {
						t.Fatal(err)
					}
				})
			}
			p.WaitRow(s.Pane, "ready again", product.Ready)
			if out, errs, code := p.Run("send", s.Pane, "please "+lab.Hello); code != 0 {
				t.Errorf("idle again, and still akk send: exit %d, %q %q", code, out, errs)
			}
		})
	}
}

// The byte logger draws what a real version drew and looks like that agent's
// process; after a refusal it has read nothing at all.
func TestLiveRefusedBytes(t *testing.T) {
	srv, p := newLab(t)
	prog, err := lab.BuildByteLogger(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake := map[agents.Kind]lab.Binary{}
	for k, v := range map[agents.Kind]string{agents.Codex: "0.155.1", agents.Claude: "2.1.267"} {
		if fake[k], err = lab.Impersonate(prog, t.TempDir(), k, v); err != nil {
			t.Fatal(err)
		}
	}
	p.Run("list") // starts the daemon, which attaches
	demo := "../../../testdata/demo/"
	for _, x := range []struct {
		name   string
		kind   agents.Kind
		cast   string
		marker string
		owner  agents.Owner // what akk must have seen, "" = anything
		before []string     // tmux command that puts the pane into the state
	}{
		{"approval", agents.Codex, demo + "codex-approval.cast.gz", "1 approval", agents.OwnerApproval, nil},
		{"questionnaire", agents.Codex, "testdata/codex-question.cast.gz", "1 question", agents.OwnerQuestionnaire, nil},
		{"draft", agents.Codex, "testdata/codex-idle-draft.cast.gz", "3 draft", agents.OwnerComposer, nil},
		{"menu", agents.Codex, "testdata/codex-menu.cast.gz", "1 menu-model", agents.OwnerMenu, nil},
		{"copy-mode", agents.Codex, "testdata/codex-idle-draft.cast.gz", "2 idle", "", []string{"copy-mode", "-t", "PANE"}},
		{"approval", agents.Claude, "testdata/claude-approval.cast.gz", "0 bash-permission", agents.OwnerApproval, nil},
		{"questionnaire", agents.Claude, demo + "claude-questions.cast.gz", "0 ask1", agents.OwnerQuestionnaire, nil},
		{"draft", agents.Claude, "testdata/claude-idle-draft.cast.gz", "1 draft", agents.OwnerComposer, nil},
		{"menu", agents.Claude, "testdata/claude-menu.cast.gz", "8 model-picker", agents.OwnerMenu, nil},
		{"viewer", agents.Claude, "testdata/claude-viewer.cast.gz", "1 transcript-viewer", agents.OwnerViewer, nil},
		{"copy-mode", agents.Claude, "testdata/claude-idle-draft.cast.gz", "0 empty", "", []string{"copy-mode", "-t", "PANE"}},
	} {
		t.Run(string(x.kind)+" "+x.name, func(t *testing.T) {
			p := p.with(t)
			f, err := lab.CastFrame(x.cast, x.marker)
			if err != nil {
				t.Fatal(err)
			}
			l, err := srv.ByteLogger(t.Context(), fake[x.kind].Native, f.Output, f.Cols, f.Rows)
			if err != nil {
				t.Fatal(err)
			}
			// The pane stays until the end: tmux 3.3a may crash when a session
			// is destroyed under a control client.
			if x.before != nil {
				cmd := slices.Clone(x.before)
				cmd[slices.Index(cmd, "PANE")] = l.Pane
				if _, err := srv.Tmux(t.Context(), cmd...); err != nil {
					t.Fatal(err)
				}
			}
			p.WaitRow(l.Pane, "read as "+string(x.owner), func(r product.Row) bool { return x.owner == "" || r.Reading.Owner == string(x.owner) })
			// A control client's attach makes tmux 3.3a report the focus to a
			// program that asked for it; akk's send must add nothing.
			before, err := l.Bytes()
			if err != nil || len(strings.ReplaceAll(string(before), focusIn, "")) > 0 {
				t.Fatalf("before the send the application read %q (%v)", before, err)
			}
			p.refused(l.Pane, reasons[x.name])
			time.Sleep(300 * time.Millisecond)
			if got, err := l.Bytes(); err != nil || string(got) != string(before) {
				t.Errorf("the application read %q, before the send %q (%v)", got, before, err)
			}
		})
	}
	t.Run("witness", func(t *testing.T) { witness(t, srv, p, prog) })
}

// witness: the byte logger does see what akk types, when nothing stands against
// it; else zero bytes would prove nothing. And a program that is no agent gets
// none, whatever it draws.
func witness(t *testing.T, srv *lab.Server, p *rig, prog string) {
	p = p.with(t)
	f, err := lab.CastFrame("testdata/codex-idle-draft.cast.gz", "2 idle")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := srv.ByteLogger(t.Context(), prog, f.Output, f.Cols, f.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := p.Run("screen", stranger.Pane); code != 0 { // mirrored from now on
		t.Fatalf("akk screen: %s", errs)
	}
	p.refused(stranger.Pane, reasons["stranger"])
	if got, err := stranger.Bytes(); err != nil || len(strings.ReplaceAll(string(got), focusIn, "")) > 0 {
		t.Errorf("a program that is no agent read %q (%v)", got, err)
	}
	b, err := lab.Impersonate(prog, t.TempDir(), agents.Codex, "0.155.1")
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.ByteLogger(t.Context(), b.Native, f.Output, f.Cols, f.Rows)
	if err != nil {
		t.Fatal(err)
	}
	p.WaitRow(l.Pane, "idle", product.Idle)
	out, errs, code := p.Run("send", l.Pane, neverTyped)
	if code == 0 {
		t.Errorf("a program that only draws accepted a task: %s", out)
	}
	got, err := l.Bytes()
	if err != nil || !strings.Contains(string(got), neverTyped) {
		t.Errorf("the byte logger did not see the text: %q (%v), akk said %q", got, err, errs)
	}
	if strings.Count(string(got), neverTyped) > 1 {
		t.Errorf("the text was typed more than once: %q", got)
	}
	t.Logf("typed into an idle picture: %q, akk said %q", got, strings.TrimSpace(errs))
}

// The recordings that the byte logger draws are there.
func TestPictures(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.cast.gz")
	if len(files) == 0 {
		t.Fatal("no recordings in testdata")
	}
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || st.Size() > 20_000 {
			t.Errorf("%s: %v, %v", f, st, err)
		}
	}
}
