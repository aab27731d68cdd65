package profile

import _ "embed"

// This file holds the starter document and the schema as they are shipped.

//go:embed starter.json
var starter []byte

//go:embed host-profile-v1.schema.json
var schema []byte

// Starter is the document to begin with: a Host "my-agent" that takes callbacks
// by a command of its own.
func Starter() []byte { return append([]byte(nil), starter...) }

// JSONSchema is the structural contract of a profile for editors, draft
// 2020-12. Parse is stricter where a schema has no words.
func JSONSchema() []byte { return append([]byte(nil), schema...) }
