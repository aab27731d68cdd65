package panes

import (
	"time"

	"akk/controlmode"
)

// This file is how we leave a server: so that it does not die of it. Clients
// that go at the same time while panes write make tmux exit ("not enough data",
// measured on 3.3a: 12 clients of which one shows a flood, dead after 1 to 20
// times; one after the other, none in 80).

// leaveWait is how long one client's going is waited for before the next goes
// too: a healthy server takes a few milliseconds.
const leaveWait = 500 * time.Millisecond

// leave ends what holds we have and detaches all clients. The loop has ended.
func (s *Server) leave() {
	for _, m := range s.mirrors {
		if m.hold != "" && m.feeder != nil && !m.feeder.lost {
			m.feeder.do(controlmode.Command{Line: unlockLine(m.id, m.hold)}, nil)
		}
	}
	if s.pipe != nil {
		s.pipe.close()
	}
	for _, c := range s.sessions {
		if s.pipe == nil {
			for _, m := range s.mirrors {
				if hushed, ok := m.clients[c]; ok && !hushed {
					c.do(controlmode.Command{Line: "refresh-client -A '" + m.id + ":pause'", Blocks: 1}, nil)
				}
			}
		}
		c.client.Close()
		select {
		case <-c.client.Done():
		case <-time.After(leaveWait):
		}
	}
	for _, c := range s.sessions {
		<-c.client.Done()
	}
	if c := s.barred.lone; c != nil {
		c.client.Close()
		<-c.client.Done()
	}
}
