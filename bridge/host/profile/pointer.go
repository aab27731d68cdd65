package profile

import (
	"regexp"
	"strings"
	"sync"
)

// This file holds JSON Pointers (RFC 6901) of an acknowledgement: how they may
// look (R205) and how they are followed.

const (
	pointerMax       = 256 // characters
	pointerTokensMax = 16
)

var pointerForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/([^~/]|~[01])*)+$`) })

// Pointer are the tokens of a JSON Pointer, unescaped. nil = none.
type Pointer []string

func (c *checker) pointer(n *node) Pointer {
	s, ok := c.matching(n, pointerMax, pointerForm, `a JSON Pointer that begins with "/" (~ is written ~0, / in a name ~1)`)
	if !ok {
		return nil
	}
	tokens := strings.Split(s[1:], "/")
	if len(tokens) > pointerTokensMax {
		c.fail(n, "has more than %d parts", pointerTokensMax)
		return nil
	}
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens
}

// Text follows the pointer in a decoded JSON value (any of encoding/json) to a
// string; ok is false if there is none.
func (p Pointer) Text(doc any) (s string, ok bool) {
	for _, t := range p {
		switch v := doc.(type) {
		case map[string]any:
			if doc, ok = v[t]; !ok {
				return "", false
			}
		case []any:
			i, ok := index(t, len(v))
			if !ok {
				return "", false
			}
			doc = v[i]
		default:
			return "", false
		}
	}
	s, ok = doc.(string)
	return s, ok
}

// index reads an array index as RFC 6901 wants it: digits without a leading 0.
func index(t string, n int) (int, bool) {
	if t == "" || len(t) > 7 || (t[0] == '0' && len(t) > 1) {
		return 0, false
	}
	i := 0
	for _, r := range t {
		if r < '0' || r > '9' {
			return 0, false
		}
		i = 10*i + int(r-'0')
	}
	return i, i < n
}
