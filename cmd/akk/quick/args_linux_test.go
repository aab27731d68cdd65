package quick

import "testing"

// Issue 6: only the plain command lines are ours.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want question
	}{
		{[]string{"list", "--json"}, question{}},
		{[]string{"--json", "ls"}, question{}},
		{[]string{"-L", "work", "list", "--json"}, question{server: "work"}},
		{[]string{"list", "--server", "work", "--json"}, question{server: "work"}},
		{[]string{"list", "--json", "--server=work"}, question{server: "work"}},
		{[]string{"list", "-S", "/a/b", "--json"}, question{socket: "/a/b"}},
		{[]string{"list", "--socket", "/a/b", "--json", "--store-dir", "/s"}, question{socket: "/a/b", store: "/s"}},
		{[]string{"--socket=/a=b", "--store-dir=/s", "list", "--json"}, question{socket: "/a=b", store: "/s"}},
	} {
		if q, ok := parse(c.args); !ok || q != c.want {
			t.Errorf("%q: %+v %v", c.args, q, ok)
		}
	}
	for _, args := range [][]string{
		nil, {""}, {"list"}, {"--json"}, {"version", "--json"}, {"list", "--json", "--json"}, {"list", "ls", "--json"}, {"list", "list", "--json"},
		{"list", "--json", "--all"}, {"list", "--json=true"}, {"list", "--json", "--"}, {"list", "--json", "x"}, {"list", "--json", "--agent", "codex"},
		{"list", "--json", "-L"}, {"list", "--json", "-L", ""}, {"list", "--json", "--server="}, {"list", "--json", "-L", "a", "-L", "a"},
		{"list", "--json", "-L", "a", "-S", "/b"}, {"list", "--json", "-La"}, {"list", "--json", "-L=a"}, {"list", "--json", "-S", "--json"},
		{"-L", "list", "--json"}, {"-L", "list", "list", "--json"}, {"list", "--json", "--config", "/x"}, {"list", "--json", "--config=/x"},
		{"list", "--json", "--help"}, {"help", "list", "--json"}, {"list", "--json=", "="}, {"-test.run=list", "--json", "list"},
	} {
		if q, ok := parse(args); ok {
			t.Errorf("%q is taken for %+v", args, q)
		}
	}
}
