package controlmode

// This file numbers panes. tmux counts them from 0 on, so what is known of each
// stands in a list: thousands of times a second, a map is the slower way.

// maxPane bounds such lists; a server that counted further is served all the
// same.
const maxPane = 1 << 14

// PaneNumber is 12 for "%12"; false for what is no pane's id as tmux writes it,
// and from 16384 on.
func PaneNumber[T string | []byte](id T) (int, bool) {
	if len(id) < 2 || id[0] != '%' || id[1] == '0' && len(id) > 2 {
		return 0, false
	}
	n := 0
	for i := 1; i < len(id); i++ {
		if id[i] < '0' || id[i] > '9' {
			return 0, false
		}
		if n = n*10 + int(id[i]-'0'); n >= maxPane {
			return 0, false
		}
	}
	return n, true
}

// names are the ids of panes as strings, each made once.
type names struct{ list []string }

func (n *names) of(id []byte) string {
	i, ok := PaneNumber(id)
	if !ok {
		return string(id)
	}
	for len(n.list) <= i {
		n.list = append(n.list, "")
	}
	if n.list[i] == "" {
		n.list[i] = string(id)
	}
	return n.list[i]
}
