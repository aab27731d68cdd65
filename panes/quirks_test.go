package panes

import "testing"

// The rows that a version gets; letters, release candidates and builds from
// tmux's repository included.
func TestQuirks(t *testing.T) {
	for version, paste := range map[string]string{
		"3.2": "paste-buffer -p -r -d", "3.2a": "paste-buffer -p -r -d", "3.3a": "paste-buffer -p -r -d", "3.6": "paste-buffer -p -r -d", "3.6a": "paste-buffer -p -r -d",
		"3.7": "paste-buffer -p -r -d -S", "3.7c": "paste-buffer -p -r -d -S", "3.8-rc": "paste-buffer -p -r -d -S", "next-3.8": "paste-buffer -p -r -d -S", "4.0": "paste-buffer -p -r -d -S", "master": "paste-buffer -p -r -d -S",
	} {
		if got := quirk(version).paste; got != paste {
			t.Errorf("%s: %q, want %q", version, got, paste)
		}
	}
}

// 3776 is there up to 3.4.
func TestQuirkDeadFocus(t *testing.T) {
	for version, want := range map[string]bool{"3.2a": true, "3.3a": true, "3.4": true, "3.5": false, "3.5a": false, "3.6": false, "next-3.5": false, "3.7c": false, "master": false} {
		if got := quirk(version).deadFocus; got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}
