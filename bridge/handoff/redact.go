package handoff

// This file takes secrets out of text that leaves the machine's screen for a
// Host or a log (CONTRACT-outputs §3.1, R225). What is replaced can't be read
// back.

import "regexp"

const redacted = "[redacted]"

var secrets = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`(?i)\b(bearer)[ \t]+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + redacted},
	{regexp.MustCompile(`(?i)(--(?:gateway-)?token)([= \t]+)\S+`), "$1$2" + redacted},
	{regexp.MustCompile(`(?i)\b([A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE_KEY|ACCESS_KEY))(\s*[=:]\s*)("[^"\n]*"|'[^'\n]*'|[^\s"']+)`), "$1$2" + redacted},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{8,}`), redacted},
	{regexp.MustCompile(`\bgh[a-z]_[A-Za-z0-9]{16,}`), redacted},
	{regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{16,}`), redacted},
	{regexp.MustCompile(`\bAKIA[0-9A-Z]{12,}`), redacted},
	{regexp.MustCompile(`\b([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@`), "${1}" + redacted + "@"},
}

// redact replaces everything that looks like a secret.
func redact(s string) string {
	for _, r := range secrets {
		s = r.re.ReplaceAllString(s, r.with)
	}
	return s
}
