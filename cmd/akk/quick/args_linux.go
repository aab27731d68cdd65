package quick

// This file reads the command line. It knows only the plain forms: whatever a
// human may mean by another one is the usual command's to find out.

// question is what was asked for; "" = not named.
type question struct {
	store  string // --store-dir
	socket string // -S
	server string // -L
}

// parse reads the arguments behind the program's name; false = not ours.
func parse(args []string) (q question, ok bool) {
	list, json := false, false
	for i := 0; i < len(args); i++ {
		var to *string
		switch a := args[i]; a {
		case "list", "ls":
			if list {
				return q, false
			}
			list = true
			continue
		case "--json":
			if json {
				return q, false
			}
			json = true
			continue
		case "--store-dir":
			to = &q.store
		case "-S", "--socket":
			to = &q.socket
		case "-L", "--server":
			to = &q.server
		default:
			value := ""
			if to, value = q.joined(a); to == nil || !set(to, value) {
				return q, false
			}
			continue
		}
		if i++; i == len(args) || !set(to, args[i]) {
			return q, false
		}
	}
	return q, list && json && (q.socket == "" || q.server == "")
}

// joined reads --option=value.
func (q *question) joined(a string) (to *string, value string) {
	for i := range len(a) {
		if a[i] != '=' {
			continue
		}
		switch a[:i] {
		case "--store-dir":
			to = &q.store
		case "--socket":
			to = &q.socket
		case "--server":
			to = &q.server
		}
		return to, a[i+1:]
	}
	return nil, ""
}

// set refuses a second value, and one that could be something else.
func set(to *string, value string) bool {
	if *to != "" || value == "" || value[0] == '-' || value == "list" || value == "ls" {
		return false
	}
	*to = value
	return true
}
