package host

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"akk/bridge/host/profile"
)

// This file finds out whose bridge this is: from the environment that the Host
// gave its child, never from a tool argument (R190).

const (
	// SessionVariable is read when the Host names no other one.
	SessionVariable = profile.SharedVariable
	// sessionMax bounds the identity in characters (R198).
	sessionMax = 1024
)

// Session returns the Host's session identity. Without a variable ("") it is
// SessionVariable's value or, if that is unset, an identity of this process. A
// variable that was named must be there. ErrSession is returned for a value
// that is empty, not trimmed, longer than 1024 characters or with control
// characters in it (R198).
func Session(lookup func(string) (string, bool), variable string) (string, error) {
	name := variable
	if name == "" {
		name = SessionVariable
	}
	v, ok := lookup(name)
	switch {
	case !ok && variable == "":
		return "process-" + rand.Text(), nil
	case !ok:
		return "", fmt.Errorf("%w: %s is not set: let the host set it for this server", ErrSession, name)
	case v == "" || strings.TrimSpace(v) != v || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl):
		return "", fmt.Errorf("%w: %s is empty, has blanks at its ends or control characters in it", ErrSession, name)
	case utf8.RuneCountInString(v) > sessionMax:
		return "", fmt.Errorf("%w: %s is longer than %d characters", ErrSession, name, sessionMax)
	}
	return v, nil
}
