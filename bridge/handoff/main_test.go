package handoff

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"akk/panes"
)

// testKeep is the journal's retention in these tests.
const testKeep = 3000

// TestMain is an actor, too: tmux starts this very binary in a pane.
func TestMain(m *testing.M) {
	if os.Getenv(actorEnv) != "" && len(os.Args) == 3 {
		act(os.Args[2])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == panes.PassCommand { // the pipe transport's helper
		if panes.PassPipe(os.Args[2], os.Args[3]) != nil {
			os.Exit(1)
		}
		return
	}
	journal = newJournal(testKeep)
	goleak.VerifyTestMain(m)
}
