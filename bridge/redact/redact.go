// Package redact takes secrets out of text that leaves akk for a Host, a log or
// the store (CONTRACT-outputs §3.1, R225).
//
// It promises: what is replaced can't be read back; text without a secret stays
// as it is. It refuses to promise that every secret is found: it knows forms,
// not values.
package redact

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// secret is a form of secrets. Each of its texts holds one of the words, small
// letters whatever the form says about case: looking for a word costs a
// hundredth of looking for the form. \b knows ASCII only: a form that may begin
// with another letter (ſ without case is s), or that takes all that stands
// before it, has none.
type secret struct {
	words []string
	re    *regexp.Regexp
	with  string
}

var secrets = sync.OnceValue(func() []secret {
	return []secret{
		{[]string{"-----begin "}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), Mark},
		{[]string{"bearer"}, regexp.MustCompile(`(?i)\b(bearer)[ \t]+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
		{[]string{"--token", "--gateway-token"}, regexp.MustCompile(`(?i)(--(?:gateway-)?token)([= \t]+)\S+`), "$1$2" + Mark},
		{[]string{"api_key", "apikey", "token", "secret", "password", "passwd", "private_key", "access_key"}, regexp.MustCompile(`(?i)([A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE_KEY|ACCESS_KEY))(\\?["']?\s*[=:]\s*)(\\"[^"\n]*"|"[^"\n]*"|'[^'\n]*'|[^\s"']+)`), "$1$2" + Mark},
		{[]string{"sk-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{8,}`), Mark},
		{[]string{"gh"}, regexp.MustCompile(`\bgh[a-z]_[A-Za-z0-9]{16,}`), Mark},
		{[]string{"github_pat_"}, regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{16,}`), Mark},
		{[]string{"akia"}, regexp.MustCompile(`\bAKIA[0-9A-Z]{12,}`), Mark},
		{[]string{"://"}, regexp.MustCompile(`(://)[^\s/@:]*:[^\s/]+@`), "${1}" + Mark + "@"},
	}
})

// Text replaces everything that looks like a secret.
func Text(s string) string {
	low := lower(s)
	for _, r := range secrets() {
		if slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(low, w) }) {
			s = r.re.ReplaceAllString(s, r.with)
			low = lower(s)
		}
	}
	return s
}

// lower is s in small letters, as a form without case sees it: the long s is
// one, too.
func lower(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// sensitive are the ends of names whose value is a secret, without case and
// punctuation.
var sensitive = []string{"token", "secret", "password", "passwd", "apikey", "privatekey", "accesskey", "authorization", "cookie", "credential", "credentials"}

// Name tells whether a field of that name holds a secret.
func Name(key string) bool {
	k := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, key)
	for _, s := range sensitive {
		if strings.HasSuffix(k, s) {
			return true
		}
	}
	return false
}

// Handler lets nothing that looks like a secret into a log.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ next slog.Handler }

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool { out.AddAttrs(attr(a)); return true })
	return h.next.Handle(ctx, out)
}

func (h handler) WithAttrs(as []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = attr(a)
	}
	return handler{h.next.WithAttrs(out)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.next.WithGroup(name)} }

func attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch {
	case Name(a.Key):
		return slog.String(a.Key, Mark)
	case v.Kind() == slog.KindGroup:
		var in []slog.Attr
		for _, x := range v.Group() {
			in = append(in, attr(x))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(in...)}
	case v.Kind() == slog.KindString, v.Kind() == slog.KindAny:
		return slog.String(a.Key, Text(v.String()))
	}
	return slog.Attr{Key: a.Key, Value: v}
}
