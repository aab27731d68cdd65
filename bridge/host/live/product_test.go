// Package live has a real agent as the Host of akk: it decides to send a task to
// another real agent's pane, is called back by its profile's command, and reads
// the result. Nothing here runs without AKK_LIVE.
package live

import (
	"os"
	"strings"
	"testing"

	"akk/agents"
	"akk/agents/lab"
	"akk/agents/lab/product"
)

var liveFlag = os.Getenv("AKK_LIVE") != ""

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

// version of an agent under test: what the shipped profiles are for.
func version(k agents.Kind) string {
	if k == agents.Claude {
		return envOr("AKK_LIVE_CLAUDE", "2.1.332")
	}
	return envOr("AKK_LIVE_CODEX", "0.171.0")
}

func TestMain(m *testing.M) { os.Exit(product.Main(m)) }

// rig is an akk of its own, beside a lab.
type rig struct{ *product.Akk }

func newLab(t *testing.T) *rig {
	t.Helper()
	if !liveFlag {
		t.Skip("live: set AKK_LIVE=1")
	}
	return &rig{product.New(t)}
}

// folders are what leads a bridge, which gets its Host's environment, to this akk.
func (p *rig) folders() map[string]string {
	mark, _, _ := strings.Cut(p.Srv.Mark(), "=")
	out := p.Environ()
	for k := range out {
		if k != mark && !strings.HasPrefix(k, "XDG_") {
			delete(out, k)
		}
	}
	return out
}

// install returns an agent's binary.
func install(t *testing.T, k agents.Kind) lab.Binary {
	t.Helper()
	b, err := lab.Install(t.Context(), k, version(k), "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
