package controlmode

import "testing"

func TestPaneNumber(t *testing.T) {
	for id, want := range map[string]int{"%0": 0, "%7": 7, "%12": 12, "%16383": 16383, "%16384": -1, "%99999999999999999999": -1, "%00": -1, "%012": -1, "%": -1, "": -1, "12": -1, "%1a": -1, "@1": -1} {
		n, ok := PaneNumber(id)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", id, n, want)
		}
		var all names
		if got := all.of([]byte(id)); got != id || all.of([]byte(id)) != id {
			t.Errorf("%q: %q", id, got)
		}
	}
}
