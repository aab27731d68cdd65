package profile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file holds the checks that every part of the document needs. All faults
// are gathered; a value with a fault is the zero value.

type checker struct{ faults []Fault }

func (c *checker) fail(n *node, format string, args ...any) {
	c.failAt(n.pointer, n.line, format, args...)
}

func (c *checker) failAt(pointer string, line int, format string, args ...any) {
	if len(pointer) > pointerShown {
		pointer = strings.ToValidUTF8(pointer[:pointerShown], "") + "..."
	}
	if len(c.faults) < faultsMax {
		c.faults = append(c.faults, Fault{Pointer: pointer, Line: line, Message: fmt.Sprintf(format, args...)})
	}
}

// object returns the named fields of n. Whatever else is there, or there twice,
// is a fault, and so is a required one that is missing (R192).
func (c *checker) object(n *node, required []string, optional ...string) map[string]*node {
	out := map[string]*node{}
	if n == nil {
		return out
	}
	if n.kind != kindObject {
		c.fail(n, "must be an object, it is %s", n.kind)
		return out
	}
	for _, m := range n.members {
		switch {
		case !slices.Contains(required, m.name) && !slices.Contains(optional, m.name):
			c.failAt(m.node.pointer, m.line, "is no field here (%s)", strings.Join(append(slices.Clone(required), optional...), ", "))
		case out[m.name] != nil:
			c.failAt(m.node.pointer, m.line, "is there twice")
		default:
			out[m.name] = m.node
		}
	}
	for _, name := range required {
		if out[name] == nil {
			c.fail(n, "lacks the field %q", name)
		}
	}
	return out
}

// text is a string of at most limit characters.
func (c *checker) text(n *node, limit int) (string, bool) {
	switch {
	case n == nil:
		return "", false
	case n.kind != kindString:
		c.fail(n, "must be a string, it is %s", n.kind)
		return "", false
	case utf8.RuneCountInString(n.str) > limit:
		c.fail(n, "is longer than %d characters", limit)
		return "", false
	}
	return n.str, true
}

// matching is a text of a certain form.
func (c *checker) matching(n *node, limit int, form func() *regexp.Regexp, what string) (string, bool) {
	s, ok := c.text(n, limit)
	if ok && !form().MatchString(s) {
		c.fail(n, "must be %s", what)
		return "", false
	}
	return s, ok
}

// fixed is a text that has one value only.
func (c *checker) fixed(n *node, want string) {
	if n == nil {
		return
	}
	if n.kind != kindString || n.str != want {
		c.fail(n, "must be %q", want)
	}
}

// integer is a whole number, however it is written (as in JSON Schema).
func (c *checker) integer(n *node, low, high int) int {
	if n == nil {
		return 0
	}
	if n.kind != kindNumber {
		c.fail(n, "must be a whole number from %d to %d, it is %s", low, high, n.kind)
		return 0
	}
	f, err := n.num.Float64()
	if err != nil || f != math.Trunc(f) || f < float64(low) || f > float64(high) {
		c.fail(n, "must be a whole number from %d to %d", low, high)
		return 0
	}
	return int(f)
}

// array has low to high items.
func (c *checker) array(n *node, low, high int) []*node {
	if n == nil {
		return nil
	}
	if n.kind != kindArray {
		c.fail(n, "must be an array, it is %s", n.kind)
		return nil
	}
	if len(n.items) < low || len(n.items) > high {
		c.fail(n, "must have %d to %d entries, it has %d", low, high, len(n.items))
		return nil
	}
	return n.items
}
