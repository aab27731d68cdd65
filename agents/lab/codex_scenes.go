package lab

// The suite for Codex: composer, turns, approvals, questions. The rest is in
// codex_more.go. A step says what is on tmux's screen, then what is true.

import (
	"path/filepath"
	"strings"

	"akk/agents"
	"akk/agents/lab/model"
)

func codexScenes() []Scene {
	list := []Scene{
		{Name: "composer", Covers: "empty, draft, several lines, wide text, pastes, popups, shell mode", Play: codexComposer},
		{Name: "turns", Covers: "a turn, streaming, a draft and a queued message meanwhile, a running command", Play: codexTurns},
		{Name: "exec", Covers: "approval of commands: one line, several, too many, wide; yes, no, by key and by digit", Play: codexExec},
		{Name: "late-exec", Covers: "an approval over a draft, two in one answer", Play: codexLate},
		{Name: "patch", Covers: "approval of edits", Start: readOnly, Play: codexPatch},
		{Name: "question", Covers: "one question, notes", Play: codexQuestion},
		{Name: "questions", Covers: "three questions, the confirm before an incomplete submit", Play: codexQuestions},
	}
	list = append(list, codexMore()...)
	for i := range list {
		list[i].Agent = agents.Codex
		if list[i].Rules == nil {
			list[i].Rules = codexRules
		}
	}
	return list
}

func readOnly(_ Binary, o *Options) { o.Args = append(o.Args, "-s", "read-only") }

// hidden is a panel of Codex: it has the keys, so the cursor is hidden.
func hidden(words ...string) shown {
	return func(s Screen) bool { return !s.CursorVisible && s.Has(words...) }
}

// typing is a text field or a composer of Codex: the cursor is visible.
func typing(words ...string) shown {
	return func(s Screen) bool { return s.CursorVisible && s.Has(words...) }
}

const (
	cxConfirm  = "Press enter to confirm or esc to cancel"
	cxColour   = "Which colour should the button have?"
	cxSize     = "Which size should the button have?"
	cxName     = "What should the button be called?"
	cxNone     = "None of the above"
	cxHeading  = "Would you like to run the following command?"
	cxEdits    = "Would you like to make the following edits?"
	cxYes      = "Yes, proceed"
	cxNo       = "No, and tell Codex what to do differently"
	workStatus = "esc to interrupt"
)

// busyTitle says by the title that a turn runs.
func busyTitle(s Screen) bool {
	return strings.IndexFunc(s.Title, func(r rune) bool { return r >= 0x2800 && r <= 0x28ff }) == 0
}

func codexComposer(s *Stage) {
	s.idle("idle")
	s.typ("hello draft")
	s.see("draft", typing("› hello draft"), isDraft())
	s.keys("C-c")
	s.idle("cleared")
	s.typ("line one")
	s.wait(keyGap)
	s.keys("C-j")
	s.typ("line two")
	s.see("draft of two lines", typing("› line one", "  line two"), isDraft())
	s.keys("C-c")
	s.idle("two lines cleared")
	s.typ("日本語の下書き 🚀 draft")
	s.see("draft of wide characters", typing("› 日本語"), isDraft())
	s.keys("C-c")
	s.idle("wide draft cleared")
	s.typ(strings.Repeat("word ", 60))
	s.see("draft over several rows", typing("› word word"), isDraft())
	s.keys("C-c")
	s.idle("long draft cleared")
	s.paste("pasted one\npasted two\npasted three")
	s.see("small paste", typing("› pasted one", "  pasted three"), isDraft())
	s.keys("C-c")
	s.idle("small paste cleared")
	s.paste(strings.Repeat("x", 1001))
	s.see("collapsed paste", typing("[Pasted Content 1001 chars]"), isDraft().with("collapsed"))
	s.typ(" and more")
	s.see("collapsed paste with text", typing("chars] and more"), isDraft().with("collapsed"))
	s.keys("C-c")
	s.idle("collapsed paste cleared")
	s.typ("/")
	s.see("command popup", typing("› /", "/model"), isDraft().with(s.popup()...))
	s.keys("BSpace")
	s.idle("command popup closed")
	s.typ("?")
	s.see("shortcuts", s.atIdle().and(typing()).and(has("for commands").or(has("Keyboard shortcuts"))), isIdle().with(s.popup()...))
	s.keys(map[bool]string{true: "Escape", false: "BSpace"}[s.since(0, 159)])
	s.see("shortcuts closed", s.atIdle().and(typing()).without("for commands", "Keyboard shortcuts"), isIdle())
	s.typ("@no")
	s.see("file popup", typing("› @no", "notes.txt"), isDraft().with(s.popup()...))
	s.keys("Escape")
	s.see("file popup closed", typing("› @no").without("notes.txt"), isDraft())
	s.keys("C-c")
	s.idle("file popup cleared")
	s.typ("!ls")
	s.see("shell mode", typing("! ls"), isDraft().with("shell_mode"))
	s.keys("C-c")
	s.idle("shell mode left")
}

// popup is the flag of a list below the composer; the newer versions draw it above.
func (s *Stage) popup() []string {
	if s.since(0, 159) {
		return nil
	}
	return []string{"popup"}
}

func codexTurns(s *Stage) {
	hello := "please " + Hello
	s.idle("idle")
	s.say(hello)
	s.see("first turn done", s.atIdle().and(has(HelloAnswer)), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	slow := "please " + cxStream
	s.say(slow)
	s.glimpse("working", shown(busyTitle).and(has(slow)), isWorking())
	s.glimpse("streaming", shown(busyTitle).and(has("word008")), isWorking())
	queued := "queued, then " + Hello
	s.typ(queued)
	s.glimpse("draft while working", shown(busyTitle).and(typing("› queued, then")), isDraft().doing(agents.Working))
	s.wait(keyGap)
	s.keys("Tab")
	s.glimpse("queued message", shown(busyTitle).and(has("Queued follow-up", "↳ queued, then")), isWorking().with("queued"))
	s.open()
	s.see("both turns done", s.atIdle().and(has("word060")).and(shown(busyTitle).not()).and(below(queued, HelloAnswer)), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
	s.turn(queued, agents.LogCompleted, HelloAnswer)
	silent := "please " + cxHang
	s.say(silent)
	s.glimpse("working, nothing said", shown(busyTitle).and(has(workStatus)), isWorking())
	s.open()
	s.see("silent turn done", s.atIdle().and(below(silent, DoneAnswer)), isIdle())
	s.turn(silent, agents.LogCompleted, DoneAnswer)
	s.say("please " + cxTool)
	s.glimpse("a command runs", shown(busyTitle).and(has("until [ -e go ]").or(has("terminal running"))), isWorking())
	s.wait(heldFor)
	s.release()
	s.see("the command has ended", s.atIdle().and(shown(busyTitle).not()).and(below(cxTool, DoneAnswer)), isIdle())
	s.turn("please "+cxTool, agents.LogCompleted, DoneAnswer)
}

func codexExec(s *Stage) {
	made := filepath.Join(s.Paths.Outside, "x1")
	simple := DialogTruth{Kind: "exec", Command: "touch " + made, Prompt: cxHeading}
	s.idle("idle")
	ask := func(n, word string) string {
		s.say(n + " please " + word)
		return n + " please " + word
	}
	one := ask("first", Approval)
	s.see("approval", hidden(cxHeading, cxConfirm, "› 1. "+cxYes), approval(simple.at(0)))
	s.keys("Down")
	s.see("second option", hidden(cxHeading, cxConfirm, "› 2. Yes"), approval(simple.at(1)))
	s.typ("x")
	s.see("a letter without meaning", hidden(cxHeading, cxConfirm, "› 2. Yes"), approval(simple.at(1)))
	s.keys("Up", "Enter")
	s.see("approved with Enter", s.atIdle().and(has(DoneAnswer)), isIdle())
	s.turn(one, agents.LogCompleted, DoneAnswer)
	s.that("the approved command ran", there(made), "its file is not there")
	two := ask("second", Approval)
	s.see("second approval", hidden(cxHeading, cxConfirm, "› 1. "+cxYes), approval(simple.at(0)))
	s.keys("Escape")
	s.see("refused with Escape", s.atIdle().and(has("Conversation interrupted")), isIdle())
	s.turn(two, agents.LogAborted, "")
	three := ask("third", Approval)
	s.see("third approval", hidden(cxHeading, cxConfirm, "› 1. "+cxYes), approval(simple.at(0)))
	s.typ("1")
	s.see("approved with a digit", s.atIdle().and(shown(busyTitle).not()).and(has("third please")), isIdle())
	s.turn(three, agents.LogCompleted, DoneAnswer)
	long := ask("fourth", cxLong)
	s.see("command of several lines", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: cxLongCommand, Prompt: cxHeading}.at(0)))
	s.keys("Escape")
	s.see("several lines refused", s.atIdle().and(shown(busyTitle).not()).without(cxConfirm), isIdle())
	s.turn(long, agents.LogAborted, "")
	huge := ask("fifth", cxHuge)
	s.see("command that is cut", hidden(cxHeading, cxConfirm, "view all"), approval(DialogTruth{Kind: "exec", Command: cxHugeCommand(), Prompt: cxHeading, Clipped: true}.at(0)))
	s.keys("C-a")
	full := asks(agents.OwnerViewer, DialogTruth{Kind: "exec", Hidden: true})
	s.see("its whole text", hidden("echo step 0 ").without(cxConfirm), full)
	s.keys("q")
	s.see("back from the whole text", hidden(cxHeading, cxConfirm, "view all"), approval(DialogTruth{Kind: "exec", Command: cxHugeCommand(), Clipped: true}.at(0)))
	s.keys("Escape")
	s.see("cut command refused", s.atIdle().and(shown(busyTitle).not()).without(cxConfirm), isIdle())
	s.turn(huge, agents.LogAborted, "")
	wide := ask("sixth", cxWide)
	s.see("command of wide characters", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: cxWideText}.at(0)))
	s.keys("Escape")
	s.see("wide command refused", s.atIdle().and(shown(busyTitle).not()).without(cxConfirm), isIdle())
	s.turn(wide, agents.LogAborted, "")
}

func codexLate(s *Stage) {
	s.idle("idle")
	late := "please " + cxLate
	s.say(late)
	s.glimpse("before the approval", shown(busyTitle), isWorking())
	s.typ("half typed dra")
	s.glimpse("a draft before it", shown(busyTitle).and(typing("› half typed dra")), isDraft().doing(agents.Working))
	d := DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "late"), Prompt: cxHeading}
	s.open()
	s.see("approval over the draft", hidden(cxHeading, cxConfirm), approval(d.at(0)))
	s.keys("Escape")
	s.see("refused, the draft is back", typing("› half typed dra"), isDraft())
	s.turn(late, agents.LogAborted, "")
	s.keys("C-c")
	s.idle("draft cleared")
	two := "please " + cxTwo
	s.say(two)
	pair := func(name string) {
		s.see(name, hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Prompt: cxHeading}.at(0)))
		s.typ("y")
		s.wait(2 * stillFor)
	}
	pair("first of two")
	pair("second of two")
	s.see("both approved", s.atIdle().and(has(DoneAnswer)), isIdle())
	s.turn(two, agents.LogCompleted, DoneAnswer)
	s.that("both ran", there(s.Paths.Outside, "a1") && there(s.Paths.Outside, "a2"), "a file is missing")
}

func codexPatch(s *Stage) {
	s.idle("idle")
	d := DialogTruth{Kind: "patch", Prompt: cxEdits}
	yes := "please " + cxEdit
	s.say(yes)
	s.see("edits", hidden(cxEdits, cxConfirm, "› 1. "+cxYes), approval(d.at(0)))
	s.keys("Down")
	s.see("second option", hidden(cxEdits, cxConfirm, "› 2. Yes"), approval(d.at(1)))
	s.keys("Up")
	s.typ("y")
	s.see("approved", s.atIdle().and(has(DoneAnswer)), isIdle())
	s.turn(yes, agents.LogCompleted, DoneAnswer)
	s.that("the file was added", there(s.Paths.Project, "added.txt"), "it is not there")
	no := "no, please " + Patch
	s.say(no)
	s.see("edits outside", hidden(cxEdits, cxConfirm), approval(d.at(0)))
	s.keys("Escape")
	s.see("refused", s.atIdle().and(shown(busyTitle).not()).without(cxConfirm), isIdle())
	s.turn(no, agents.LogAborted, "")
	s.that("nothing was made", !there(s.Paths.Outside, "made.txt"), "it is there")
	exec := "in a read-only sandbox, please " + Approval
	s.say(exec)
	s.see("command", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "x1")}.at(0)))
	s.typ("3")
	s.see("refused with a digit", s.atIdle().and(shown(busyTitle).not()).without(cxConfirm), isIdle())
	s.turn(exec, agents.LogAborted, "")
}

func codexQuestion(s *Stage) {
	d := DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}, Step: agents.DialogStep{Index: 1, Total: 1}}
	s.idle("idle")
	a := "please " + Question
	s.say(a)
	s.see("question", hidden("Question 1/1", "› 1. Red"), question(d.at(0)))
	s.keys("Down")
	s.see("second option", hidden("Question 1/1", "› 2. Blue"), question(d.at(1)))
	s.keys("Tab")
	s.see("notes", typing("Question 1/1", "Add notes"), editor(d.at(1)))
	s.typ("navy please")
	s.see("notes typed", typing("Question 1/1", "navy please"), editor(d.at(1)))
	s.keys("Enter")
	s.see("answered with notes", s.atIdle().and(has(DoneAnswer)), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	s.answered("the answer came to the model", "Blue", "navy please")
	b := "again, please " + Question
	s.say(b)
	s.see("second question", hidden("Question 1/1", "› 1. Red"), question(d.at(0)))
	s.typ("1")
	s.see("answered with a digit", s.atIdle().and(shown(busyTitle).not()).without("to submit answer"), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	s.answered("the digit's answer came to the model", "Red")
	c := "and again, please " + Question
	s.say(c)
	s.see("third question", hidden("Question 1/1", "› 1. Red"), question(d.at(0)))
	s.keys("Escape")
	s.see("refused", s.atIdle().and(has("Conversation interrupted")), isIdle())
	s.turn(c, agents.LogAborted, "")
}

func codexQuestions(s *Stage) {
	q := func(i int, prompt string, labels ...string) DialogTruth {
		return DialogTruth{Kind: "multi_question", Prompt: prompt, Labels: labels, Step: agents.DialogStep{Index: i, Total: 3}}
	}
	q1, q2, q3 := q(1, cxColour, "Red", "Blue"), q(2, cxSize, "Small", "Medium", "Large"), q(3, cxName, "Save", "Store")
	s.idle("idle")
	a := "please " + Three
	s.say(a)
	s.see("first of three", hidden("Question 1/3", "› 1. Red"), question(q1.at(0)))
	s.keys("Right")
	s.see("second of three", hidden("Question 2/3"), question(q2.at(0)))
	s.keys("Right")
	s.see("third of three", hidden("Question 3/3"), question(q3.at(0)))
	s.keys("Enter")
	s.see("confirm", hidden("Submit with unanswered questions?"), question(DialogTruth{Kind: "confirm", Labels: []string{"Proceed", "Go back"}}.at(0)))
	s.keys("Down")
	s.see("confirm, go back", hidden("Submit with unanswered questions?", "› 2. Go back"), question(DialogTruth{Kind: "confirm", Labels: []string{"Proceed", "Go back"}}.at(1)))
	s.keys("Enter")
	s.see("back at the first", hidden("Question 1/3"), question(q1.at(0)))
	s.typ("2")
	s.see("first answered", hidden("Question 2/3"), question(q2.at(0)))
	s.typ("3")
	s.see("second answered", hidden("Question 3/3"), question(q3.at(0)))
	s.typ("2")
	s.see("all answered", s.atIdle().and(has(DoneAnswer)), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	s.answered("the answers came to the model", "Blue", "Large", "Store")
}
