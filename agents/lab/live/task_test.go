package live

// A task over MCP: listed, sent, accepted, completed, and found at the agent's
// side once, byte for byte.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/agents/lab"
	"akk/agents/lab/product"
)

const (
	toolList   = product.ToolList
	toolStatus = product.ToolStatus
	toolSend   = product.ToolSend
)

// client is any MCP client: it calls a tool and returns the result's text.
type client func(tool string, args map[string]any) (doc string, isError bool)

// sdk connects the Go SDK's client to `akk host-bridge`.
func (p *rig) sdk() client {
	p.T.Helper()
	cmd := p.Command(context.WithoutCancel(p.T.Context()), "host-bridge")
	cmd.Stderr = os.Stderr
	c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, nil)
	s, err := c.Connect(p.T.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		p.T.Fatalf("connect to akk host-bridge: %v", err)
	}
	p.T.Cleanup(func() { s.Close() })
	return func(tool string, args map[string]any) (string, bool) {
		p.T.Helper()
		r, err := s.CallTool(p.T.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			p.T.Fatalf("%s %v: %v", tool, args, err)
		}
		return product.Text(r), r.IsError
	}
}

// The second client: mcporter from npm, a program of somebody else.
const mcporterVersion = "0.9.0"

func (p *rig) mcporter() client {
	p.T.Helper()
	bin, err := lab.InstallTool(p.T.Context(), "mcporter", mcporterVersion, "")
	if err != nil {
		p.T.Fatal(err)
	}
	home := p.T.TempDir()
	return func(tool string, args map[string]any) (string, bool) {
		p.T.Helper()
		doc, err := json.Marshal(args)
		if err != nil {
			p.T.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(p.T.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "mcporter"), "call",
			"--stdio", p.Bin, "--stdio-arg", "-S", "--stdio-arg", p.Srv.Socket, "--stdio-arg", "host-bridge",
			"--name", "akk", "--output", "json", "--timeout", "60000", tool, "--args", string(doc))
		cmd.Env, cmd.Dir, cmd.WaitDelay = append(slices.Clone(p.Env), "HOME="+home), home, 5*time.Second
		out, err := cmd.Output()
		if err != nil {
			p.T.Fatalf("mcporter call %s %s: %v\n%s", tool, doc, err, out)
		}
		// It prints the structured content alone; errors show in the document.
		return string(out), false
	}
}

// sendResult is what the tests need of a send's document.
type sendResult struct {
	TurnID            string `json:"turn_id"`
	Status            string `json:"status"`
	SubmissionOutcome string `json:"submission_outcome"`
	DeliveryReceipt   string `json:"delivery_receipt"`
	Delivered         bool   `json:"delivered"`
	AgentAcceptance   string `json:"agent_acceptance"`
	Reason            string `json:"reason"`
}

type statusResult struct {
	Conversation struct {
		Status    string `json:"status"`
		Outcome   string `json:"outcome"`
		FinalText string `json:"final_text"`
	} `json:"conversation"`
}

// Both agents in one tmux: an MCP client lists them, sends each a task as the
// row's own action says, is told accepted, then completed with the final text.
func TestLiveTask(t *testing.T) {
	for _, x := range []struct {
		name string
		make func(*rig) client
	}{{"sdk", (*rig).sdk}, {"mcporter", (*rig).mcporter}} {
		t.Run(x.name, func(t *testing.T) {
			srv, p := newLab(t)
			var sessions []*lab.Session
			for _, k := range kinds {
				s, err := srv.Start(t.Context(), lab.Options{Binary: binary(t, k)})
				if err != nil {
					t.Fatal(err)
				}
				sessions = append(sessions, s)
			}
			for _, s := range sessions {
				p.WaitRow(s.Pane, "ready", product.Ready)
			}
			call := x.make(p)
			for i, s := range sessions {
				t.Run(string(s.Binary.Agent), func(t *testing.T) {
					p := p.with(t)
					p.task(call, s, i)
				})
			}
		})
	}
}

func (p *rig) task(call client, s *lab.Session, n int) {
	t := p.T
	doc, bad := call(toolList, map[string]any{})
	if bad {
		t.Fatalf("list: %s", doc)
	}
	var l product.List
	product.Decode(t, doc, &l)
	if len(l.Terminals) != len(kinds) {
		t.Errorf("%d terminals are listed: %s", len(l.Terminals), doc)
	}
	r, ok := l.Pane(s.Pane)
	if !ok || r.Agent != string(s.Binary.Agent) {
		t.Fatalf("pane %s is not listed as %s: %s", s.Pane, s.Binary.Agent, doc)
	}
	send := r.AvailableActions["send"]
	if send.Tool != toolSend || !slices.Equal(send.MissingRequired, []string{"request"}) {
		t.Fatalf("the row offers no send: %+v", r)
	}
	request := fmt.Sprintf("please %s, number %d\nwith a second line: 日本語 “quotes” $HOME `x` \\n %%s", lab.Hello, n)
	args := map[string]any{"request": request}
	for k, v := range send.Arguments {
		args[k] = v
	}
	doc, bad = call(send.Tool, args)
	var sent sendResult
	product.Decode(t, doc, &sent)
	if bad || sent.SubmissionOutcome != "agent_accepted" || sent.DeliveryReceipt != "agent_accepted" || !sent.Delivered || sent.AgentAcceptance != "proven" {
		scr, _ := s.Capture(t.Context())
		t.Fatalf("send (error %v): %s\nthe screen:\n%s", bad, doc, scr.Text())
	}

	var st statusResult
	end := time.Now().Add(60 * time.Second)
	for st.Conversation.Outcome == "" && time.Now().Before(end) {
		doc, bad = call(toolStatus, map[string]any{"turn_id": sent.TurnID})
		if bad {
			t.Fatalf("status: %s", doc)
		}
		product.Decode(t, doc, &st)
	}
	if st.Conversation.Outcome != "completed" || st.Conversation.FinalText != lab.HelloAnswer {
		t.Errorf("status says %+v: %s", st.Conversation, doc)
	}

	log, err := s.WaitAnswers(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.UserTexts) != 1 || lab.Unwrap(log.UserTexts[0]) != request {
		t.Errorf("the agent's log holds %q, sent was %q", log.UserTexts, request)
	}
	if texts, turns := s.Model.Asked(request); texts != 1 || turns != 1 {
		t.Errorf("the model was asked %d times in %d turns", texts, turns)
	}
	p.journal(sent.TurnID)
}

// journal checks that `akk events` told the turn's way in order.
func (p *rig) journal(turn string) {
	p.T.Helper()
	all := p.Events()
	got, final := product.Changes(all, turn), ""
	for _, e := range all {
		if e.TurnID == turn && e.Change == "completed" {
			final = e.Text
		}
	}
	at := slices.Index(got, "accepted")
	if at < 0 || slices.Index(got, "completed") < at || final != lab.HelloAnswer {
		p.T.Errorf("the journal tells %q, final text %q", got, final)
	}
}
