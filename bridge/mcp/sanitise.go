package mcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// This file is the model-facing sanitiser (CONTRACT-outputs §1.2): a model
// never gets what would let it name a proof, a binding or a generation. It
// works on any document, so a new field is caught by its name.

// dropEnds are the ends of a key, without case and punctuation.
var dropEnds = []string{"token", "fingerprint", "hash", "sha256", "digest", "revision", "revisions", "bindingid", "bindingids", "bindinggeneration", "bindinggenerations"}

// dropWhole are whole keys, in the same form.
var dropWhole = map[string]bool{
	"generation": true, "generationid": true, "acceptanceevidence": true, "candidaterollouts": true, "rolloutanchor": true, "transcriptanchor": true,
	"rolloutinventory": true, "challenge": true, "etag": true, "livenativethreadid": true, "nativesessiontakeover": true, "nonce": true, "proof": true,
	"selectionhandle": true, "selectionsnapshot": true, "selectionscope": true, "snapshotid": true, "expectedapprovalfingerprint": true,
}

const dropStart = "expectedcallback"

func dropped(key string) bool {
	k := plain(key)
	return dropWhole[k] || strings.HasPrefix(k, dropStart) || slices.ContainsFunc(dropEnds, func(e string) bool { return strings.HasSuffix(k, e) })
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

// scrubEnds are the ends of keys whose text is searched for authority.
var scrubEnds = []string{"reason", "error", "warning", "diagnostic", "diagnostics", "errors", "warnings"}

// authority is a digest in a sentence: 32 or more hexadecimal digits.
var authority = regexp.MustCompile(`\b[0-9a-fA-F]{32,}\b`)

func scrub(s string) string { return authority.ReplaceAllString(s, "[removed]") }

// sanitise returns the document as JSON without the private parts.
func sanitise(doc any) (json.RawMessage, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(clean("", v)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// clean works in place on what json made.
func clean(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if dropped(k) {
				delete(v, k)
				continue
			}
			v[k] = clean(k, x)
		}
		return v
	case []any:
		if key == "missing_required" {
			return slices.DeleteFunc(v, func(x any) bool { s, ok := x.(string); return ok && dropped(s) })
		}
		for i, x := range v {
			v[i] = clean(key, x)
		}
		return v
	case string:
		k := plain(key)
		if slices.ContainsFunc(scrubEnds, func(e string) bool { return strings.HasSuffix(k, e) }) {
			return scrub(v)
		}
	}
	return v
}
