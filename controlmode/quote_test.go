package controlmode

import "testing"

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":               `""`,
		"a b":            `"a b"`,
		`"$x" \n`:        `"\"\$x\" \\n"`,
		"a\nb\tc\rd":     "\"a\\012b\tc\\015d\"",
		"x;":             `"x;"`,
		"-l":             `"-l"`,
		"#{pane_id} %3":  `"#{pane_id} %3"`,
		"\x1b[201~\x7f":  `"\033[201~\177"`,
		"é😀":             `"é😀"`,
		"nul\x00dropped": `"nuldropped"`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := Safe(120, "pane_current_path"); got != "#{=120:pane_current_path}" {
		t.Error(got)
	}
}
