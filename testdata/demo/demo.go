// Package demo embeds the recordings that `akk demo` plays; README.md says what
// they are.
package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
)

//go:embed *.cast.gz
var files embed.FS

// Recording is one of the recordings. Cols and Rows are its header's.
type Recording struct {
	Name       string
	Agent      string // codex | claude
	Version    string
	Cols, Rows int
}

// All lists the recordings.
func All() []Recording {
	return []Recording{
		{"codex-turns", "codex", "0.155.1", 120, 40},
		{"codex-approval", "codex", "0.155.1", 120, 40},
		{"claude-questions", "claude", "2.1.267", 120, 40},
		{"claude-working", "claude", "2.1.267", 120, 40},
	}
}

// Open returns the text of a recording.
func Open(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ".cast.gz")
	if err != nil {
		return nil, fmt.Errorf("no recording is named %q", name)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("recording %q is damaged: %w", name, err)
	}
	defer z.Close()
	return io.ReadAll(z)
}
