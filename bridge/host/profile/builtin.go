package profile

import (
	"fmt"
	"strings"
)

// This file holds the profiles that akk ships (R189). Their executable is akk
// itself, so their documents are made, not stored.

// Shipped is one of them.
type Shipped struct {
	ID    string `json:"id"`
	Host  string `json:"host"`
	Range string `json:"range"`
	Note  string `json:"note"` // one sentence: what the Host must do
}

// shipped is in the order of the list.
var shipped []Shipped

// List returns the shipped profiles.
func List() []Shipped { return append([]Shipped(nil), shipped...) }

func isBuiltin(name string) bool {
	for _, s := range shipped {
		if s.ID == name {
			return true
		}
	}
	return false
}

// Builtin returns a shipped profile.
func Builtin(id string) (*Profile, error) {
	if !isBuiltin(id) {
		return nil, fmt.Errorf("%w: akk ships no profile %q", ErrInvalid, strings.TrimSpace(id))
	}
	return nil, fmt.Errorf("%w: %s", ErrInvalid, id)
}
