package handoff

// This file holds what is left when the system has no event for an exit.

import (
	"context"
	"syscall"
	"time"
)

// exitPoll is the pace of the fallback; one signal-0 per agent.
const exitPoll = time.Second

func waitExitSlow(ctx context.Context, pid int) bool {
	t := time.NewTicker(exitPoll)
	defer t.Stop()
	for {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
}
