package lab

// Pictures from recordings. It upholds: a screen in a test was drawn by a real
// version.

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"

	"akk/vtparse/cast"
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
	f, err := os.Open(path)
	if err != nil {
		return Frame{}, fmt.Errorf("read recording: %w", err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return Frame{}, fmt.Errorf("unpack recording %s: %w", path, err)
		}
		in = io.LimitReader(z, maxCast)
	}
	return frame(in, path, label)
}

func frame(in io.Reader, path, label string) (Frame, error) {
	r, err := cast.NewReader(in)
	if err != nil {
		return Frame{}, fmt.Errorf("recording %s: %w", path, err)
	}
	f := Frame{Cols: r.Header.Width, Rows: r.Header.Height}
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return Frame{}, fmt.Errorf("recording %s: no marker %q", path, label)
		}
		if err != nil {
			return Frame{}, fmt.Errorf("recording %s: %w", path, err)
		}
		switch ev.Kind {
		case cast.Output:
			f.Output = append(f.Output, ev.Data...)
		case cast.Resize:
			return Frame{}, fmt.Errorf("recording %s: resized before marker %q; choose an earlier one", path, label)
		case cast.Marker:
			if strings.Contains(ev.Data, label) {
				return f, nil
			}
		}
	}
}
