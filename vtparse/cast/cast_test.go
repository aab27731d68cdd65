package cast_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"akk/vtparse"
	"akk/vtparse/cast"
)

const header = `{"version": 2, "width": 20, "height": 4}` + "\n"

func readAll(s string) ([]cast.Event, error) {
	r, err := cast.NewReader(strings.NewReader(s))
	if err != nil {
		return nil, err
	}
	var out []cast.Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

// TestRoundTrip: bytes come back as they were, cut characters and all.
func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	h := cast.Header{Width: 80, Height: 24, Timestamp: 5, Title: "t", Env: map[string]string{"TERM": "tmux-256color"}, TmuxVersion: "3.4"}
	w, err := cast.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	chunks := []string{"a\x1b[31m\"\\\n", "\xe5\xad", "\x97b\xff\xfe", "\xed\xb2\x80", "\u0085\x00", "\xe5"}
	for i, c := range chunks {
		if err := w.Output(time.Duration(i)*time.Second, []byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	w.Event(cast.Event{Time: 7 * time.Second, Kind: cast.Marker, Data: "m"})
	w.Event(cast.Event{Time: 8 * time.Second, Kind: cast.Resize, Data: "60x20"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, cast.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	r, err := cast.NewReader(&b)
	if err != nil || !reflect.DeepEqual(r.Header, h) {
		t.Fatalf("header %+v: %v", r.Header, err)
	}
	var out strings.Builder
	var kinds string
	for {
		e, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		kinds += string(e.Kind)
		if e.Kind == cast.Output {
			out.WriteString(e.Data)
		}
		if e.Kind == cast.Resize {
			if c, rows, err := e.Size(); c != 60 || rows != 20 || err != nil {
				t.Errorf("size %d %d %v", c, rows, err)
			}
		}
	}
	if want := strings.Join(chunks, ""); out.String() != want || !strings.HasSuffix(kinds, "omr") {
		t.Errorf("%q, want %q; kinds %s", out.String(), want, kinds)
	}
}

// TestBad: an error names the line; what came before it was delivered.
func TestBad(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		is             error
		events         int
	}{
		{"empty", "", "line 1: empty recording", cast.ErrFormat, 0},
		{"not JSON", "hello\n", "line 1: header", cast.ErrFormat, 0},
		{"version 3", `{"version":3,"width":1,"height":1}`, "version 3", cast.ErrFormat, 0},
		{"no size", `{"version":2}`, "size 0x0", cast.ErrFormat, 0},
		{"torn end", header + `[0.1,"o","a"]` + "\n" + `[0.2,"o","b`, "line 3: cut off", io.ErrUnexpectedEOF, 1},
		{"torn middle", header + `[0.1,"o","a` + "\n" + `[0.2,"o","b"]`, "line 2: event", cast.ErrFormat, 0},
		{"short", header + `[0.1,"o"]`, "line 2: event of 2 parts", cast.ErrFormat, 0},
		{"time", header + `["x","o","a"]`, `line 2: time "x"`, cast.ErrFormat, 0},
		{"code", header + `[1,2,"a"]`, "line 2: code", cast.ErrFormat, 0},
		{"data", header + "\n" + `[1,"o",{}]`, "line 3: data", cast.ErrFormat, 0},
	} {
		events, err := readAll(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.is) || len(events) != c.events {
			t.Errorf("%s: %d events, %v", c.name, len(events), err)
		}
	}
}

// TestReplay plays output, resizes and markers; unknown events are skipped.
func TestReplay(t *testing.T) {
	in := header + `[0,"o","hello"]` + "\n" + `[1,"z",{"future":1}]` + "\n"
	if _, err := readAll(in); err == nil {
		t.Error("data that is no string is taken")
	}
	in = header + `[0,"o","hello"]` + "\n" + `[1,"i","typed"]` + "\n" + `[1,"m","one"]` + "\n" + `[1,"r","3x4"]` + "\n" + `[2,"m","two"]`
	var seen []string
	err := cast.Replay(strings.NewReader(in), vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
		seen = append(seen, e.Data+":"+s.Line(0))
		return nil
	})
	if err != nil || !reflect.DeepEqual(seen, []string{"one:hello", "two:lo"}) {
		t.Errorf("%q %v", seen, err)
	}
	err = cast.Replay(strings.NewReader(header+`[1,"r","axb"]`), vtparse.Options{}, nil)
	if !errors.Is(err, cast.ErrFormat) || !strings.Contains(err.Error(), "line 2: resize") {
		t.Errorf("bad resize: %v", err)
	}
	stop := errors.New("stop")
	if err := cast.Replay(strings.NewReader(in), vtparse.Options{}, func(cast.Event, *vtparse.Screen) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stop: %v", err)
	}
}

// FuzzReader: any text is events or an error; what is read can be written and
// read again.
func FuzzReader(f *testing.F) {
	f.Add(header + `[0.5,"o","a\ud83d\ude00\udcff"]` + "\n" + `[1,"m","x"]`)
	f.Fuzz(func(t *testing.T, in string) {
		events, _ := readAll(in)
		var b bytes.Buffer
		w, err := cast.NewWriter(&b, cast.Header{Width: 1, Height: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := w.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		again, err := readAll(b.String())
		if err != nil || len(again) != len(events) {
			t.Fatalf("%d events of %d: %v", len(again), len(events), err)
		}
		for i := range events {
			if again[i].Data != events[i].Data || again[i].Kind != events[i].Kind {
				t.Fatalf("event %d: %q, was %q", i, again[i].Data, events[i].Data)
			}
		}
	})
}
