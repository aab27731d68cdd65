package live

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/model"
	"akk/agents/lab/product"
)

// A real agent as Host hands a task to another real agent and is called back
// into its own pane: by Claude Code to Codex, and the other way round.

const (
	// long bounds each step: two agents of 300 MB on a machine that may be busy.
	long = 4 * time.Minute

	goWord   = "Please hand the riddle to the other agent."
	riddle   = "Solve the riddle of the lab."
	solution = "The solution is XYZZY-42."
	lastWord = "The other agent has solved it."
	callback = "[Agent Knock Knock callback]"
)

func TestLiveHandoffClaudeToCodex(t *testing.T) { handoff(t, agents.Claude, agents.Codex) }
func TestLiveHandoffCodexToClaude(t *testing.T) { handoff(t, agents.Codex, agents.Claude) }

func handoff(t *testing.T, host, worker agents.Kind) {
	p := newLab(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*long)
	defer cancel()
	w, err := p.Srv.Start(ctx, lab.Options{Binary: install(t, worker), Rules: []model.Rule{{Match: riddle, Replies: []model.Reply{{model.Text(solution)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	terminal := p.ready(w.Pane)
	h, err := p.Srv.Start(ctx, p.host(install(t, host), terminal))
	if err != nil {
		t.Fatal(err)
	}
	p.ready(h.Pane)
	if err := h.Send(ctx, goWord); err != nil {
		p.screens(h, w)
		t.Fatal(err)
	}

	// The Host's model got the callback as a text of its own, asked for the
	// status, and read the solution in both.
	wait, stop := context.WithTimeout(ctx, long)
	defer stop()
	var text string
	err = h.Model.Wait(wait, func(rs []model.Request) bool {
		for _, r := range rs {
			if r.Main && r.Rule == callback && r.Step > 0 && strings.Contains(strings.Join(r.Results, "\n"), solution) {
				text = strings.TrimSpace(lab.Unwrap(r.Newest))
				return true
			}
		}
		return false
	})
	if err != nil {
		p.screens(h, w)
		for _, r := range h.Model.Requests() {
			t.Logf("asked: main %v rule %q step %d newest %.300q results %.1500q", r.Main, r.Rule, r.Step, r.Newest, r.Results)
		}
		t.Fatalf("the host never read the result: %v", err)
	}
	for _, want := range []string{solution, "Message type: done", "Turn: turn-"} {
		if !strings.Contains(text, want) {
			t.Errorf("the callback lacks %q: %s", want, text)
		}
	}
	if _, turns := h.Model.Asked(text); turns != 1 {
		t.Errorf("the callback began %d turns", turns)
	}
	if _, turns := w.Model.Asked(riddle); turns != 1 {
		t.Errorf("the task began %d turns", turns)
	}
	if err := h.WaitLog(ctx, "the host's last word", func(l lab.Log) bool {
		return slices.ContainsFunc(l.Answers, func(a string) bool { return strings.Contains(a, lastWord) })
	}); err != nil {
		t.Error(err)
	}
	end := time.Now().Add(time.Minute)
	for {
		out, errs, code := p.Run("callbacks", "list", "--all", "--json")
		if strings.Contains(out, `"status": "accepted"`) && strings.Count(out, `"delivery_id"`) == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("akk callbacks: exit %d, %s%s", code, out, errs)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// host starts that agent with akk as its MCP server, and a model that hands the
// riddle to the terminal, and asks for the status when it is called back.
func (p *rig) host(b lab.Binary, terminal string) lab.Options {
	name, namespace := "mcp__akk__agent_knock_knock_", ""
	if b.Agent == agents.Codex {
		name, namespace = "agent_knock_knock_", "mcp__akk"
	}
	call := func(tool string, in map[string]any) model.Step {
		s := model.Tool(name+tool, in)
		s.Namespace = namespace
		return s
	}
	status := call("status", map[string]any{"turn_id": model.Found})
	status.Find = `turn-[0-9A-Za-z-]+`
	o := lab.Options{Binary: b, Rules: []model.Rule{
		{Match: callback, Replies: []model.Reply{{status}, {model.Text(lastWord)}}},
		{Match: goWord, Replies: []model.Reply{{call("send", map[string]any{"terminal_id": terminal, "request": riddle})}, {model.Text("It is sent; I shall be called back.")}}},
	}}
	log := filepath.Join(p.Dir, "bridge.log")
	args := []string{"-S", p.Srv.Socket, "host-bridge", "--debug", "--host-version", b.Version}
	if b.Agent == agents.Claude {
		args = append(args, "--host", "claude-code", "--profile", "builtin-claude-code")
		cfg := filepath.Join(p.Dir, "mcp.json")
		doc, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"akk": map[string]any{"command": p.wrapper(log), "args": args, "env": p.folders()}}})
		if err == nil {
			err = os.WriteFile(cfg, doc, 0o600)
		}
		if err != nil {
			p.T.Fatal(err)
		}
		o.Args = []string{"--mcp-config", cfg, "--strict-mcp-config"}
		o.Settings = map[string]any{"permissions": map[string]any{"defaultMode": "default", "allow": []string{"mcp__akk"}}}
		return o
	}
	args = append(args, "--host", "codex", "--profile", "builtin-codex")
	var cfg strings.Builder
	fmt.Fprintf(&cfg, "\n[mcp_servers.akk]\ncommand = %q\nargs = [", p.wrapper(log))
	for _, a := range args {
		fmt.Fprintf(&cfg, "%q, ", a)
	}
	cfg.WriteString("]\nenv_vars = [\"AKK_HOST_SESSION\"]\ndefault_tools_approval_mode = \"approve\"\nstartup_timeout_sec = 60\n\n[mcp_servers.akk.env]\n")
	for k, v := range p.folders() {
		fmt.Fprintf(&cfg, "%s = %q\n", k, v)
	}
	o.Config, o.Env = cfg.String(), map[string]string{"AKK_HOST_SESSION": "codex-host-1"}
	return o
}

// wrapper is the bridge's program with its log kept for a test that fails. It
// becomes akk itself.
func (p *rig) wrapper(log string) string {
	file := filepath.Join(p.Dir, "bridge")
	text := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\" 2>>%q\n", p.Bin, log)
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		p.T.Fatal(err)
	}
	return file
}

// ready waits until akk offers a send to the pane, and returns its terminal.
func (p *rig) ready(pane string) string {
	p.T.Helper()
	return p.WaitRow(pane, "ready", product.Ready).ID
}

func (p *rig) screens(ss ...*lab.Session) {
	for _, s := range ss {
		if scr, err := s.Capture(context.WithoutCancel(p.T.Context())); err == nil {
			p.T.Logf("%s:\n%s", s.Name, scr.Text())
		}
	}
}
