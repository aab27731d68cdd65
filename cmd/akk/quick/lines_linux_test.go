package quick

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"akk/bridge/rpc"
)

// desk answers what quick asks; the rest of the daemon's door is the real one.
type desk struct {
	rpc.Desk
	servers []rpc.Server
	list    rpc.List
	asked   rpc.ListParams
	err     error
}

func (d *desk) Servers(context.Context) ([]rpc.Server, error) { return d.servers, nil }
func (d *desk) List(_ context.Context, _ rpc.Caller, p rpc.ListParams) (rpc.List, error) {
	d.asked = p
	return d.list, d.err
}
func (d *desk) Identify(context.Context, int) rpc.Caller { return rpc.Caller{Kind: "human"} }
func (d *desk) Discovered() uint64                       { return 0 }

// door serves a desk until the test ends.
func door(t *testing.T, d *desk, version string) talk {
	t.Helper()
	dir, err := os.MkdirTemp("", "akkq") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	ln, err := rpc.Listen(filepath.Join(dir, "run", "d.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = (&rpc.Door{Desk: d, Version: version, Store: dir, Started: time.Now()}).Serve(ctx, ln)
	}()
	t.Cleanup(func() { cancel(); <-done; os.RemoveAll(dir) })
	return talk{daemon: ln.Addr().String(), store: dir, tmux: "/tmp/tmux-0/default"}
}

func server(socket, state string) rpc.Server {
	return rpc.Server{Socket: socket, PID: 7, Start: time.Now(), Version: "3.3a", Panes: 12, State: state}
}

// Issue 6: the forms are those of the daemon's own door, the numbers rpc's.
func TestDoor(t *testing.T) {
	if protocol != string(rune('0'+rpc.Protocol)) || maxLine != rpc.MaxLine {
		t.Fatal("rpc has other numbers")
	}
	full := rpc.List{StoreDir: "/s", Terminals: []rpc.Row{{ID: "a\"\\<é\n", Reason: strings.Repeat("long ", 300_000)}}}
	for name, c := range map[string]struct {
		desk    desk
		version string
		only    bool
		want    bool
	}{
		"one":        {desk{servers: []rpc.Server{server("/tmp/tmux-0/default", "attached")}}, Version, false, true},
		"long":       {desk{list: full, servers: []rpc.Server{server("/a", "attached"), server("/tmp/tmux-0/default", "attached"), server("/b", "gone")}}, Version, true, true},
		"none":       {desk{}, Version, false, false},
		"recordings": {desk{servers: []rpc.Server{{Socket: "/tmp/tmux-0/default", PID: 7, Start: time.Now(), Version: "3.3a", Panes: 12, Recordings: 4, State: "attached"}}}, Version, false, true},
		"no list":    {desk{servers: []rpc.Server{}}, Version, false, false},
		"other":      {desk{servers: []rpc.Server{server("/tmp/tmux-0/def", "attached"), server("/tmp/tmux-0/default2", "attached")}}, Version, false, false},
		"gone":       {desk{servers: []rpc.Server{server("/tmp/tmux-0/default", "gone")}}, Version, false, false},
		"odd":        {desk{servers: []rpc.Server{server("/é\"", "attached"), server("/tmp/tmux-0/default", "attached")}}, Version, false, false},
		"error":      {desk{err: &rpc.Error{Code: rpc.CodeInternal, Message: "no"}, servers: []rpc.Server{server("/tmp/tmux-0/default", "attached")}}, Version, false, false},
		"version":    {desk{servers: []rpc.Server{server("/tmp/tmux-0/default", "attached")}}, Version + "1", false, false},
		"no number":  {desk{servers: []rpc.Server{server("/tmp/tmux-0/default", "attached")}}, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.desk
			to := door(t, &d, c.version)
			to.only = c.only
			got, ok := to.ask()
			if ok != c.want {
				t.Fatalf("%v, want %v", ok, c.want)
			}
			if !ok {
				return
			}
			if want := (rpc.ListParams{Socket: map[bool]string{true: to.tmux}[c.only]}); d.asked != want {
				t.Errorf("asked for %+v, want %+v", d.asked, want)
			}
			client, err := rpc.Dial(t.Context(), to.daemon, rpc.HelloParams{Client: "cli", Version: Version})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if want, err := client.ListJSON(t.Context(), d.asked); err != nil || !bytes.Equal(got, want) {
				t.Errorf("quick %d bytes, usual %d bytes, %v", len(got), len(want), err)
			}
		})
	}
}

// Issue 6: a daemon of another store, under our note, is not ours.
func TestOtherStore(t *testing.T) {
	to := door(t, &desk{servers: []rpc.Server{server("/tmp/tmux-0/default", "attached")}}, Version)
	to.store += "2"
	if _, ok := to.ask(); ok {
		t.Fatal("it was asked all the same")
	}
}

// The lines as a real daemon wrote them.
const (
	helloLine   = `{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"version":"dev","pid":17,"store_dir":"/s","started":"2026-11-30T17:40:00Z","caller":{"kind":"human","pid":4}}}`
	serversLine = `{"jsonrpc":"2.0","id":2,"result":[{"socket":"/a","pid":1,"start":"2026-11-30T17:40:00Z","version":"3.3a","panes":100,"agents":0,"state":"attached"},{"socket":"/b","pid":1,"start":"2026-11-30T17:40:00Z","version":"3.3a","panes":1,"agents":1,"state":"gone"}]}`
	noteText    = `{"pid":17,"socket":"/run/a.sock","version":"dev","started":"2026-11-30T17:40:00Z"}`
)

// FuzzHello: what is taken for a hello says, read as JSON, the same.
func FuzzHello(f *testing.F) {
	f.Add([]byte(helloLine))
	if !greeted([]byte(helloLine), "dev", "/s") || greeted([]byte(helloLine), "de", "/s") || greeted([]byte(helloLine), "dev", "/") ||
		greeted([]byte(strings.Replace(helloLine, `ol":1`, `ol":2`, 1)), "dev", "/s") {
		f.Fatal("a hello is misread")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !greeted(b, "dev", "/s") {
			return
		}
		var m struct {
			ID     int
			Result rpc.HelloResult
		}
		read, _, _ := bytes.Cut(b, []byte(`,"started":"`))
		if err := json.Unmarshal(append(bytes.Clone(read), "}}"...), &m); err != nil || m.ID != 1 || m.Result.Protocol != rpc.Protocol || m.Result.Version != "dev" || m.Result.StoreDir != "/s" {
			t.Fatalf("%s: %v", b, err)
		}
	})
}

// FuzzServers: what is taken for attached is, read as JSON, attached.
func FuzzServers(f *testing.F) {
	f.Add([]byte(serversLine))
	f.Add([]byte(serversHead + "]}"))
	if !attached([]byte(serversLine), "/a") || attached([]byte(serversLine), "/b") || attached([]byte(serversLine), "") {
		f.Fatal("the servers are misread")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !attached(b, "/a") {
			return
		}
		var m struct {
			ID     int
			Result []struct{ Socket, State string }
		}
		if err := json.Unmarshal(b, &m); err != nil || m.ID != 2 {
			t.Fatalf("%s: %v", b, err)
		}
		for _, s := range m.Result {
			if s.Socket == "/a" && s.State == "attached" {
				return
			}
		}
		t.Fatalf("%s", b)
	})
}

// FuzzList: the document is all that stands between the head and the last brace,
// as rpc.Client takes it.
func FuzzList(f *testing.F) {
	f.Add([]byte(listHead + `{"a":[]}}`))
	f.Add([]byte(listHead + `{}}`))
	f.Add([]byte(listHead + `}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, ok := listOf(b); ok && listHead+string(got)+"}" != string(b) {
			t.Fatalf("%s of %s", got, b)
		}
	})
}

// FuzzNote: what is taken for a note says, read as JSON, the same.
func FuzzNote(f *testing.F) {
	f.Add([]byte(noteText))
	if socket, version, ok := scanNote([]byte(noteText)); !ok || socket != "/run/a.sock" || version != "dev" {
		f.Fatal("the note is misread")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		socket, version, ok := scanNote(b)
		if !ok {
			return
		}
		var n struct{ Socket, Version string }
		if err := json.Unmarshal(b, &n); err != nil || n.Socket != socket || n.Version != version {
			t.Fatalf("%s: %q %q, %+v %v", b, socket, version, n, err)
		}
	})
}
