package handoff

// This file holds what is left when the system has no event for an exit.

import (
	"context"
	"time"
)

// exitPoll is the pace of the fallback.
const exitPoll = time.Second

// waitExitSlow asks again and again whether the process still runs, for
// processes that have no event here (another pid namespace, an old kernel).
func waitExitSlow(ctx context.Context, still func() bool) bool {
	t := time.NewTicker(exitPoll)
	defer t.Stop()
	for still() {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
	return ctx.Err() == nil
}
