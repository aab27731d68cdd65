package daemon

import (
	"net"
	"time"
)

// listens tells whether somebody answers on a socket, so that the pid in the
// note beside it is still the daemon's.
func listens(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
