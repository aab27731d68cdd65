package main

import (
	"context"

	"akk/panes"
)

// attachTmux opens the mirrors of a tmux server.
func attachTmux(ctx context.Context, socket string) (panes.Provider, error) {
	s, err := panes.Open(ctx, panes.Options{Socket: socket})
	if err != nil {
		return nil, err
	}
	return s, nil
}
