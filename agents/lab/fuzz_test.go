package lab

import (
	"os"
	"path/filepath"
	"testing"

	"akk/agents"
)

// FuzzLog: whatever an agent's log holds, reading it neither fails nor panics,
// and a turn's texts come from whole lines only.
func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"task_started"}}`), true)
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"text","text":"x"}]}}`+"\n{"), false)
	f.Add([]byte("{\"type\":\"user\",\"message\":{\"content\":7}}\n\xff\n"), false)
	f.Fuzz(func(t *testing.T, b []byte, codex bool) {
		dir := t.TempDir()
		kind, sub := agents.Claude, "projects"
		if codex {
			kind, sub = agents.Codex, "sessions"
		}
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, sub, "x.jsonl"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		se := &Session{Binary: Binary{Agent: kind}, Paths: Paths{Config: dir}}
		if _, err := se.ReadLog(); err != nil {
			t.Error(err)
		}
	})
}
