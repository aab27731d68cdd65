package main

import (
	"context"
	"strings"
)

// connect reaches the daemon, starts it if nobody is there, and attaches it to
// the tmux server that the command is about. It returns that server's socket.
func (a *app) connect(ctx context.Context) (desk, string, error) {
	return nil, "", fail("later", "not wired yet")
}

// narrow is the server that an ID is looked for on: "%3" means the command's
// own server, a full id and a short ref are unique by themselves.
func (a *app) narrow(id, socket string) string {
	if a.named() || strings.HasPrefix(id, "%") {
		return socket
	}
	return ""
}
