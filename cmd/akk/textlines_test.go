package main

import (
	"bytes"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
)

// status and explain show a command of several lines as it would run (N7).
func TestCommandKeepsItsLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{out: &out}
	row := rpc.Row{Agent: "codex"}
	row.Reading.Activity, row.Reading.Owner = agents.Blocked, agents.OwnerApproval
	row.Reading.Dialog = &agents.Dialog{Kind: "exec", Command: "\nfor f in *; do  \r\n\techo \"a  b\"\n\ndone\n", Arguments: "{\n  \"x\": 1\n}"}
	if err := a.printStatus(rpc.Status{Terminal: &row}); err != nil {
		t.Fatal(err)
	}
	if want := "asks        for f in *; do\n             echo \"a  b\"\n\n            done\n"; !strings.Contains(out.String(), want) {
		t.Errorf("want %q in\n%s", want, &out)
	}
	out.Reset()
	e := rpc.Explain{Reading: row.Reading.Reading}
	if err := a.printExplain(e, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  command   for f in *; do\n             echo \"a  b\"\n\n            done\n", "  gets      {\n              \"x\": 1\n            }\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, &out)
		}
	}
	if rows := textRows("x", " \n\n"); rows != nil {
		t.Errorf("%q", rows)
	}
}
