package lab

// The suite for Claude Code: composer, turns, approvals, questions. The rest
// is in claude_more.go. A step says what is on tmux's screen, then what is true.

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

func claudeScenes() []Scene {
	list := []Scene{
		{Name: "composer", Covers: "empty, draft, several lines, wide text, popups, stash, history search", Play: claudeComposer},
		{Name: "paste", Covers: "pastes, whole and collapsed", Play: claudePaste},
		{Name: "shell", Covers: "the shell mode", Play: claudeShell},
		{Name: "vim", Covers: "the vim mode", Start: vimMode, Play: claudeVim},
		{Name: "turns", Covers: "a turn, thinking, streaming, a draft and a queued message meanwhile, a running command", Play: claudeTurns},
		{Name: "bash", Covers: "approval of commands: one line, several, two at once; yes, no, amended, a viewer over it", Play: claudeBash},
		{Name: "files", Covers: "approval of an edit, a new file, reading outside, a fetch", Start: withSecret, Play: claudeFiles},
		{Name: "plan", Covers: "approval of a plan", Start: planMode, Play: claudePlan},
		{Name: "question", Covers: "one question, own words, chat, several answers", Play: claudeQuestion},
		{Name: "questions", Covers: "three questions and the review", Play: claudeQuestions},
	}
	list = append(list, claudeMore()...)
	for i := range list {
		list[i].Agent = agents.Claude
		if list[i].Rules == nil {
			list[i].Rules = claudeRules
		}
	}
	return list
}

const (
	nbsp      = "\u00a0"
	clProceed = "Do you want to proceed?"
	clRefuse  = "Esc to cancel"
)

// lineHas says that the cursor's row contains text.
func lineHas(text string) shown {
	return func(s Screen) bool { return strings.Contains(s.Line(s.Y), text) }
}

// onOption says that the marked option begins with text.
func onOption(text string) shown {
	return func(s Screen) bool {
		for _, l := range s.Lines {
			t, ok := strings.CutPrefix(strings.TrimSpace(l), "❯ ")
			if ok && (strings.HasPrefix(t, text) || strings.HasPrefix(number().ReplaceAllString(t, ""), text)) {
				return true
			}
		}
		return false
	}
}

// below says that text stands under the last row with words.
func below(words, text string) shown {
	return func(s Screen) bool {
		_, after, ok := strings.Cut(s.Text(), words)
		return ok && strings.Contains(after[strings.LastIndex(after, words)+1:], text)
	}
}

// prompt is a dialog of Claude Code: no composer, the words, the marked option.
func (s *Stage) prompt(option string, words ...string) shown {
	return has(words...).and(onOption(option)).and(s.atIdle().not())
}

// rest is an empty composer after the model has ended and the words are there.
func (s *Stage) rest(words ...string) shown {
	return s.atIdle().and(has(words...)).and(s.modelDone())
}

// busy is a composer while the model answers.
func (s *Stage) busy(words ...string) shown {
	return s.atIdle().and(has(words...)).and(s.modelBusy())
}

func claudeComposer(s *Stage) {
	s.idle("idle")
	s.typ("hello draft")
	s.see("draft", lineHas("❯"+nbsp+"hello draft"), isDraft())
	s.keys("C-u")
	s.see("cleared", s.atIdle().without("hello draft"), isIdle())
	s.typ("line one")
	s.wait(keyGap)
	s.keys("C-j")
	s.typ("line two")
	s.see("draft of two lines", lineHas("line two"), isDraft())
	s.keys("C-c")
	s.wait(2 * time.Second) // until Ctrl-C would not end the program
	s.see("two lines cleared", s.atIdle().without("line two"), isIdle())
	s.typ("宽字符 draft 🎉")
	s.see("draft of wide characters", lineHas("❯"+nbsp+"宽字符"), isDraft())
	s.keys("C-u")
	s.see("wide draft cleared", s.atIdle().without("宽字符"), isIdle())
	s.typ(strings.Repeat("long ", 60))
	s.see("draft over several rows", has("❯"+nbsp+"long long"), isDraft())
	s.keys("C-c")
	s.wait(2 * time.Second)
	s.see("long draft cleared", s.atIdle().without("long long"), isIdle())
	s.typ("/")
	s.see("command popup", lineHas("❯"+nbsp+"/"), isDraft().with("popup"))
	s.keys("BSpace")
	s.see("command popup closed", s.atIdle().and(lineHas("❯"+nbsp+"/").not()), isIdle())
	s.typ("@")
	s.see("file popup", lineHas("❯"+nbsp+"@").and(has("notes.txt")), isDraft().with("popup"))
	s.keys("Escape", "C-u")
	s.see("file popup closed", s.atIdle().without("@", "notes.txt"), isIdle())
	s.typ("?")
	s.see("shortcuts", s.atIdle().and(has("for commands")), isIdle().with("popup"))
	s.keys("Escape")
	s.see("shortcuts closed", s.atIdle().without("for commands"), isIdle())
	s.typ("stash me")
	s.wait(keyGap)
	s.keys("C-s")
	s.see("stashed", s.atIdle().and(has("stashed")).without("stash me"), isIdle().with("stashed"))
	s.keys("C-s")
	s.see("unstashed", lineHas("❯"+nbsp+"stash me"), isDraft())
	s.keys("C-u")
	s.see("stash cleared", s.atIdle().without("stash me"), isIdle())
	s.keys("C-r")
	s.see("history search", has("search prompts:"), is(agents.Idle, agents.OwnerOther, agents.ComposerEmpty))
	s.keys("Escape")
	s.see("history search left", s.atIdle().without("search prompts:"), isIdle())
}

func claudePaste(s *Stage) {
	s.idle("idle")
	clear := func(name string) {
		s.keys("C-c")
		s.wait(2 * time.Second) // until Ctrl-C would not end the program
		s.see(name+" cleared", s.atIdle().without("[Pasted", "line 1"), isIdle())
	}
	s.paste("line 1\nline 2\nline 3")
	s.see("three lines", lineHas("line 3"), isDraft())
	clear("three lines")
	s.paste("line 1\nline 2\nline 3\nline 4")
	s.see("four lines collapse", lineHas("[Pasted text #"), isDraft().with("collapsed"))
	clear("four lines")
	s.paste(strings.Repeat("x", 799) + " ")
	s.see("800 characters", has("xxxxxxxx").without("[Pasted"), isDraft())
	clear("800 characters")
	s.paste(strings.Repeat("x", 801))
	s.see("801 characters collapse", lineHas("[Pasted text #"), isDraft().with("collapsed"))
	s.typ(" and text")
	s.see("collapsed with text", lineHas(" and text"), isDraft().with("collapsed"))
	clear("801 characters")
}

func claudeShell(s *Stage) {
	s.idle("idle")
	s.typ("!")
	s.see("shell mode, empty", lineHas("!"+nbsp), isIdle().with("shell_mode"))
	s.typ("ls")
	s.see("shell mode, draft", lineHas("!"+nbsp+"ls"), isDraft().with("shell_mode"))
	s.keys("C-u")
	s.see("shell mode, cleared", lineHas("!"+nbsp).and(lineHas("ls").not()), isIdle().with("shell_mode"))
	s.keys("BSpace")
	s.see("shell mode left", s.atIdle(), isIdle())
}

func claudeVim(s *Stage) {
	s.see("insert mode", s.atIdle().and(has("-- INSERT --")), isIdle())
	s.typ("hello draft")
	s.see("insert mode, draft", lineHas("hello draft").and(has("-- INSERT --")), isDraft())
	s.keys("Escape")
	s.see("normal mode, draft", lineHas("hello draft").without("-- INSERT --"), isDraft())
	s.typ("dd")
	s.see("normal mode, cleared", s.atIdle().without("hello draft", "-- INSERT --"), Truth{Activity: agents.Idle, Owner: agents.OwnerComposer, Composer: agents.ComposerEmpty})
	s.typ("i")
	s.see("insert mode again", s.atIdle().and(has("-- INSERT --")), isIdle())
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn in vim mode", s.rest(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
}

func claudeTurns(s *Stage) {
	hello := "please " + Hello
	s.idle("idle")
	s.say(hello)
	s.see("first turn done", s.rest(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	think := "please " + Think
	s.say(think)
	s.see("a thoughtful turn done", s.rest(DoneAnswer), isIdle())
	s.turn(think, agents.LogCompleted, DoneAnswer)
	slow := "please " + clStream
	s.say(slow)
	s.glimpse("streaming", s.busy("word008"), isWorking())
	queued := "queued, then " + Hello
	s.typ(queued)
	s.glimpse("draft while working", lineHas("❯"+nbsp+"queued, then").and(s.modelBusy()), isDraft().doing(agents.Working))
	s.wait(keyGap)
	s.keys("Enter")
	s.glimpse("queued message", s.busy("queued, then", "word0").and(lineHas("queued, then").not()), isWorking().with("queued"))
	s.open()
	s.see("both turns done", s.rest(HelloAnswer, "word060", queued), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
	s.turn(queued, agents.LogCompleted, HelloAnswer)
	silent := "please " + clHang
	s.say(silent)
	s.wait(2 * time.Second)
	s.glimpse("working, nothing said", s.busy(silent), isWorking())
	s.open()
	s.see("silent turn done", s.rest(silent).and(below(silent, DoneAnswer)), isIdle())
	s.turn(silent, agents.LogCompleted, DoneAnswer)
	tool := "please " + clTool
	s.say(tool)
	s.see("approval", s.prompt("1. Yes", clProceed), approval(DialogTruth{Kind: "exec", Command: clWaits}.at(0)))
	s.keys("Enter")
	s.wait(time.Second)
	s.glimpse("a command runs", s.atIdle(), isWorking())
	s.release()
	s.see("the command has ended", s.rest().and(below(tool, DoneAnswer)), isIdle())
	s.turn(tool, agents.LogCompleted, DoneAnswer)
}

func claudeBash(s *Stage) {
	simple := DialogTruth{Kind: "exec", Command: clSimple, Prompt: clProceed}
	count := 0
	ask := func(word string) string {
		count++
		text := strings.Repeat("again ", count-1) + "please " + word
		s.say(text)
		return text
	}
	s.idle("idle")
	one := ask(Approval)
	s.see("approval", s.prompt("1. Yes", clProceed, clRefuse), approval(simple.at(0)))
	s.keys("Down")
	s.see("second option", s.prompt("2. Yes", clProceed), approval(simple.at(1)))
	s.typ("x")
	s.see("a letter without meaning", s.prompt("2. Yes", clProceed), approval(simple.at(1)))
	s.keys("Up")
	s.see("first option", s.prompt("1. Yes", clProceed), approval(simple.at(0)))
	s.keys("Tab")
	s.see("amended", has(clProceed, "and tell Claude what to do next"), editor(simple.at(0)))
	s.keys("Escape")
	s.see("refused", s.rest().without(clProceed), isIdle())
	s.turn(one, agents.LogAborted, "")
	two := ask(Approval)
	s.see("second approval", s.prompt("1. Yes", clProceed), approval(simple.at(0)))
	s.keys("C-o")
	s.see("a viewer over it", has("detailed transcript"), asks(agents.OwnerViewer, DialogTruth{Kind: "exec", Hidden: true}))
	s.keys("C-o")
	s.see("the viewer closed", s.prompt("1. Yes", clProceed), approval(simple.at(0)))
	s.typ("1")
	s.see("approved with a digit", s.rest(DoneAnswer), isIdle())
	s.turn(two, agents.LogCompleted, DoneAnswer)
	s.that("the approved command ran", there(s.Paths.Project, "build/out.txt"), "its file is not there")
	long := ask(clLong)
	s.see("command of several lines", s.prompt("1. Yes", clProceed), approval(DialogTruth{Kind: "exec", Command: clLongCommand, Prompt: clProceed}.at(0)))
	s.keys("Escape")
	s.see("several lines refused", s.rest().without(clProceed), isIdle())
	s.turn(long, agents.LogAborted, "")
	pair := ask(clTwo)
	s.see("first of two", s.prompt("1. Yes", clProceed, "touch build/one.txt"), approval(DialogTruth{Kind: "exec", Command: "touch build/one.txt"}.at(0)))
	s.keys("Enter")
	s.see("second of two", s.prompt("1. Yes", clProceed, "Touch two"), approval(DialogTruth{Kind: "exec", Command: "touch build/two.txt"}.at(0)))
	s.keys("Enter")
	s.see("both approved", s.rest().without(clProceed).and(func(Screen) bool { return there(s.Paths.Project, "build/two.txt") }), isIdle())
	s.turn(pair, agents.LogCompleted, DoneAnswer)
}

func claudeFiles(s *Stage) {
	s.idle("idle")
	path := func(f ...string) string { return filepath.Join(f...) }
	step := func(name, word, words string, d DialogTruth) {
		text := name + ", please " + word
		s.say(text)
		s.see(name, s.prompt("1. Yes", words), approval(d.at(0)))
		s.keys("Down")
		s.see(name+", second option", s.prompt("2. Yes", words), approval(d.at(1)))
		s.keys("Escape")
		s.see(name+", refused", s.rest().without(words), isIdle())
		s.turn(text, agents.LogAborted, "")
	}
	step("edit", Patch, "Do you want to make this edit", DialogTruth{Kind: "edit", Path: path(s.Paths.Project, "hello.py")})
	step("new file", clWrite, "Do you want to create new.md?", DialogTruth{Kind: "write", Path: path(s.Paths.Project, "new.md")})
	step("read", clRead, clProceed, DialogTruth{Kind: "read"})
	step("fetch", clFetch, "Do you want to allow Claude to fetch this content?", DialogTruth{Kind: "fetch", URL: clURL})
	text := "and now, please " + clWrite
	s.say(text)
	s.see("new file again", s.prompt("1. Yes", "Do you want to create new.md?"), approval(DialogTruth{Kind: "write", Path: path(s.Paths.Project, "new.md")}.at(0)))
	s.typ("1")
	s.see("written", s.rest(DoneAnswer), isIdle())
	s.turn(text, agents.LogCompleted, DoneAnswer)
	s.that("the file was written", there(s.Paths.Project, "new.md"), "it is not there")
}

func claudePlan(s *Stage) {
	d := DialogTruth{Kind: "plan", Prompt: "Would you like to proceed?"}
	s.idle("idle")
	text := "please " + clPlan
	s.say(text)
	s.see("plan", s.prompt("1. Yes", "Would you like to proceed?"), approval(d.at(0)))
	s.keys("Down")
	s.see("second option", s.prompt("2. Yes", "Would you like to proceed?"), approval(d.at(1)))
	s.keys("Escape")
	s.see("refused", s.rest().without("Would you like to proceed?"), isIdle())
	s.turn(text, agents.LogAborted, "")
}

// number stands before an option in most dialogs.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d\. `) })

var ownWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`❯ \d\. my own words`) })

func claudeQuestion(s *Stage) {
	d := DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}}
	s.idle("idle")
	a := "please " + Question
	s.say(a)
	s.see("question", s.prompt("1. Red", cxColour), question(d.at(0)))
	s.keys("Down")
	s.see("second option", s.prompt("2. Blue", cxColour), question(d.at(1)))
	s.keys("Down")
	s.see("own words, empty", s.prompt("3. Type something", cxColour), editor(d.at(2)))
	s.typ("my own words")
	s.see("own words", func(sc Screen) bool { return ownWords().MatchString(sc.Text()) }, editor(d.at(2)))
	s.keys("Enter")
	s.see("answered with own words", s.rest(DoneAnswer), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	s.answered("the words came to the model", "my own words")
	b := "again, please " + Question
	s.say(b)
	s.see("second question", s.prompt("1. Red", cxColour), question(d.at(0)))
	s.typ("2")
	s.see("answered with a digit", s.rest().without("Enter to select"), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	s.answered("the digit's answer came to the model", "Blue")
	c := "and again, please " + Question
	s.say(c)
	s.see("third question", s.prompt("1. Red", cxColour), question(d.at(0)))
	s.keys("Escape")
	s.see("refused", s.rest().without("Enter to select"), isIdle())
	s.turn(c, agents.LogAborted, "")
	m := DialogTruth{Kind: "question", Prompt: "Which features do you want?", Labels: []string{"Logging", "Metrics", "Tracing"}, Multi: true}
	e := "please " + clMulti
	s.say(e)
	s.see("several answers", s.prompt("1. ", "Which features do you want?"), question(m.at(0)))
	s.typ("3")
	s.see("one is chosen", s.prompt("", "Which features do you want?"), question(m))
	s.keys("Escape")
	s.see("several refused", s.rest().without("Enter to select"), isIdle())
}

func claudeQuestions(s *Stage) {
	q := func(i int, prompt string, labels ...string) DialogTruth {
		return DialogTruth{Kind: "multi_question", Prompt: prompt, Labels: labels, Step: agents.DialogStep{Index: i, Total: 4}}
	}
	q1, q2, q3 := q(1, cxColour, "Red", "Blue"), q(2, cxSize, "Small", "Medium", "Large"), q(3, cxName, "Save", "Store")
	review := DialogTruth{Kind: "confirm", Labels: []string{"Submit answers", "Cancel"}, Step: agents.DialogStep{Index: 4, Total: 4}}
	s.idle("idle")
	a := "please " + Three
	s.say(a)
	s.see("first of three", s.prompt("1. Red", cxColour), question(q1.at(0)))
	s.keys("Enter")
	s.see("second of three", s.prompt("1. Small", cxSize), question(q2.at(0)))
	s.typ("2")
	s.see("third of three", s.prompt("1. Save", cxName), question(q3.at(0)))
	s.keys("Left")
	s.see("back at the second", has("2. Medium", cxSize, "Enter to select"), question(q2))
	s.keys("Right")
	s.see("third again", s.prompt("1. Save", cxName), question(q3.at(0)))
	s.keys("Down", "Enter")
	s.see("review", s.prompt("1. Submit answers", "Review your answers"), question(review.at(0)))
	s.keys("Down")
	s.see("review, cancel", s.prompt("2. Cancel", "Review your answers"), question(review.at(1)))
	s.keys("Up")
	s.see("review, submit", s.prompt("1. Submit answers", "Review your answers"), question(review.at(0)))
	s.keys("Enter")
	s.see("answered", s.rest(DoneAnswer), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	s.answered("the answers came to the model", "Red", "Medium", "Store")
}
