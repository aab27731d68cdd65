package live

// What the tests of this package share: flags, versions, an akk per test.

import (
	"flag"
	"os"
	"testing"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/product"
)

var (
	liveFlag = flag.Bool("live", os.Getenv("AKK_LIVE") != "", "run real agents (also AKK_LIVE=1)")
	codexV   = flag.String("codex", envOr("AKK_LIVE_CODEX", "0.155.1"), "version of Codex")
	claudeV  = flag.String("claude", envOr("AKK_LIVE_CLAUDE", "2.1.267"), "version of Claude Code")
)

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

func TestMain(m *testing.M) { os.Exit(product.Main(m)) }

// rig is an akk of its own, beside a lab.
type rig struct{ *product.Akk }

// newLab starts both; all ends with the test.
func newLab(t *testing.T) (*lab.Server, *rig) {
	t.Helper()
	if !*liveFlag {
		t.Skip("live: set AKK_LIVE=1 or -live")
	}
	p := product.New(t)
	return p.Srv, &rig{p}
}

// with is the same rig for a subtest.
func (p *rig) with(t *testing.T) *rig { return &rig{p.With(t)} }

// binary installs an agent.
func binary(t *testing.T, k agents.Kind) lab.Binary {
	t.Helper()
	v := *codexV
	if k == agents.Claude {
		v = *claudeV
	}
	b, err := lab.Install(t.Context(), k, v, "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var kinds = []agents.Kind{agents.Codex, agents.Claude}
