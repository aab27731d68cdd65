package handoff

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// testKeep is the journal's retention in these tests.
const testKeep = 3000

// TestMain is an actor, too: tmux starts this very binary in a pane.
func TestMain(m *testing.M) {
	if os.Getenv(actorEnv) != "" && len(os.Args) == 3 {
		act(os.Args[2])
		return
	}
	journal = newJournal(testKeep)
	goleak.VerifyTestMain(m)
}
