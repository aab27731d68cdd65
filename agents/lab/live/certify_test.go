package live

import (
	"strings"
	"testing"
	"time"

	"akk/agents/lab"
	"akk/agents/registry"
)

// What akk's readers say about each state of a real version is what is true.
func TestLiveCertify(t *testing.T) {
	if !*liveFlag {
		t.Skip("live: set AKK_LIVE=1 or -live")
	}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			r, err := lab.Certify(t.Context(), registry.For(k), binary(t, k))
			var b strings.Builder
			r.WriteTo(&b)
			t.Logf("%s", b.String())
			if err != nil {
				t.Fatal(err)
			}
			if !r.Clean() {
				t.Errorf("%s %s is not certified after %v", r.Agent, r.Version, r.Took.Round(time.Second))
			}
		})
	}
}
