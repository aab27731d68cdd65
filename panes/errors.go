package panes

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoPane is returned for a pane id that the server does not have.
	ErrNoPane = errors.New("no such pane")
	// ErrNotSynced is returned while a pane's first sync is not done.
	ErrNotSynced = errors.New("pane is not mirrored yet")
	// ErrMoving is returned by Audit when the pane's output never paused.
	ErrMoving = errors.New("pane kept changing, its screen could not be audited")
	// ErrGap is returned by Tap.Next when bytes were dropped.
	ErrGap = errors.New("reader was too slow, bytes were dropped")
	// ErrServerGone is returned by everything after the server died.
	ErrServerGone = errors.New("terminal server is gone")
	// ErrUncertain is returned by Input when the server's answer was lost:
	// bytes may have gone out. It is never retried.
	ErrUncertain = errors.New("input may have been sent, the answer was lost")
)

// Refused is returned by Input when nothing was typed.
type Refused struct {
	Reason string // identity | mode | synchronized | cursor | screen | dead | input_off | text | owner | late | unread
	Detail string
}

func (r *Refused) Error() string { return fmt.Sprintf("nothing typed: %s (%s)", r.Detail, r.Reason) }

// Lasting tells whether a refusal's text names something that does not pass by
// itself: the same text sent again would be refused again until somebody does
// what the refusal says.
func Lasting(refusal string) bool {
	for _, reason := range []string{"dead", "mode", "synchronized", "input_off", "text", "owner", "unread"} {
		if strings.HasSuffix(refusal, " ("+reason+")") {
			return true
		}
	}
	return false
}
