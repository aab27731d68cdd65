package outbox

// This file makes canonical JSON and the ids that are hashes of it. It upholds
// R183: two processes that see the same event make the same ids.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Canonical is v as JSON with sorted keys, without white space and HTML escapes.
func Canonical(v any) ([]byte, error) {
	raw, err := plain(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var any any
	if err := d.Decode(&any); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return plain(any) // maps are written with sorted keys
}

func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Digest is sha256 in hex over the canonical form; "" when v has none, which
// no value of this package's types is.
func Digest(v any) string {
	b, err := Canonical(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
