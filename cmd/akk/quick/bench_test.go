package quick

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
)

// listLike is a document of the size and shape of a list of 100 terminals.
func listLike() []byte {
	row := map[string]any{"nested": map[string]any{"a": []int{1, 2, 3}, "b": map[string]any{"tool": "x", "arguments": map[string]any{}}}}
	for i := range 60 {
		row[fmt.Sprintf("some_key_%d", i)] = "a value of usual size"
	}
	rows := make([]any, 100)
	for i := range rows {
		rows[i] = row
	}
	b, _ := json.Marshal(map[string]any{"store_dir": "/x", "terminals": rows})
	return b
}

// The package bytes, which comes too late for us, is the measure.
func BenchmarkIndent(b *testing.B) {
	in := listLike()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		_ = WriteIndented(io.Discard, in)
	}
}

func BenchmarkNewline(b *testing.B) {
	in := append(listLike(), '\n')
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			indexByte(in, '\n')
		}
	})
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			bytes.IndexByte(in, '\n')
		}
	})
}
