package agents

import (
	"fmt"
	"strings"
)

// String is "layer: rule [rows]".
func (r Reason) String() string {
	s := r.Layer + ": " + r.Rule
	if len(r.Rows) > 0 {
		s += " " + strings.ReplaceAll(fmt.Sprint(r.Rows), " ", ",")
	}
	return s
}

// MarshalText makes a Reason a plain string in JSON.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote; the rows are not taken back.
func (r *Reason) UnmarshalText(b []byte) error {
	layer, rule, ok := strings.Cut(string(b), ": ")
	if !ok {
		r.Layer, r.Rule = "", string(b)
		return nil
	}
	r.Layer, r.Rule = layer, rule
	return nil
}
