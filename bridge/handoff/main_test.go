package handoff

import (
	"testing"

	"go.uber.org/goleak"
)

// testKeep is the journal's retention in these tests.
const testKeep = 3000

func TestMain(m *testing.M) {
	journal = newJournal(testKeep)
	goleak.VerifyTestMain(m)
}
