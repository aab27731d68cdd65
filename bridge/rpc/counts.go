package rpc

import "fmt"

// Counts says what is on a server: "5 panes, 1 agent". Recordings, which are no
// agents, are named only where some play.
func (s Server) Counts() string {
	out := number(s.Panes, "pane") + ", " + number(s.Agents, "agent")
	if s.Recordings > 0 {
		out += ", " + number(s.Recordings, "recording")
	}
	return out
}

func number(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}
