package profile

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"akk/bridge/rpc"
)

// This file reads the callback: command, arguments, limits, acknowledgement.

// The limits of R199 to R205. Lengths are characters.
const (
	executableMax = 4096
	argumentsMax  = 64
	argumentMax   = 4096
	argumentsSum  = 16384
	allowMax      = 32
	timeoutMaxMS  = 30_000
	outputMax     = 1 << 20 // bytes
	mappingMax    = 16
)

// bodyPlaceholder may stand in stdin only.
const bodyPlaceholder = "${envelope.body}"

// placeholders are what an argument may hold.
var placeholders = []struct {
	name     string
	required bool
	value    func(Values) string
}{
	{"${controller.session_id}", true, func(v Values) string { return v.Session }},
	{"${envelope.delivery_id}", true, func(v Values) string { return v.DeliveryID }},
	{"${envelope.message_id}", true, func(v Values) string { return v.MessageID }},
	{"${envelope.idempotency_key}", false, func(v Values) string { return v.IdempotencyKey }},
}

// shellSyntax has no place in an argument (R200).
var shellSyntax = []string{"\x00", "\n", "\r", ";", "`", "<", ">", "|", "&&"}

var mappingForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`) })

// outcomes are the four words of R179.
var outcomes = []string{rpc.OutcomeAccepted, rpc.OutcomeRetryable, rpc.OutcomePermanent, rpc.OutcomeUncertain}

func (c *checker) callback(n *node, p *Profile) {
	f := c.object(n, []string{"driver", "executable", "arguments", "stdin", "environment", "timeoutMs", "maxOutputBytes", "acknowledgement"})
	c.fixed(f["driver"], DriverCommand)
	c.fixed(f["stdin"], bodyPlaceholder)
	b := &p.Callback
	b.Executable = c.executable(f["executable"])
	b.Arguments = c.arguments(f["arguments"])
	allow := c.object(f["environment"], []string{"allow"})["allow"]
	for _, n := range c.array(allow, 0, allowMax) {
		name := c.variable(n)
		if slices.Contains(b.Environment, name) {
			c.fail(n, "%s is there twice", name)
		}
		b.Environment = append(b.Environment, name)
	}
	b.Timeout = time.Duration(c.integer(f["timeoutMs"], 1, timeoutMaxMS)) * time.Millisecond
	b.MaxOutput = c.integer(f["maxOutputBytes"], 1, outputMax)
	c.acknowledgement(f["acknowledgement"], &b.Ack)
}

func (c *checker) executable(n *node) string {
	s, ok := c.text(n, executableMax)
	switch {
	case !ok:
	case !strings.HasPrefix(s, "/") || path.Clean(s) != s || s == "/":
		c.fail(n, "must be a normalised absolute path (no //, /./, /../ or / at the end)")
	case strings.Contains(s, "${"):
		c.fail(n, "must not hold a placeholder")
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		c.fail(n, "must not hold control characters")
	case slices.Contains(shells, path.Base(s)):
		c.fail(n, "%s runs whatever it is told; name the program itself", path.Base(s))
	}
	return s
}

func (c *checker) arguments(n *node) (out []Template) {
	items := c.array(n, 1, argumentsMax)
	seen, sum, whole := map[string]bool{}, 0, items != nil
	for _, n := range items {
		s, ok := c.text(n, argumentMax)
		whole = whole && ok
		sum += utf8.RuneCountInString(s)
		out = append(out, c.template(n, s, seen))
	}
	if sum > argumentsSum {
		c.fail(n, "is longer than %d characters in all", argumentsSum)
	}
	for _, p := range placeholders {
		if whole && p.required && !seen[p.name] {
			c.fail(n, "must hold %s", p.name)
		}
	}
	return out
}

// template splits an argument at its placeholders.
func (c *checker) template(n *node, s string, seen map[string]bool) (t Template) {
	for _, bad := range shellSyntax {
		if strings.Contains(s, bad) {
			c.fail(n, "must not hold %q: it is no shell's line", bad)
			return nil
		}
	}
	for s != "" {
		at := strings.IndexByte(s, '$')
		if at != 0 {
			if at < 0 {
				at = len(s)
			}
			t, s = append(t, templatePart{text: s[:at]}), s[at:]
			continue
		}
		found := false
		for _, p := range placeholders {
			if strings.HasPrefix(s, p.name) {
				t, s, found = append(t, templatePart{value: p.value}), s[len(p.name):], true
				seen[p.name] = true
				break
			}
		}
		switch {
		case found:
		case strings.HasPrefix(s, bodyPlaceholder):
			c.fail(n, "the body goes to stdin, never into an argument: others can read a program's arguments")
			return nil
		default:
			c.fail(n, "holds a $ that begins none of %s", placeholderNames())
			return nil
		}
	}
	return t
}

func placeholderNames() string {
	var names []string
	for _, p := range placeholders {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

func (c *checker) acknowledgement(n *node, a *Acknowledgement) {
	f := c.object(n, []string{"disposition", "acceptanceId", "acknowledgedDeliveryId", "acknowledgedMessageId"})
	d := c.object(f["disposition"], []string{"jsonPointer", "mapping"})
	a.Disposition = c.pointer(d["jsonPointer"])
	a.Mapping = c.mapping(d["mapping"])
	a.Acceptance = c.pointer(c.object(f["acceptanceId"], []string{"jsonPointer"})["jsonPointer"])
	a.Delivery = c.pointer(c.object(f["acknowledgedDeliveryId"], []string{"jsonPointer"})["jsonPointer"])
	a.Message = c.pointer(c.object(f["acknowledgedMessageId"], []string{"jsonPointer"})["jsonPointer"])
	if a.Delivery != nil && slices.Equal(a.Delivery, a.Message) {
		c.fail(f["acknowledgedMessageId"], "points where acknowledgedDeliveryId points: one place can't echo two ids")
	}
}

func (c *checker) mapping(n *node) map[string]string {
	if n == nil {
		return nil
	}
	if n.kind != kindObject {
		c.fail(n, "must be an object, it is %s", n.kind)
		return nil
	}
	if len(n.members) < 1 || len(n.members) > mappingMax {
		c.fail(n, "must have 1 to %d entries, it has %d", mappingMax, len(n.members))
		return nil
	}
	out, accepts := map[string]string{}, false
	for _, m := range n.members {
		if _, twice := out[m.name]; twice {
			c.failAt(m.node.pointer, m.line, "is there twice")
		}
		if !mappingForm().MatchString(m.name) {
			c.failAt(m.node.pointer, m.line, "a word of the host is 1 to 64 letters, digits and . _ : -, beginning with a letter or digit")
		}
		if m.node.kind != kindString || !slices.Contains(outcomes, m.node.str) {
			c.fail(m.node, "must be one of %s", strings.Join(outcomes, ", "))
		}
		out[m.name] = m.node.str
		accepts = accepts || m.node.str == rpc.OutcomeAccepted
	}
	if !accepts {
		c.fail(n, "no word means %s: nothing could ever be delivered", rpc.OutcomeAccepted)
	}
	return out
}
