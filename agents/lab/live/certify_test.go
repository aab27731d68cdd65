package live

import (
	"strings"
	"testing"
	"time"

	"akk/agents/lab"
	"akk/agents/registry"
)

// certify runs the chosen scenarios of both agents and fails with the places
// where a reading was wrong.
func certify(t *testing.T, choose func(scene string) bool) {
	t.Helper()
	if !*liveFlag {
		t.Skip("live: set AKK_LIVE=1 or -live")
	}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			var only []string
			for _, sc := range lab.Scenes(k) {
				if choose(sc.Name) {
					only = append(only, sc.Name)
				}
			}
			r, err := lab.Certify(t.Context(), registry.For(k), binary(t, k), lab.CertifyOptions{Only: only, Jobs: 2})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s: %d scenarios, %d checks, %d readings in %v", r.Agent, r.Version, len(r.Scenes), len(r.Checks), r.Readings, r.Took.Round(time.Second))
			if !r.Clean() {
				var b strings.Builder
				r.WriteTo(&b)
				t.Errorf("not certified:\n%s\n%s", strings.Join(r.Where(), "\n"), b.String())
			}
		})
	}
}

// What akk's readers say about each state of a real version is what is true.
func TestLiveCertify(t *testing.T) {
	certify(t, func(scene string) bool { return !strings.HasPrefix(scene, "imitates-") })
}

// Whatever the model prints, dialogs of both agents, word for word and in
// colour, the composer's owner stays the composer (issue 5, Shows 4).
func TestLiveImitation(t *testing.T) {
	certify(t, func(scene string) bool { return strings.HasPrefix(scene, "imitates-") })
}
