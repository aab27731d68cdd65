package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file is the model-facing sanitiser (CONTRACT-outputs §1.2): a model
// never gets what would let it name a proof, a binding or a generation. It
// works on any document, so a new field is caught by its name. One pass over
// the JSON text copies what may stay.

// dropEnds are the ends of a key, without case and punctuation.
var dropEnds = []string{"token", "fingerprint", "hash", "sha256", "digest", "revision", "revisions", "bindingid", "bindingids", "bindinggeneration", "bindinggenerations"}

// dropWhole are whole keys, in the same form.
var dropWhole = map[string]bool{
	"generation": true, "generationid": true, "acceptanceevidence": true, "candidaterollouts": true, "rolloutanchor": true, "transcriptanchor": true,
	"rolloutinventory": true, "challenge": true, "etag": true, "livenativethreadid": true, "nativesessiontakeover": true, "nonce": true, "proof": true,
	"selectionhandle": true, "selectionsnapshot": true, "selectionscope": true, "snapshotid": true, "expectedapprovalfingerprint": true,
}

const dropStart = "expectedcallback"

// scrubEnds are the ends of keys whose text is searched for authority.
var scrubEnds = []string{"reason", "error", "warning", "diagnostic", "diagnostics", "errors", "warnings"}

// rule is what happens to the value of a key.
type rule uint8

const (
	keep    rule = iota
	drop         // key and value
	scrubIt      // its texts are searched for authority
	names        // a list of keys: those that would be dropped are left out
)

func dropped(key string) bool { return ruleOf(key) == drop }

func ruleOf(key string) rule {
	k := plain(key)
	ends := func(e string) bool { return strings.HasSuffix(k, e) }
	switch {
	case dropWhole[k], strings.HasPrefix(k, dropStart), slices.ContainsFunc(dropEnds, ends):
		return drop
	case key == "missing_required":
		return names
	case slices.ContainsFunc(scrubEnds, ends):
		return scrubIt
	}
	return keep
}

// rulesMax bounds what rules remembers: keys come from our own documents, but
// also from a dialog's options.
const rulesMax = 4096

// rules remembers ruleOf by the key's JSON text.
var rules = struct {
	sync.RWMutex
	of map[string]rule
}{of: map[string]rule{}}

func ruleOfJSON(quoted []byte) rule {
	rules.RLock()
	r, ok := rules.of[string(quoted)]
	rules.RUnlock()
	if ok {
		return r
	}
	var key string
	if json.Unmarshal(quoted, &key) != nil {
		return drop // can't be read: not shown
	}
	r = ruleOf(key)
	rules.Lock()
	if len(rules.of) < rulesMax {
		rules.of[string(quoted)] = r
	}
	rules.Unlock()
	return r
}

// plain lowers a key and drops its punctuation.
func plain(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, key)
}

// authority is a digest in a sentence: 32 or more hexadecimal digits.
var authority = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`) })

// authorityMin is the least that authority matches, in bytes.
const authorityMin = 32

func scrub(s string) string {
	if !mayHoldAuthority(s) {
		return s
	}
	return authority().ReplaceAllString(s, "[removed]")
}

// mayHoldAuthority is the quick look before the expression's.
func mayHoldAuthority[T string | []byte](s T) bool {
	n := 0
	for i := 0; i < len(s) && n < authorityMin; i++ {
		if c := s[i] | 0x20; s[i] >= '0' && s[i] <= '9' || c >= 'a' && c <= 'f' {
			n++
		} else {
			n = 0
		}
	}
	return n >= authorityMin
}

// sanitise returns the document as JSON without the private parts.
func sanitise(doc any) (json.RawMessage, error) {
	in, ok := doc.(json.RawMessage) // as the daemon wrote it
	if !ok {
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		if err := e.Encode(doc); err != nil {
			return nil, err
		}
		in = buf.Bytes()
	}
	c := cleaner{in: bytes.TrimSpace(in)}
	c.out = make([]byte, 0, len(c.in))
	c.value(keep)
	if c.bad || c.i != len(c.in) {
		return nil, errNotJSON
	}
	return c.out, nil
}

var errNotJSON = errors.New("the document is not JSON") // a fault of a MarshalJSON

// cleaner copies valid JSON without white space between its parts, as
// encoding/json writes it.
type cleaner struct {
	in, out []byte
	i       int
	bad     bool
}

func (c *cleaner) peek() byte {
	if c.i >= len(c.in) {
		c.bad = true
		return 0
	}
	return c.in[c.i]
}

// take copies one byte, which must be b.
func (c *cleaner) take(b byte) {
	if c.peek() != b {
		c.bad = true
		return
	}
	c.out, c.i = append(c.out, b), c.i+1
}

// text is the string that begins here, with its quotes.
func (c *cleaner) text() []byte {
	for j := c.i + 1; j < len(c.in); j++ {
		switch c.in[j] {
		case '\\':
			j++
		case '"':
			s := c.in[c.i : j+1]
			c.i = j + 1
			return s
		}
	}
	c.bad, c.i = true, len(c.in)
	return nil
}

func (c *cleaner) value(r rule) {
	switch b := c.peek(); b {
	case '{':
		c.list('{', '}', func() bool {
			start := len(c.out)
			if c.peek() != '"' {
				c.bad = true
				return false
			}
			key := c.text()
			kr := ruleOfJSON(key)
			c.out = append(c.out, key...)
			c.take(':')
			c.value(kr)
			if kr == drop {
				c.out = c.out[:start]
			}
			return kr != drop
		})
	case '[':
		c.list('[', ']', func() bool {
			start := len(c.out)
			if r == names && c.peek() == '"' && ruleOfJSON(c.in[c.i:c.end()]) == drop {
				c.text()
				c.out = c.out[:start]
				return false
			}
			c.value(r)
			return true
		})
	case '"':
		s := c.text()
		// An escape in a row of digits is no digit: only what is a row as it
		// stands here, or is written with \u, can be one.
		if r == scrubIt && !c.bad && (mayHoldAuthority(s) || bytes.Contains(s, []byte(`\u`))) {
			var v string
			if json.Unmarshal(s, &v) == nil && authority().MatchString(v) {
				s, _ = json.Marshal(scrub(v)) // a string always marshals
			}
		}
		c.out = append(c.out, s...)
	default:
		j := c.i
		for c.i < len(c.in) && c.in[c.i] != ',' && c.in[c.i] != ']' && c.in[c.i] != '}' {
			c.i++
		}
		if c.i == j {
			c.bad = true
		}
		c.out = append(c.out, c.in[j:c.i]...)
	}
}

// end is where the string that begins here ends.
func (c *cleaner) end() int {
	at := c.i
	c.text()
	end := c.i
	c.i = at
	return end
}

// list copies what one writes, with commas between what it kept.
func (c *cleaner) list(open, shut byte, one func() (kept bool)) {
	c.take(open)
	for any := false; !c.bad && c.peek() != shut; {
		start := len(c.out)
		if any {
			c.out = append(c.out, ',')
		}
		if one() {
			any = true
		} else {
			c.out = c.out[:start]
		}
		if c.bad || c.peek() != ',' {
			break
		}
		c.i++
	}
	c.take(shut)
}
