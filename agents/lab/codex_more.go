package lab

// The suite for Codex, second half: questions that don't stop the turn, MCP
// servers, starts, menus, viewers, errors, interrupts, leaving, small and
// painted panes, imitations.

import (
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

func codexMore() []Scene {
	return append([]Scene{
		{Name: "async", Covers: "a question that does not stop the turn: collapsed, open, answered", Since: "0.154.0", Start: withAsync, Play: codexAsync},
		{Name: "mcp", Covers: "an MCP tool's approval, forms, a text field, a confirm, a link", Since: "0.155.1", Start: withNotes, Play: codexMCP},
		{Name: "trust", Covers: "the question about the folder", Before: "0.159.0", Start: untrusted, Play: codexTrust},
		{Name: "login", Covers: "the choice of a login", Start: loggedOut, Play: codexLogin},
		{Name: "update", Covers: "the offer of an update", Start: withUpdate, Play: codexUpdate},
		{Name: "news", Covers: "news about a model at the start", Since: "0.171.0", Start: withNews, Play: codexNews},
		{Name: "menus", Covers: "pickers: model and effort, permissions, theme, resume", Play: codexMenus},
		{Name: "viewers", Covers: "transcript, walking back, diff", Play: codexViewers},
		{Name: "overlays", Covers: "menus and popups while a turn runs", Play: codexOverlays},
		{Name: "errors", Covers: "a failed answer, a refused request, a cut connection, the usage limit", Play: codexErrors},
		{Name: "interrupt", Covers: "Escape and Ctrl-C while the model is silent and while it streams", Play: codexInterrupt},
		{Name: "leave", Covers: "quit and a kill, a shell in the same pane", Start: inShell, Play: codexLeave},
		{Name: "small", Covers: "dialogs in 60 x 20", Start: small, Play: codexSmall},
		{Name: "painted", Covers: "a terminal whose background is known", Start: painted, Play: codexPainted},
		{Name: "daemon", Covers: "the shared daemon that the newer versions start by themselves", Since: "0.171.0", Start: ownDaemon, Play: codexDaemon},
	}, imitationScenes()...)
}

// notBusy is an idle composer whose title says that no turn runs.
func (s *Stage) notBusy(words ...string) shown {
	return s.atIdle().and(shown(busyTitle).not()).and(has(words...)).and(func(sc Screen) bool {
		return sc.CursorVisible && !strings.Contains(sc.Title, "Action Required")
	})
}

func codexAsync(s *Stage) {
	d := DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}, Async: true}
	folded := DialogTruth{Kind: "question", Async: true, Hidden: true}
	over := func(t Truth, d DialogTruth) Truth { t.Dialog = &d; return t }
	s.idle("idle")
	text := "please " + cxAsync
	s.say(text)
	s.glimpse("collapsed", typing("? 1 question", "to answer", "word0"), over(isWorking().with("queued"), folded))
	s.wait(stillFor)
	s.keys("S-Left")
	open := over(is(agents.Working, agents.OwnerQuestionnaire, agents.ComposerHidden), d.at(0))
	s.glimpse("opened", hidden(cxColour, "› 1. Red", "skip"), open)
	s.wait(stillFor)
	s.keys("Escape")
	s.glimpse("collapsed again", typing("? 1 question", "to answer"), over(isWorking().with("queued"), folded))
	s.wait(stillFor)
	s.keys("S-Left")
	s.glimpse("opened again", hidden(cxColour, "› 1. Red", "skip"), open)
	s.wait(stillFor)
	s.typ("2")
	s.wait(stillFor)
	s.open()
	s.see("answered, the turns have ended", s.notBusy("Blue").without("Queued", "to answer"), isIdle()) // the newer versions cut the stream
}

func codexMCP(s *Stage) {
	one := agents.DialogStep{Index: 1, Total: 1}
	tool := DialogTruth{Kind: "mcp", Prompt: `Allow the notes MCP server to run tool "write_note"?`, Server: "notes", Tool: "write_note",
		Labels: []string{"Allow", "Allow for this session", "Always allow", "Cancel"}, Step: one}
	s.wait(3 * stillFor) // the server's start
	s.idle("idle")
	a := "please mcp:write"
	s.say(a)
	s.see("tool's approval", hidden("Allow the notes MCP server", "› 1. Allow", "enter to submit"), approval(tool.at(0)))
	s.typ("y")
	s.see("a letter means nothing", hidden("Allow the notes MCP server", "› 1. Allow"), approval(tool.at(0)))
	s.keys("Down")
	s.see("second option", hidden("Allow the notes MCP server", "› 2. Allow"), approval(tool.at(1)))
	s.keys("Up")
	s.see("first option", hidden("Allow the notes MCP server", "› 1. Allow"), approval(tool.at(0)))
	s.keys("Enter")
	s.see("allowed", s.notBusy(DoneAnswer), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	s.answered("the tool ran", "note written: today")
	long := "please mcp:long"
	s.say(long)
	cut := tool
	cut.Clipped = true
	s.see("arguments that are cut", hidden("Allow the notes MCP server", "› 1. Allow"), approval(cut.at(0)))
	s.typ("4")
	s.see("cancelled by digit", s.notBusy(DoneAnswer).without("Allow the notes"), isIdle())
	s.turn(long, agents.LogCompleted, DoneAnswer)

	form := func(i int, o agents.Owner, labels ...string) Truth {
		return asks(o, DialogTruth{Kind: "elicitation", Prompt: "Please fill in the note.", Mode: "form", Labels: labels,
			Step: agents.DialogStep{Index: i, Total: 3}, Unread: o == agents.OwnerEditor})
	}
	b := "please mcp:form"
	s.say(b)
	s.see("form, choice", hidden("Field 1/3", "Colour", "1. red"), form(1, agents.OwnerQuestionnaire, "red", "green", "blue"))
	s.keys("Down", "Enter")
	s.see("form, yes or no", hidden("Field 2/3", "Pinned"), form(2, agents.OwnerQuestionnaire, "True", "False"))
	s.typ("1")
	s.see("form, text", typing("Field 3/3", "Topic"), form(3, agents.OwnerEditor))
	s.typ("weather")
	s.see("form, text typed", typing("Field 3/3", "weather"), form(3, agents.OwnerEditor))
	s.keys("Enter")
	s.see("form sent", s.notBusy(DoneAnswer).without("Field 3/3"), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	s.answered("the form came to the server", "green", "weather", "accept")

	c := "please mcp:text"
	s.say(c)
	field := editor(DialogTruth{Kind: "elicitation", Prompt: "What is the notebook called?", Mode: "form", Step: one, Unread: true})
	s.see("text field", typing("What is the notebook called?", "Type your answer"), field)
	s.keys("Escape")
	s.see("text field cancelled", s.notBusy().without("What is the notebook called?"), isIdle())
	s.turn(c, agents.LogCompleted, DoneAnswer)

	e := "please mcp:confirm"
	s.say(e)
	msg := DialogTruth{Kind: "elicitation", Prompt: "Shall the notebook be archived now?", Mode: "message", Labels: []string{"Allow", "Deny", "Cancel"}, Step: one}
	s.see("message", hidden("Shall the notebook be archived now?", "› 1. Allow"), approval(msg.at(0)))
	s.keys("Down")
	s.see("message, deny", hidden("Shall the notebook be archived now?", "› 2. Deny"), approval(msg.at(1)))
	s.keys("Enter")
	s.see("message denied", s.notBusy().without("Shall the notebook"), isIdle())
	s.turn(e, agents.LogCompleted, DoneAnswer)
	s.answered("the denial came to the server", "decline")

	f := "please mcp:url"
	s.say(f)
	link := DialogTruth{Kind: "elicitation", Prompt: "Please sign in to the notebook.", Mode: "url", URL: "https://example.invalid/signin", Labels: []string{"Open link", "Back"}}
	s.see("link", hidden("Please sign in to the notebook.", "1. Open link"), question(link.at(0)))
	s.keys("Escape")
	s.see("link closed", s.notBusy().without("1. Open link"), isIdle())
	s.turn(f, agents.LogCompleted, DoneAnswer)

	g := "please mcp:late"
	s.say(g)
	s.glimpse("before the approval", busyTitle, isWorking())
	s.typ("half typed dra")
	s.glimpse("a draft before it", shown(busyTitle).and(typing("› half typed dra")), isDraft().doing(agents.Working))
	s.open()
	s.see("approval over the draft", hidden("Allow the notes MCP server", "› 1. Allow"), approval(tool.at(0)))
	s.keys("Escape")
	s.see("the draft is back", typing("› half typed dra").and(shown(busyTitle).not()), isDraft())
	s.turn(g, agents.LogCompleted, DoneAnswer)
	s.keys("C-c")
	s.idle("draft cleared")
}

func codexTrust(s *Stage) {
	s.see("the folder's question", hidden("Do you trust", "Press enter to continue"), isStartup())
	s.keys("Down")
	s.see("second answer", hidden("Do you trust", "› 2."), isStartup())
	s.keys("Up", "Enter")
	s.see("ready", s.notBusy(" · "), isIdle())
}

func codexLogin(s *Stage) {
	s.see("login", hidden("Sign in with ChatGPT"), isStartup())
	s.keys("Down")
	s.see("second login", hidden("Sign in with ChatGPT"), isStartup())
}

func codexUpdate(s *Stage) {
	s.see("update", hidden("Update available", "99.0.0"), isStartup())
	s.keys("Down")
	s.see("not now", hidden("Update available", "› 2."), isStartup())
	s.keys("Enter")
	s.see("ready", s.notBusy(" · ").without("Skip until next version"), isIdle())
}

func codexNews(s *Stage) {
	s.see("news", hidden("Try new model"), isStartup())
	s.keys("Down")
	s.see("the model of before", hidden("Use existing model"), isStartup())
	s.keys("Enter")
	s.see("ready", s.notBusy(" · "), isIdle())
}

// command types a command and sends it.
func (s *Stage) command(name string) {
	s.typ(name)
	s.wait(2 * keyGap)
	s.keys("Enter")
}

func codexMenus(s *Stage) {
	s.idle("idle")
	s.command("/model")
	s.see("model", hidden("Select Model"), isMenu())
	s.keys("Down")
	s.see("next model", hidden("Select Model"), isMenu())
	s.keys("Enter")
	s.see("effort", hidden("Select Reasoning"), isMenu())
	s.keys("Escape")
	s.wait(stillFor)
	s.keys("Escape")
	s.see("models closed", s.notBusy().without("Select Model", "Select Reasoning"), isIdle())
	s.command("/permissions")
	s.see("permissions", hidden("Permissions"), isMenu())
	s.keys("Escape")
	s.see("permissions closed", s.notBusy(), isIdle())
	s.command("/theme")
	s.see("theme", hidden("Theme"), isMenu())
	s.keys("Escape")
	s.see("theme closed", s.notBusy(), isIdle())
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.notBusy(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	s.command("/resume")
	s.see("resume", hidden("Resume a previous session"), isMenu())
	s.keys("Escape")
	s.see("resume closed", s.notBusy(), isIdle())
	s.command("/status")
	s.see("status is only printed", s.notBusy("Session:"), isIdle())
}

func codexViewers(s *Stage) {
	s.idle("idle")
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.notBusy(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	if !s.since(0, 159) {
		s.keys("C-t")
		s.see("transcript", hidden("T R A N S C R I P T"), isViewer())
		s.keys("q")
		s.see("transcript closed", s.notBusy(), isIdle())
	}
	s.keys("Escape")
	s.see("one Escape", s.notBusy(), isIdle())
	if s.since(0, 159) {
		return // two give the last message back as a draft, no viewer
	}
	s.wait(2 * time.Second) // until the first one has been forgotten
	s.keys("Escape", "Escape")
	s.see("walking back", hidden(), isViewer())
	s.keys("q")
	s.see("walking back closed", s.atIdle().and(typing()), isIdle())
}

func codexOverlays(s *Stage) {
	s.idle("idle")
	text := "please " + cxStream
	s.say(text)
	s.glimpse("streaming", shown(busyTitle).and(has("word012")), isWorking())
	s.typ("/")
	s.glimpse("command popup", shown(busyTitle).and(typing("› /", "/model")), isDraft().doing(agents.Working).with(s.popup()...))
	s.wait(keyGap)
	s.keys("BSpace")
	s.glimpse("popup closed", shown(busyTitle).and(s.atIdle()).and(lineHas("› /").not()), isWorking())
	s.command("/model")
	s.glimpse("model picker", hidden("Select Model"), isMenu().doing(agents.Working))
	s.wait(stillFor)
	s.keys("Escape")
	s.glimpse("picker closed", shown(busyTitle).and(s.atIdle()).without("Select Model"), isWorking())
	s.open()
	s.see("the turn has ended", s.notBusy("word060"), isIdle())
	s.turn(text, agents.LogCompleted, model.Words(60))
}

func codexErrors(s *Stage) {
	s.idle("idle")
	fails := func(name, word string) {
		text := name + ", please " + word
		s.say(text)
		s.see(name, s.notBusy("■"), isIdle())
		s.turn(text, agents.LogFailed, "")
	}
	fails("failed in the answer", Fail)
	s.command("/clear")
	s.see("cleared", s.notBusy().without("■"), isIdle())
	fails("refused", HTTP500)
	s.command("/clear")
	s.see("cleared again", s.notBusy().without("■"), isIdle())
	fails("cut", Dropped)
	s.command("/clear")
	s.see("cleared once more", s.notBusy().without("■"), isIdle())
	limit := "usage limit, please " + cxLimit
	s.say(limit)
	t := isIdle()
	t.Limited = true
	s.see("usage limit", s.notBusy("usage limit", "■"), t)
	s.turn(limit, agents.LogFailed, "")
}

func codexInterrupt(s *Stage) {
	s.idle("idle")
	stop := func(name, word, key string, when shown) {
		text := name + ", please " + word
		s.say(text)
		s.glimpse(name+": working", shown(busyTitle).and(when), isWorking())
		s.wait(2 * stillFor)
		s.keys(key)
		s.see(name+": interrupted", s.notBusy("Conversation interrupted"), isIdle())
		s.turn(text, agents.LogAborted, "")
		s.command("/clear")
		s.see(name+": cleared", s.notBusy().without("interrupted"), isIdle())
	}
	stop("Escape in silence", cxHang, "Escape", has(workStatus))
	stop("Ctrl-C in silence", cxHang, "C-c", has(workStatus))
	stop("Ctrl-C while streaming", cxStream, "C-c", has("word012"))
	if s.since(0, 154) {
		stop("Escape while streaming", cxStream, "Escape", has("word012"))
	}
}

// kill ends the agent's process, as a crash would.
func (s *Stage) kill(sig syscall.Signal) {
	if s.err == nil && s.w.proc != nil {
		_ = syscall.Kill(s.w.proc.PID, sig) // gone already is as good
	}
}

// inThePane says that a shell of the lab prompts.
func shellPrompts(s Screen) bool { return strings.HasPrefix(s.Line(s.Y), "lab$") }

func codexLeave(s *Stage) {
	s.idle("idle")
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.notBusy(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	s.say("please " + Approval)
	s.see("approval", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "x1")}.at(0)))
	s.kill(syscall.SIGKILL)
	// What a killed program leaves on the screen tells nothing; it must not invite.
	s.see("killed", func(sc Screen) bool { return strings.Contains(sc.Text(), "lab$") }, Truth{NotReady: true})
	s.wait(2 * readTimeout)
	s.see("some time after", has("lab$"), Truth{NotReady: true})
}

func codexSmall(s *Stage) {
	s.idle("idle")
	s.typ("a draft that is long enough to wrap in a narrow pane, yes indeed it is")
	s.see("wrapped draft", typing("› a draft that is long"), isDraft())
	s.keys("C-c")
	s.idle("cleared")
	a := "please " + Approval
	s.say(a)
	s.see("approval", hidden(cxConfirm), approval(DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "x1")}.at(0)))
	s.keys("Escape")
	s.see("refused", s.notBusy(), isIdle())
	s.turn(a, agents.LogAborted, "")
	b := "please " + cxHuge
	s.say(b)
	s.see("approval that is cut", hidden(cxConfirm), approval(DialogTruth{Kind: "exec", Command: cxHugeCommand(), Clipped: true}))
	s.keys("Escape")
	s.see("cut approval refused", s.notBusy(), isIdle())
	s.turn(b, agents.LogAborted, "")
	c := "please " + Question
	s.say(c)
	s.see("question", hidden("Question 1/1", "1. Red"), question(DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}}.at(0)))
	s.typ("2")
	s.see("answered", s.notBusy(DoneAnswer), isIdle())
	s.turn(c, agents.LogCompleted, DoneAnswer)
}

func codexPainted(s *Stage) {
	s.idle("idle")
	s.typ("draft text")
	s.see("draft", typing("› draft text"), isDraft())
	s.keys("C-c")
	s.idle("cleared")
	slow := "please " + cxStream
	s.say(slow)
	s.glimpse("streaming", shown(busyTitle).and(has("word008")), isWorking())
	s.open()
	s.see("done", s.notBusy("word060"), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
	a := "please " + Approval
	s.say(a)
	s.see("approval", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "x1")}.at(0)))
	s.keys("Escape")
	s.see("refused", s.notBusy("Conversation interrupted"), isIdle())
	s.turn(a, agents.LogAborted, "")
	q := "please " + Question
	s.say(q)
	s.see("question", hidden("Question 1/1", "› 1. Red"), question(DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}}.at(0)))
	s.keys("Escape")
	s.see("question refused", s.notBusy(), isIdle())
}

func codexDaemon(s *Stage) {
	s.idle("idle")
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.notBusy(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	a := "please " + Approval
	s.say(a)
	s.see("approval", hidden(cxHeading, cxConfirm), approval(DialogTruth{Kind: "exec", Command: "touch " + filepath.Join(s.Paths.Outside, "x1")}.at(0)))
	s.typ("y")
	s.see("approved", s.notBusy(DoneAnswer), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	slow := "please " + cxStream
	s.say(slow)
	s.glimpse("streaming", shown(busyTitle).and(has("word008")), isWorking())
	s.open()
	s.see("done", s.notBusy("word060"), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
}
