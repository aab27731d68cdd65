package codex

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A log whose first line has no end is not read to its end.
func TestReadMetaEndless(t *testing.T) {
	p := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 1<<36); err != nil { // holes only
		t.Skip(err)
	}
	begin := time.Now()
	if newRollout(p, begin).readMeta(p) {
		t.Error("a line of nothing is a session")
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Error(took)
	}
}
