package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// This file reads the document's top and its two smaller objects.

const (
	idMax       = 64  // characters (R194)
	revisionMax = 128 // characters (R194)
)

var (
	idForm       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*([._-][a-z0-9]+)*$`) })
	revisionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`) })
)

const idWords = "small letters and digits, in parts joined by one of . _ -, beginning with a letter"

// Parse reads a user's document; source names it in errors. The error is an
// *Error with every fault that was found.
func Parse(source string, data []byte) (*Profile, error) { return parse(source, data, false) }

func parse(source string, data []byte, builtin bool) (*Profile, error) {
	if len(data) > FileMax {
		return nil, &Error{Source: source, Faults: []Fault{{Message: sizeFault}}}
	}
	root, fault := parseDocument(data, depthMax)
	if fault != nil {
		return nil, &Error{Source: source, Faults: []Fault{*fault}}
	}
	sum := sha256.Sum256(data)
	p := &Profile{Source: source, Fingerprint: hex.EncodeToString(sum[:])}
	c := &checker{}
	f := c.object(root, []string{"schema", "version", "id", "revision", "compatibility", "controllerContext", "callback"}, "$schema")
	c.fixed(f["$schema"], SchemaURL)
	c.fixed(f["schema"], Schema)
	if n := f["version"]; n != nil && c.integer(n, Version, Version) != Version && n.kind == kindNumber {
		c.fail(n, "this akk reads version %d only", Version)
	}
	p.ID = c.id(f["id"], builtin)
	p.Revision, _ = c.matching(f["revision"], revisionMax, revisionForm, "letters, digits and . _ : -, beginning with a letter or digit")
	c.compatibility(f["compatibility"], p)
	c.controller(f["controllerContext"], p)
	c.callback(f["callback"], p)
	if len(c.faults) > 0 {
		return nil, &Error{Source: source, Faults: c.faults}
	}
	return p, nil
}

func (c *checker) id(n *node, builtin bool) string {
	s, ok := c.matching(n, idMax, idForm, idWords)
	if ok && !builtin && (strings.HasPrefix(s, BuiltinPrefix)) {
		c.fail(n, "ids that begin with %q are akk's own", BuiltinPrefix)
	}
	return s
}

func (c *checker) compatibility(n *node, p *Profile) {
	f := c.object(n, []string{"host", "range"})
	p.Host, _ = c.matching(f["host"], idMax, idForm, idWords)
	if s, ok := c.text(f["range"], rangeMax); ok {
		r, err := parseRange(s)
		if err != nil {
			c.fail(f["range"], "%v", err)
		}
		p.Range = r
	}
}

func (c *checker) controller(n *node, p *Profile) {
	f := c.object(n, []string{"driver", "sessionIdVariable"}, "scope")
	c.fixed(f["driver"], DriverEnvironment)
	p.SessionVariable = c.variable(f["sessionIdVariable"])
	p.Scope = ScopeStartup
	if n := f["scope"]; n != nil {
		if p.Scope = Scope(n.str); n.kind != kindString || p.Scope != ScopeStartup && p.Scope != ScopeRouteBound {
			c.fail(n, "must be %q or %q", ScopeStartup, ScopeRouteBound)
		}
	}
}

// variable is the safe name of an environment variable.
func (c *checker) variable(n *node) string {
	s, ok := c.matching(n, nameMax, variableForm, "capital letters, digits and _, not beginning with a digit")
	if why := unsafeVariable(s); ok && why != "" {
		c.fail(n, "%s %s and can't be used", s, why)
	}
	return s
}
