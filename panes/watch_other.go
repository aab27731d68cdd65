//go:build !linux && !darwin

package panes

import (
	"context"
	"strconv"
	"time"
)

// This file stands in where there is neither pidfd nor kqueue: the process table
// is asked for one process, once in a while, and each look after output makes
// the list be read again.

// endGap is how often a pane's process is asked for.
const endGap = time.Second

func processEnd(ctx context.Context, pid int) bool {
	tick := time.NewTicker(endGap)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			if !processAlive(pid) {
				return true
			}
		}
	}
}

func foreground(int) string { return strconv.FormatInt(time.Now().UnixNano(), 10) }
