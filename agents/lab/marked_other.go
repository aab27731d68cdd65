//go:build !linux

package lab

// Elsewhere the environment of others can't be read cheaply; the end of the
// tmux server (SIGHUP) must do.
func marked(string) []int { return nil }
