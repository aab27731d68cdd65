package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// listDesk lists what was put there last, named by who asks for it.
type listDesk struct {
	fakeDesk
	rows atomic.Pointer[[]Row]
}

func (d *listDesk) List(_ context.Context, _ Caller, p ListParams) (List, error) {
	return List{StoreDir: p.Agent, Terminals: *d.rows.Load()}, nil
}

// set lists rows with these names; a name that begins with "-" was not written
// down.
func (d *listDesk) set(names ...string) {
	rows := []Row{}
	for _, n := range names {
		r := Row{ID: n}
		if !strings.HasPrefix(n, "-") {
			r.WriteDown()
		}
		rows = append(rows, r)
	}
	d.rows.Store(&rows)
}

// A list that the client has is not sent again, and every answer is the list as
// it is now, whatever was asked before.
func TestSpareList(t *testing.T) {
	t.Parallel()
	d := &listDesk{}
	d.set()
	_, path := serveDesk(t, d)
	c := dial(t, path, HelloParams{Client: "cli"})
	ctx := t.Context()
	ask := func(agent string) json.RawMessage {
		t.Helper()
		raw, err := c.ListJSON(ctx, ListParams{Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := marshal(List{StoreDir: agent, Terminals: *d.rows.Load()})
		if string(raw) != string(want) {
			t.Fatalf("%s\nwant %s", raw, want)
		}
		return raw
	}
	d.set("a", "b")
	first := ask("x")
	if again := ask("x"); &again[0] != &first[0] {
		t.Error("the same list was sent again")
	}
	d.set("a", "b") // written anew, the same bytes
	if again := ask("x"); &again[0] != &first[0] {
		t.Error("a list of the same bytes was sent again")
	}
	for range 300 {
		switch rand.IntN(4) {
		case 0:
			d.set([][]string{{}, {"a"}, {"a", "b"}, {"b", "a"}, {"-c"}, {"a", "-c"}}[rand.IntN(6)]...)
		default:
			ask([]string{"x", "x", "y"}[rand.IntN(3)])
		}
	}
}

// Calls at once on one connection get each its own list.
func TestSpareListsAtOnce(t *testing.T) {
	t.Parallel()
	d := &listDesk{}
	d.set("a")
	_, path := serveDesk(t, d)
	c := dial(t, path, HelloParams{Client: "cli"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("asker-%d", i/2)
			for n := range 200 {
				if i == 0 {
					d.set(fmt.Sprint("row-", n/10))
				}
				raw, err := c.ListJSON(t.Context(), ListParams{Agent: name})
				if err != nil || !strings.Contains(string(raw), name) {
					t.Errorf("%s got %.80s, %v", name, raw, err)
					return
				}
			}
		})
	}
	wg.Wait()
	raw, err := c.ListJSON(t.Context(), ListParams{Agent: "last"})
	if want, _ := marshal(List{StoreDir: "last", Terminals: *d.rows.Load()}); err != nil || string(raw) != string(want) {
		t.Errorf("%s, %v", raw, err)
	}
}
