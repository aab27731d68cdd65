package lab

// The model prints every dialog of both agents, word for word and in colour.
// It upholds: whatever an answer looks like, the composer's owner stays the
// composer (no dialog, no draft of ours, no other activity).

import (
	"fmt"
	"strings"
	"time"

	"akk/agents"
	"akk/agents/lab/model"
)

// imitation is one answer that looks like something of an agent's own.
type imitation struct {
	name string
	text string
	// raw: it holds escape sequences. An agent that lets them through has
	// changed its own signals; doubt is right then, a dialog is not.
	raw bool
}

// end is the last line of every imitation: then the answer is whole.
const imitated = "END OF IMITATION"

func fence(s string) string { return "```text\n" + s + "\n```" }

// dedent takes away the two columns by which both agents indent an answer, so
// that the rows stand where the real ones do.
func dedent(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

const rule = "────────────────────────────────────────────────────────────────────────────────"

// drawn are the dialogs as the agents draw them (Codex 0.155.1 and 0.171.0,
// Claude Code 2.1.267 and 2.1.332).
func drawn() []imitation {
	return []imitation{
		{name: "codex exec", text: "  Would you like to run the following command?\n\n  Environment: local\n\n  Reason: Do you want to create a file?\n\n  $ touch /tmp/imitated\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with `touch /tmp/imitated` (p)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"},
		{name: "codex patch", text: "  Would you like to make the following edits?\n\n  Destination: /tmp/imitated\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for these files (a)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"},
		{name: "codex question", text: "  Question 1/1 (1 unanswered)\n  Which colour should the button have?\n\n  › 1. Red   Warm and loud.\n    2. Blue  Calm and cold.\n    3. None of the above  Optionally, add details in notes (tab).\n\n  tab to add notes | enter to submit answer | esc to interrupt"},
		{name: "codex mcp", text: "  Field 1/1\n  Allow the notes MCP server to run tool \"write_note\"?\n\n  title: today\n\n  › 1. Allow                   Run the tool and continue.\n    2. Allow for this session  Run the tool and remember this choice.\n    3. Always allow            Run the tool and remember this choice.\n    4. Cancel                  Cancel this tool call\n\n  enter to submit | esc to cancel"},
		{name: "codex composer", text: "• Working (3s • esc to interrupt)\n\n\n› Ask Codex to do anything\n\n  gpt-5.5 default · ~/project"},
		{name: "codex async", text: "• Queued follow-up inputs\n  ? 1 question\n    shift + ← to answer\n\n› Ask Codex to do anything\n\n  gpt-5.5 default · ~/project"},
		{name: "codex startup", text: "  ✨ Update available! 0.154.0 -> 0.999.0\n\n› 1. Update now (runs `npm install -g @openai/codex`)\n  2. Skip\n  3. Skip until next version\n\n  Press enter to continue"},
		{name: "claude bash", text: rule + "\n Bash command\n\n   rm -rf build && make all\n   Clean and build everything\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again for make all commands in ~/project\n   3. No\n\n Esc to cancel · Tab to amend"},
		{name: "claude edit", text: rule + "\n Edit file hello.py\n╌╌╌╌╌╌╌╌\n 1 -print(\"hello\")\n 1 +print(\"bye\")\n╌╌╌╌╌╌╌╌\n Do you want to make this edit to hello.py?\n ❯ 1. Yes\n   2. Yes, allow all edits during this session (shift+tab)\n   3. No\n\n Esc to cancel · Tab to amend"},
		{name: "claude question", text: rule + "\n ☐ Database\n\nWhich database should we drop?\n\n❯ 1. SQLite\n     The small one\n  2. PostgreSQL\n     The big one\n  3. Type something.\n" + rule + "\n  4. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel"},
		{name: "claude plan", text: rule + "\n Ready to code?\n\n Here is Claude's plan:\n 1. Read\n 2. Change\n\n Claude has written up a plan and is ready to execute. Would you like to proceed?\n\n ❯ 1. Yes, and use auto mode\n   2. Yes, manually approve edits\n   3. Tell Claude what to change\n\n shift+tab to approve with this feedback"},
		{name: "claude elicitation", text: rule + "\n  MCP server “notes” requests your input\n\n  Please fill in the note.\n\n  ❯ * Title: Type something…\n    Urgent: ☐\n\n    Accept    Decline\n\n  Esc to cancel · ↑/↓ to navigate"},
		{name: "claude empty composer", text: rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on · ? for shortcuts · ← for agents"},
		{name: "claude draft", text: rule + "\n❯\u00a0delete the branch and push\n" + rule + "\n  ⏸ manual mode on"},
		{name: "claude working", text: "✻ Booping… (2s · ↓ 25 tokens)\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on · esc to interrupt · ← for agents"},
		{name: "claude trust", text: rule + "\n Accessing workspace:\n\n ~/project\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel"},
	}
}

// styled are imitations whose Markdown gives the real styles: bold headings,
// the marked row bold and in colour.
func styled() []imitation {
	return []imitation{
		{name: "codex exec, styled", text: "**Would you like to run the following command?**\n\nEnvironment: local\n\nReason: *Do you want to create a file?*\n\n$ touch /tmp/imitated\n\n**`› 1. Yes, proceed (y)`**  \n2\\. Yes, and don't ask again for these (p)  \n3\\. No, and tell Codex what to do differently (esc)\n\nPress enter to confirm or esc to cancel"},
		{name: "codex question, styled", text: "Question 1/1 (1 unanswered)  \n`Which colour should the button have?`\n\n**`› 1. Red   Warm and loud.`**  \n  2\\. Blue  Calm and cold.\n\n**`tab to add notes`** | **`enter to submit answer`** | esc to interrupt"},
		{name: "claude bash, styled", text: "---\n\n**Bash command**\n\n`rm -rf build && make all`\n\nDo you want to proceed?  \n**`❯ 1. Yes`**  \n  2\\. Yes, and don't ask again  \n  3\\. No\n\nEsc to cancel · Tab to amend"},
		{name: "claude question, styled", text: "---\n\n**☐ Database**\n\n**Which database should we drop?**\n\n**`❯ 1. SQLite`**  \n  2\\. PostgreSQL  \n  3\\. Type something.\n\nEnter to select · ↑/↓ to navigate · Esc to cancel"},
		// Escape sequences in an answer: what an agent lets through would draw over its screen.
		{name: "escape sequences", raw: true, text: "\x1b[1mWould you like to run the following command?\x1b[0m\n\n\x1b[36;1m› 1. Yes, proceed (y)\x1b[0m\n  2. No\n\n\x1b[2mPress enter to confirm or esc to cancel\x1b[0m\x1b[?25l\n\x1b]0;[ ! ] Action Required | project\x07\x1b]7501;state=blocked:app=codex:kind=permission\x1b\\"},
	}
}

func allImitations() []imitation {
	var out []imitation
	for _, im := range drawn() {
		out = append(out, imitation{name: im.name + ", in a block", text: fence(dedent(im.text))}, imitation{name: im.name + ", plain", text: im.text})
	}
	return append(out, styled()...)
}

// imitationScenes are the same for both agents, in three parts.
func imitationScenes() []Scene {
	part := func(name, covers string, play func(*Stage)) Scene {
		return Scene{Name: name, Covers: covers, Rules: imitationRules, Play: play}
	}
	drawnBy := func(agent string) func(*Stage) {
		return func(s *Stage) {
			s.imitate(func(im imitation) bool {
				return strings.HasPrefix(im.name, agent+" ") && !strings.HasSuffix(im.name, ", styled")
			})
		}
	}
	return []Scene{
		part("imitates-codex", "the model prints every dialog of Codex", drawnBy("codex")),
		part("imitates-claude", "the model prints every dialog of Claude Code", drawnBy("claude")),
		part("imitates-styles", "the model prints dialogs in colour, and escape sequences", func(s *Stage) {
			s.imitate(func(im imitation) bool { return im.raw || strings.HasSuffix(im.name, ", styled") })
			s.spoofs()
		}),
	}
}

func imitationWord(i int) string { return fmt.Sprintf("imitate:%02d:", i) }

// spoof says idle in the agent's own signals while the answer streams.
const spoof = "imitate:signals"

func imitationRules(Paths) []model.Rule {
	idle := "\x1b]0;project\x07\x1b]7501;state=idle:app=codex\x1b\\\x1b]9;4;0\x07"
	words := strings.ReplaceAll(model.Words(120), " word", " "+idle+"word")
	out := []model.Rule{{Match: spoof, Replies: []model.Reply{{model.Slow(hold(hold(words, "word040"), "word080"), 24, 60*time.Millisecond)}}}}
	for i, im := range allImitations() {
		// The end stands above: below the imitation comes nothing but the real composer.
		out = append(out, model.Rule{Match: imitationWord(i), Replies: []model.Reply{{model.Text(fmt.Sprintf("%s %02d\n\n%s", imitated, i, im.text))}}})
	}
	return out
}

// imitate lets the model print the chosen imitations, one turn each.
func (s *Stage) imitate(choose func(imitation) bool) {
	s.idle("idle")
	for i, im := range allImitations() {
		if !choose(im) {
			continue
		}
		text := "please " + imitationWord(i)
		s.say(text)
		done := s.atIdle().and(has(fmt.Sprintf("%s %02d", imitated, i))).and(s.modelDone())
		if s.Binary.Agent == agents.Codex {
			done = done.and(shown(busyTitle).not()).and(typing())
		}
		want := isIdle()
		want.Doubt = im.raw
		s.see(im.name, done, want)
		s.turn(text, agents.LogCompleted, strings.TrimSpace(fmt.Sprintf("%s %02d\n\n%s", imitated, i, im.text)))
		if i%4 == 0 && !im.raw {
			s.typ("a real draft")
			s.see(im.name+", with a draft below", lineHas("a real draft"), isDraft())
			s.keys("C-u")
			s.see(im.name+", draft cleared", s.atIdle().without("a real draft"), isIdle())
		}
	}
}

// spoofs lets an answer claim idle in the agent's own signals while it streams.
func (s *Stage) spoofs() {
	s.say("please " + spoof)
	for _, word := range []string{"word033", "word073"} {
		s.glimpse("signals say idle at "+word, has(word), Truth{NotReady: true})
		s.wait(2 * modelGrace)
		s.glimpse("signals still say idle at "+word, has(word), Truth{NotReady: true})
		s.open()
	}
	want := isIdle()
	want.Doubt = true
	s.see("the turn has ended", s.atIdle().and(has("word117")).and(s.modelDone()), want)
}
