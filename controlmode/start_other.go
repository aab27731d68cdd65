//go:build !linux

package controlmode

import "os/exec"

// begin starts cmd. This system can't tie it to our end: a client that stays
// behind a kill -9 goes when tmux finds its pipe closed.
func begin(cmd *exec.Cmd, _ <-chan struct{}) error { return cmd.Start() }
