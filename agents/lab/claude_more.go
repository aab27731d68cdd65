package lab

// The suite for Claude Code, second half: MCP servers, starts, menus, viewers,
// what comes late, errors, interrupts, leaving, other sizes and renderers.

import (
	"strings"
	"syscall"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

func claudeMore() []Scene {
	return append([]Scene{
		{Name: "mcp", Covers: "the trust of a server, a tool's permission, forms", Start: withProjectNotes, Play: claudeMCP},
		{Name: "trust", Covers: "the question about the folder", Start: untrustedFolder, Play: claudeTrust},
		{Name: "key", Covers: "the question about an API key", Start: unknownKey, Play: claudeKey},
		{Name: "onboarding", Covers: "the first start: theme, notes", Start: firstStart, Play: claudeOnboarding},
		{Name: "menus", Covers: "panels: model, status, config, permissions, resume", Play: claudeMenus},
		{Name: "viewers", Covers: "transcript, rewind, export", Play: claudeViewers},
		{Name: "late", Covers: "an approval over a draft, under a panel and under the viewer", Play: claudeLate},
		{Name: "errors", Covers: "a failed answer, refused requests, a cut connection", Play: claudeErrors},
		{Name: "interrupt", Covers: "Escape before and after the first output", Play: claudeInterrupt},
		{Name: "background", Covers: "a command in the background", Play: claudeBackground},
		{Name: "leave", Covers: "exit and a kill, a shell in the same pane", Start: inShell, Play: claudeLeave},
		{Name: "killed", Covers: "a kill while an approval waits", Start: inShell, Play: claudeKilled},
		{Name: "small", Covers: "dialogs in 60 x 20", Start: small, Play: claudeSmall},
		{Name: "fullscreen", Covers: "the fullscreen renderer", Start: fullscreen, Play: claudeFullscreen},
	}, imitationScenes()...)
}

func claudeMCP(s *Stage) {
	use := "Use this MCP server"
	s.see("a new server", has("MCP server", use, "Continue without using"), isStartup())
	s.choose(use)
	s.see("the server is to be used", has("Continue without using").and(onOption(use)), isStartup())
	s.keys("Enter")
	s.settled()
	s.see("ready", s.atIdle().without("Continue without using"), isIdle())
	s.wait(4 * time.Second) // the server's start; a call before it ends as "no such tool"
	tool := DialogTruth{Kind: "mcp", Prompt: clProceed, Server: "notes", Labels: []string{"Yes"}}
	a := "please mcp:write"
	s.say(a)
	s.see("tool's permission", s.prompt("1. Yes", clProceed), approval(tool.at(0)))
	s.typ("y")
	s.see("a letter means nothing", s.prompt("1. Yes", clProceed), approval(tool.at(0)))
	s.keys("Down")
	s.see("second option", s.prompt("2. ", clProceed), approval(tool.at(1)))
	s.keys("Escape")
	s.see("refused", s.rest().without(clProceed), isIdle())
	s.turn(a, agents.LogAborted, "")
	ask := func(word string) string {
		text := word + ", please mcp:" + word
		s.say(text)
		s.see(word+": permission", s.prompt("1. Yes", clProceed), approval(tool.at(0)))
		s.typ("1")
		return text
	}
	form := func(o agents.Owner) Truth {
		return asks(o, DialogTruth{Kind: "elicitation", Server: "notes", Mode: "form", Unread: true})
	}
	b := ask("choice")
	s.see("choice", has("requests your input", "Notebook", "Accept"), form(agents.OwnerQuestionnaire))
	s.keys("Escape")
	s.see("choice cancelled", s.rest().without("requests your input"), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	c := ask("form")
	s.see("form, text", has("requests your input", "Topic", "Accept"), form(agents.OwnerEditor))
	s.typ("weather")
	s.see("form, text typed", has("requests your input", "weather"), form(agents.OwnerEditor))
	s.keys("Down")
	s.see("form, choice", has("requests your input", "weather"), form(agents.OwnerQuestionnaire))
	s.keys("Escape")
	s.see("form cancelled", s.rest().without("requests your input"), isIdle())
	s.turn(c, agents.LogCompleted, DoneAnswer)
	if s.since(2, 1, 300) {
		d := ask("url")
		s.see("link", has("wants to open a URL", "example.invalid"), asks(agents.OwnerQuestionnaire, DialogTruth{Kind: "elicitation", Server: "notes", Mode: "url", URL: "https://example.invalid/signin", Unread: true}))
		s.keys("Escape")
		s.see("link closed", s.rest().without("wants to open a URL"), isIdle())
		s.turn(d, agents.LogCompleted, DoneAnswer)
	}
}

// settled declines what the newer versions offer once, some seconds after the
// first composer.
func (s *Stage) settled() {
	if s.err != nil || !s.since(2, 1, 268) {
		return
	}
	s.offer = true
	defer func() { s.offer = false }()
	s.until(offered, 5*offerWait)
	if scr, err := s.Capture(s.ctx); err == nil && offered(scr) {
		s.see("the offer of auto mode", offered, isStartup())
		if s.err == nil {
			s.err = s.decline(s.ctx)
		}
	}
}

func claudeTrust(s *Stage) {
	s.see("the folder's question", has("trust this folder"), isStartup())
	s.choose("No, exit")
	s.see("no", has("trust this folder").and(onOption("No, exit")), isStartup())
	s.choose("Yes, I trust this folder")
	s.see("yes", has("trust this folder").and(onOption("Yes, I trust this folder")), isStartup())
	s.keys("Enter")
	s.settled()
	s.see("ready", s.atIdle().without("trust this folder"), isIdle())
}

// choose goes down until the option is marked.
func (s *Stage) choose(option string) {
	for range 6 {
		s.wait(stillFor)
		scr, err := s.Capture(s.ctx)
		if s.err != nil || err != nil || onOption(option)(scr) {
			return
		}
		s.keys("Down")
	}
}

func claudeKey(s *Stage) {
	s.see("the key's question", has("Detected a custom API key"), isStartup())
	s.choose("Yes")
	s.see("yes", has("Detected a custom API key").and(onOption("Yes")), isStartup())
	s.keys("Enter")
	s.settled()
	s.see("ready", s.atIdle().without("Detected a custom"), isIdle())
}

func claudeOnboarding(s *Stage) {
	s.see("theme", has("Choose the text style"), isStartup())
	s.keys("Down")
	s.see("another theme", has("Choose the text style"), isStartup())
	s.keys("Enter")
	s.see("security notes", has("Security notes"), isStartup())
	s.keys("Enter")
	s.see("the folder's question", has("trust this folder"), isStartup())
}

func claudeMenus(s *Stage) {
	s.idle("idle")
	panel := func(command string, words ...string) {
		s.command("/" + command)
		s.see(command, has(words...).and(s.atIdle().not()), isMenu())
	}
	closed := func(name string, words ...string) {
		s.keys("Escape")
		s.see(name+" closed", s.atIdle().without(words...), isIdle())
		s.wait(stillFor)
	}
	panel("model", "Select model")
	s.keys("Down")
	s.see("next model", has("Select model").and(s.atIdle().not()), isMenu())
	closed("model", "Select model")
	panel("status", "Version")
	s.keys("Tab")
	s.see("status, next page", s.atIdle().not(), isMenu())
	closed("status", "Version:")
	panel("permissions", "Permissions")
	closed("permissions", "Permissions:")
	panel("resume", "Esc")
	closed("resume", "No conversations")
}

func claudeViewers(s *Stage) {
	s.idle("idle")
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.rest(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	s.keys("C-o")
	s.see("transcript", has("detailed transcript"), isViewer())
	s.typ("typed?")
	s.see("transcript, letters", has("detailed transcript"), isViewer())
	s.keys("C-o")
	s.see("transcript closed", s.atIdle().without("detailed transcript"), isIdle())
	s.twice("Escape")
	s.see("rewind", has("Rewind").and(s.atIdle().not()), isViewer())
	s.keys("Escape")
	s.see("rewind closed", s.atIdle().without("Rewind"), isIdle())
	s.wait(stillFor)
	s.command("/export")
	s.see("export", has("xport").and(s.atIdle().not()), isMenu())
	s.keys("Escape")
	s.see("export closed", s.atIdle(), isIdle())
}

func claudeLate(s *Stage) {
	d := DialogTruth{Kind: "exec", Command: "mkdir -p build && touch build/late.txt", Prompt: clProceed}
	count := 0
	start := func() string {
		count++
		text := strings.Repeat("again ", count-1) + "please " + clLate
		s.say(text)
		s.glimpse("streaming "+strings.Repeat("again ", count-1), s.busy("word004"), isWorking())
		return text
	}
	refuse := func(name, text string, want Truth) {
		s.keys("Escape")
		s.see(name+", refused", s.atIdle().and(s.modelDone()).without(clProceed), want)
		s.turn(text, agents.LogAborted, "")
	}
	s.idle("idle")
	a := start()
	s.typ("half a thought")
	s.glimpse("a draft before it", lineHas("half a thought").and(s.modelBusy()), isDraft().doing(agents.Working))
	s.open()
	s.see("approval over the draft", s.prompt("1. Yes", clProceed), approval(d.at(0)))
	refuse("draft", a, isDraft())
	s.keys("C-u")
	s.see("draft cleared", s.atIdle().without("half a thought"), isIdle())
	b := start()
	s.keys("C-o")
	s.glimpse("viewer before it", has("detailed transcript").and(s.modelBusy()), isViewer().doing(agents.Working))
	s.open()
	s.see("approval under the viewer", has("dialog waiting"), asks(agents.OwnerViewer, DialogTruth{Kind: "exec", Hidden: true}))
	s.keys("C-o")
	s.see("approval after the viewer", s.prompt("1. Yes", clProceed), approval(d.at(0)))
	refuse("viewer", b, isIdle())
}

func claudeErrors(s *Stage) {
	s.idle("idle")
	fails := func(name, word string) {
		text := name + ", please " + word
		s.say(text)
		s.see(name, s.rest("API Error").and(func(sc Screen) bool { return strings.Contains(sc.Text(), text) }), isIdle())
		s.turn(text, agents.LogFailed, "")
		s.wait(stillFor)
		s.command("/clear")
		s.see(name+": cleared", s.atIdle().without("API Error"), isIdle())
	}
	fails("refused", clAPIError)
	fails("failed in the answer", Fail)
}

func claudeInterrupt(s *Stage) {
	s.idle("idle")
	a := "please " + clStream
	s.say(a)
	s.glimpse("streaming", s.busy("word012"), isWorking())
	s.wait(stillFor)
	s.keys("Escape")
	s.see("interrupted after output", s.rest("Interrupted"), isIdle())
	s.turn(a, agents.LogAborted, "")
	b := "please " + clHang
	s.say(b)
	s.wait(2 * time.Second)
	s.glimpse("silent", s.busy(b), isWorking())
	s.keys("Escape")
	s.see("interrupted before output: the text is back", lineHas("❯"+nbsp+b), isDraft())
	s.keys("C-u")
	s.see("cleared", s.atIdle().and(lineHas(b).not()), isIdle())
	c := "and please " + clStream
	s.say(c)
	s.glimpse("streaming again", s.busy("word012", c), isWorking())
	s.wait(stillFor)
	s.keys("C-c")
	s.see("interrupted with Ctrl-C", s.rest().and(func(sc Screen) bool { return strings.Count(sc.Text(), "Interrupted") > 1 }), isIdle())
	s.turn(c, agents.LogAborted, "")
}

func claudeBackground(s *Stage) {
	s.idle("idle")
	a := "please " + clBehind
	s.say(a)
	s.see("approval", s.prompt("1. Yes", clProceed), approval(DialogTruth{Kind: "exec", Command: clBehindCommand}.at(0)))
	s.keys("Enter")
	t := isIdle()
	t.Background = true
	s.see("the command goes on", s.rest(DoneAnswer), t)
	s.turn(a, agents.LogCompleted, DoneAnswer)
}

func claudeLeave(s *Stage) {
	s.idle("idle")
	hello := "please " + Hello
	s.say(hello)
	s.see("a turn", s.rest(HelloAnswer), isIdle())
	s.turn(hello, agents.LogCompleted, HelloAnswer)
	s.command("/exit")
	s.see("left", shellPrompts, isGone())
	s.typ("echo typed into the shell")
	s.see("the shell has the keys", lineHas("echo typed into the shell"), isGone())
}

func claudeKilled(s *Stage) {
	s.idle("idle")
	s.say("please " + Approval)
	s.see("approval", s.prompt("1. Yes", clProceed), approval(DialogTruth{Kind: "exec", Command: clSimple}.at(0)))
	s.kill(syscall.SIGKILL)
	// What a killed program leaves on the screen tells nothing; it must not invite.
	s.see("killed", has("lab$"), Truth{NotReady: true})
	s.wait(2 * readTimeout)
	s.see("some time after", has("lab$"), Truth{NotReady: true})
}

func claudeSmall(s *Stage) {
	s.idle("idle")
	s.typ("a draft that is long enough to wrap in a narrow pane, yes indeed it is")
	s.see("wrapped draft", has("❯"+nbsp+"a draft that is long"), isDraft())
	s.keys("C-c")
	s.wait(2 * time.Second) // until Ctrl-C would not end the program
	s.see("cleared", s.atIdle().without("a draft that is long"), isIdle())
	a := "please " + Approval
	s.say(a)
	s.see("approval", has("1. Yes", "No").and(s.atIdle().not()), approval(DialogTruth{Kind: "exec", Command: clSimple}.at(0)))
	s.typ("1")
	s.see("approved", s.rest(DoneAnswer), isIdle())
	s.turn(a, agents.LogCompleted, DoneAnswer)
	b := "please " + Question
	s.say(b)
	s.see("question", s.prompt("1. Red", cxColour), question(DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}}.at(0)))
	s.typ("2")
	s.see("answered", s.rest().without("Enter to select").and(onOption("1. Red").not()), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	slow := "please " + clStream
	s.say(slow)
	s.glimpse("streaming", s.busy("word008"), isWorking())
	s.open()
	s.see("done", s.rest("word060"), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
}

func claudeFullscreen(s *Stage) {
	s.idle("idle")
	s.typ("hello draft")
	s.see("draft", lineHas("❯"+nbsp+"hello draft"), isDraft())
	s.keys("C-u")
	s.see("cleared", s.atIdle().without("hello draft"), isIdle())
	slow := "please " + clStream
	s.say(slow)
	s.glimpse("streaming", s.busy("word008"), isWorking())
	s.open()
	s.see("done", s.rest("word060"), isIdle())
	s.turn(slow, agents.LogCompleted, model.Words(60))
	a := "please " + Approval
	s.say(a)
	d := DialogTruth{Kind: "exec", Command: clSimple, Prompt: clProceed}
	s.see("approval", s.prompt("1. Yes", clProceed), approval(d.at(0)))
	s.keys("Down")
	s.see("second option", s.prompt("2. Yes", clProceed), approval(d.at(1)))
	s.keys("Escape")
	s.see("refused", s.rest().without(clProceed), isIdle())
	s.turn(a, agents.LogAborted, "")
	b := "please " + Question
	s.say(b)
	s.see("question", s.prompt("1. Red", cxColour), question(DialogTruth{Kind: "question", Prompt: cxColour, Labels: []string{"Red", "Blue"}}.at(0)))
	s.typ("2")
	s.see("answered", s.rest(DoneAnswer).without("Enter to select"), isIdle())
	s.turn(b, agents.LogCompleted, DoneAnswer)
	s.keys("C-o")
	s.see("transcript", has("detailed transcript"), isViewer())
	s.keys("C-o")
	s.see("transcript closed", s.atIdle().without("detailed transcript"), isIdle())
}
