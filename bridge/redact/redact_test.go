package redact

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// R225: every form that it names.
func TestText(t *testing.T) {
	for _, s := range []string{
		"Authorization: Bearer abcDEF123456", "run --token abcDEF123456 now", "--gateway-token=abcDEF123456", "OPENAI_API_KEY=abcDEF123456",
		"GH_TOKEN: 'abcDEF123456'", `DB_PASSWORD="abcDEF123456"`, "MY_SECRET=abcDEF123456", "sk-abcDEF123456", "ghp_abcDEF123456abcDEF123456",
		"github_pat_abcDEF123456abcDEF123456", "AKIAABCDEF123456ABCD", "https://user:abcDEF123456@host/x",
		"-----BEGIN RSA PRIVATE KEY-----\nabcDEF123456\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nabcDEF123456",
	} {
		if got := Text("see " + s + " here"); strings.Contains(got, "DEF123456") || !strings.Contains(got, Mark) || !strings.HasPrefix(got, "see ") {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	if s := "token count: see https://host/x and sketch"; Text(s) == "" || !strings.Contains(Text(s), "https://host/x and sketch") {
		t.Error(Text(s))
	}
}

func TestHandler(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(Handler(slog.NewTextHandler(&b, nil))).With("api_key", "abcDEF1").WithGroup("g").With("x", "API_KEY=abcDEF2")
	l.Info("with sk-abcDEF33333", "authToken", "abcDEF4", "err", errors.New("MY_TOKEN=abcDEF5"), "n", 7, slog.Group("in", "password", "abcDEF6", "url", "http://u:abcDEF7@h"),
		"headers", map[string]string{"Authorization": "Bearer abcDEF88"})
	if s := b.String(); strings.Contains(s, "DEF") || !strings.Contains(s, "g.n=7") {
		t.Error(s)
	}
}

// The words are only a shortcut: with and without them the text is the same.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "see sk-abcDEF123456", "paſſword=abcDEF1", "TO\u212aEN: x", "a://b:c@d --toKen 1", "\xff AKIAABCDEF123456ABCD", "İ token=a", " ſECRET=x", "redis://:p@h", `{"to\u212aen\":\"x\"}`, "-----BEGIN X PRIVATE KEY-----"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := s
		for _, r := range secrets() {
			want = r.re.ReplaceAllString(want, r.with)
		}
		if got := Text(s); got != want {
			t.Fatalf("%q becomes %q, without the words %q", s, got, want)
		}
	})
}
