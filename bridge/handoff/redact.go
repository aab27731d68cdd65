package handoff

// This file takes secrets out of text that leaves the machine's screen for a
// Host or a log (CONTRACT-outputs §3.1, R225).

import secrets "akk/bridge/redact"

// redact replaces everything that looks like a secret.
func redact(s string) string { return secrets.Text(s) }
