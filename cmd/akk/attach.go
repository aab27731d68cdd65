package main

import (
	"context"

	"akk/panes"
)

// attachTmux opens the mirrors of tmux servers, over the transport of the
// settings. A second daemon on a server is told of the first one's store.
func attachTmux(transport, store string) func(context.Context, string) (panes.Provider, error) {
	return func(ctx context.Context, socket string) (panes.Provider, error) {
		s, err := panes.Open(ctx, panes.Options{Socket: socket, Transport: panes.Transport(transport), Owner: "akk with the store " + store})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}
