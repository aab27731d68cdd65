package panes

import (
	"strings"
	"testing"

	"akk/vtparse"
)

// Wide characters that lost a half (erased by ECH, cut off at the edge by a
// resize) make a captured row longer than the pane: what stands at its end is
// on the screen all the same. Found by chaos: such a pane was seeded for ever.
func TestSeedOfCutWideCharacters(t *testing.T) {
	for name, draw := range map[string]string{
		"an erased half":        `\033[48;2;10;20;30m日` + strings.Repeat("x", 77) + ` \033[1;2H\033[m\033[1X`,
		"several":               `a日b日c日\033[1;3H\033[1X\033[1;6H\033[1X\033[1;9H\033[7m` + strings.Repeat("x", 71) + `#\033[m`,
		"a deleted half":        `\033[44m日` + strings.Repeat("y", 77) + `z\033[1;2H\033[1P\033[1;79HAB\033[m`,
		"an inserted blank":     `\033[44m日` + strings.Repeat("y", 76) + `z\033[1;2H\033[1@\033[1;79HAB\033[m`,
		"nothing is cut":        `\033[48;2;10;20;30m日` + strings.Repeat("x", 77) + ` \033[m`,
		"two, one by the other": `\033[44m` + strings.Repeat("日", 40) + `\033[1;2H\033[1X\033[1;6H\033[1X\033[m`,
	} {
		t.Run(name, func(t *testing.T) {
			ts := newTmux(t, "sh", "-c", `stty raw -echo; printf '`+draw+`\033[5;1HREADY'; exec cat`)
			eventually(t, "the drawing", func() bool { return strings.Contains(ts.run("capture-pane", "-p", "-t", "%0"), "READY") })
			s := openServer(t, ts)
			waitScreen(t, s, "%0", func(*vtparse.Screen) bool { return true })
			audited(t, s, "%0")
			ts.run("resize-window", "-t", "one", "-x", "79")
			until(t, s, "%0", "the new size", func(in Info, _ bool) bool { return in.Cols == 79 })
			audited(t, s, "%0")
			if n, err := s.Audits(within(t)); err != nil || n.Mismatches != 0 || n.Reseeds != 0 {
				t.Errorf("%+v %v\n%q", n, err, ts.run("capture-pane", "-p", "-e", "-N", "-t", "%0"))
			}
		})
	}
}
