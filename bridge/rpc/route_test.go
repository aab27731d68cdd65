package rpc

import (
	"context"
	"testing"
)

// routeDesk tells who called.
type routeDesk struct {
	Desk
	got chan Caller
}

func (d *routeDesk) WatchStatus(_ context.Context, c Caller, _ WatchIDParams) (WatchResult, error) {
	d.got <- c
	return WatchResult{}, nil
}

// R177: only a bridge brings a route, in its hello; no other client has one,
// whatever it says, and no parameter of a method is one.
func TestR177RouteOnlyFromBridge(t *testing.T) {
	d := &routeDesk{got: make(chan Caller, 1)}
	_, path := serve(t, &fakeDesk{Desk: d, who: Caller{Kind: "human"}})
	route := &Route{Schema: "agent-knock-knock/callback-route", Version: 1, Transport: "command_json_v1", ProfileID: "p", ProfileRevision: "r", ControllerSessionID: "s"}
	for client, want := range map[string]bool{"host-bridge": true, "cli": false, "sidebar": false, "hook": false, "test": false} {
		c := dial(t, path, HelloParams{Client: client, Session: "s", Route: route})
		if _, err := c.WatchStatus(t.Context(), WatchIDParams{WatchID: "w"}); err != nil {
			t.Fatal(err)
		}
		got := <-d.got
		if (got.Route != nil) != want || (got.Session != "") != want {
			t.Errorf("%s: %+v", client, got)
		}
		var r WatchResult
		if err := c.call(t.Context(), MethodWatchStatus, map[string]any{"watch_id": "w", "route": route}, &r); err == nil {
			t.Errorf("%s: a route was taken as a parameter", client)
		}
		c.Close()
	}
}
