package vtparse_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"akk/vtparse"
)

// TestExports: ANSI plays back to the same screen; the picture is XML.
func TestExports(t *testing.T) {
	s := write(vtparse.New(30, 3, vtparse.Options{}), "\x1b]0;a <b>\x07\x1b[1;31mred\x1b[44m & \x1b[0;7m字\x1b[m\r\n<tag>\x1b[4;9mx")
	back := write(vtparse.New(30, 4, vtparse.Options{}), strings.ReplaceAll(s.ANSI(), "\n", "\r\n"))
	for y := range s.Rows {
		if s.Row(y).String() != back.Row(y).String() || s.Row(y).Style(0) != back.Row(y).Style(0) {
			t.Errorf("row %d: %q, played back %q", y, s.Line(y), back.Line(y))
		}
	}
	picture(t, s)
	b, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(b), `["red","1;38;5;1"],`) {
		t.Errorf("%v %s", err, b)
	}
}

// element is one element of a picture.
type element struct {
	name, text string
	attr       map[string]string
}

// picture reads the SVG, which must be well-formed and hold nothing that acts.
func picture(t *testing.T, s *vtparse.Screen) []element {
	t.Helper()
	var out []element
	d := xml.NewDecoder(strings.NewReader(s.SVG()))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, s.SVG())
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e := element{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			switch e.name {
			case "svg", "title", "rect", "g", "text":
			default:
				t.Errorf("element %s in a picture", e.name)
			}
			out = append(out, e)
		case xml.CharData:
			if n := len(out); n > 0 {
				out[n-1].text += strings.TrimSuffix(string(tok), "\n")
			}
		}
	}
}

// TestSVG: colours, faint, reverse, wide characters, cursor, and text that
// wants to be markup.
func TestSVG(t *testing.T) {
	s := write(vtparse.New(24, 4, vtparse.Options{}), "\x1b]2;</title><script>\"&\x07"+
		"\x1b[38;2;1;2;3mrgb\x1b[0;38;5;196mcube\x1b[0;2mfaint\x1b[0;7mrev\x1b[0;31;44;7mboth\x1b[m\r\n"+
		"a字b\x1b[4:3mwavy\x1b[9mx\x1b[m\x1b[8mhidden\x1b[m\r\n"+
		"<script>alert(\"1\")</script>&amp;'\x1b[4;24H.")
	texts := map[string]map[string]string{}
	var rects []map[string]string
	for _, e := range picture(t, s) {
		switch e.name {
		case "text":
			texts[e.text] = e.attr
		case "rect":
			rects = append(rects, e.attr)
		case "title":
			if e.text != "</title><script>\"&" {
				t.Errorf("title %q", e.text)
			}
		}
	}
	for text, want := range map[string]map[string]string{
		"rgb":                           {"fill": "#010203", "x": "12.0"},
		"cube":                          {"fill": "#ff0000"},
		"faint":                         {"fill-opacity": "0.6"},
		"rev":                           {"fill": "#1e222a"},
		"both":                          {"fill": "#3b78ff"},
		"a":                             {"textLength": "8.4"},
		"字":                             {"x": "20.4", "textLength": "16.8"},
		"b":                             {"x": "37.2"},
		"wavy":                          {"text-decoration": "underline", "style": "text-decoration-style:wavy"},
		"x":                             {"text-decoration": "underline line-through"},
		"<script>alert(\"1\")</script>": {"y": "61"},
	} {
		got, ok := texts[text]
		if !ok && strings.HasPrefix(text, "<") { // the line is wider than the screen
			got, ok = texts[s.Line(2)]
		}
		for k, v := range want {
			if !ok || got[k] != v {
				t.Errorf("text %q: %s is %q, want %q", text, k, got[k], v)
			}
		}
	}
	if _, ok := texts["hidden"]; ok {
		t.Error("hidden text is drawn")
	}
	// The picture, "rev" and "both" behind their text, the cursor last: a wrap is
	// pending, so it stands on the last column.
	if n := len(rects); n != 4 || rects[1]["fill"] != "#d8dee9" || rects[2]["fill"] != "#cd0000" || rects[3]["x"] != "205.2" || rects[3]["y"] != "66" {
		t.Errorf("rectangles %v", rects)
	}
	s = write(vtparse.New(4, 1, vtparse.Options{}), "\x1b[?25l")
	for _, e := range picture(t, s)[1:] {
		if e.attr["fill-opacity"] == "0.5" {
			t.Error("a hidden cursor is drawn")
		}
	}
}

// TestExportsWithoutControls: what newer tmux keeps of C1 in a cell reaches
// neither a terminal nor a picture.
func TestExportsWithoutControls(t *testing.T) {
	for _, v := range []string{"3.3a", "3.4", "3.7c"} {
		s := vtparse.ReplayRaw([]byte("a\u009b31mb\u0085\ufffe\uffffc"), 20, 1, nil, vtparse.Options{TmuxVersion: v})
		if out := s.ANSI(); strings.ContainsAny(out, "\u009b\u0085\ufffe\uffff") {
			t.Errorf("%s: %q", v, out)
		}
		picture(t, s)
	}
}
