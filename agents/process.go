package agents

import "time"

// Process is what the caller knows of the agent's own process (wrappers such
// as npm's node already seen through). It is a snapshot.
type Process struct {
	PID       int
	StartTime time.Time // with PID the identity of the process
	Exe       string    // path of the executable, "" if not readable
	Args      []string
	Cwd       string
	Env       map[string]string // the process's start environment; nil if not readable
	PanePID   int               // the pane's first process
	TTY       string
}

// Getenv returns the process's own start environment variable key, "" if unset.
func (p *Process) Getenv(key string) string {
	if p == nil {
		return ""
	}
	return p.Env[key]
}
