package lab

// Pictures from recordings. It upholds: a screen in a test was drawn by a real
// version.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Frame is the output of a recording up to one of its markers.
type Frame struct {
	Cols, Rows int // the size at the marker
	Output     []byte
}

// maxCast bounds a recording's unpacked size, in bytes.
const maxCast = 256 << 20

// CastFrame reads an asciicast v2 (gzip-compressed if it ends in .gz) up to
// the first marker whose label contains label. A recording that was resized
// before the marker is refused: its bytes alone don't give the picture.
func CastFrame(path, label string) (Frame, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Frame{}, fmt.Errorf("read recording: %w", err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return Frame{}, fmt.Errorf("unpack recording %s: %w", path, err)
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxCast)); err != nil {
			return Frame{}, fmt.Errorf("unpack recording %s: %w", path, err)
		}
	}
	return frame(b, path, label)
}

func frame(b []byte, path, label string) (Frame, error) {
	lines := bytes.Split(b, []byte{'\n'})
	var head struct {
		Version, Width, Height int
	}
	if err := json.Unmarshal(lines[0], &head); err != nil || head.Version != 2 || head.Width < 1 || head.Height < 1 {
		return Frame{}, fmt.Errorf("recording %s: not an asciicast v2", path)
	}
	f := Frame{Cols: head.Width, Rows: head.Height}
	for i, l := range lines[1:] {
		if len(bytes.TrimSpace(l)) == 0 {
			continue
		}
		var ev [3]any
		if err := json.Unmarshal(l, &ev); err != nil {
			return Frame{}, fmt.Errorf("recording %s, line %d: %w", path, i+2, err)
		}
		kind, _ := ev[1].(string)
		text, _ := ev[2].(string)
		switch kind {
		case "o":
			f.Output = append(f.Output, text...)
		case "r":
			return Frame{}, fmt.Errorf("recording %s: resized before marker %q; choose an earlier one", path, label)
		case "m":
			if strings.Contains(text, label) {
				return f, nil
			}
		}
	}
	return Frame{}, fmt.Errorf("recording %s: no marker %q", path, label)
}
