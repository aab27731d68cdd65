package claude

import "akk/agents"

// reasons collects the evidence of one reading.
type reasons struct{ list []agents.Reason }

func (r *reasons) add(layer, rule string, rows ...int) {
	r.list = append(r.list, agents.Reason{Layer: layer, Rule: rule, Rows: rows})
}
