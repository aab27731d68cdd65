package controlmode

import (
	"os/exec"
	"runtime"
	"syscall"
)

// begin starts cmd so that it ends with us, kill -9 included. Without that a
// tmux client whose output nobody reads may stay for ever: the server waits
// with its end until all is written, and stops reading the panes (measured on
// 3.3a, B109). The kernel ties the signal to the thread that started the child,
// so that thread is kept until done is closed.
func begin(cmd *exec.Cmd, done <-chan struct{}) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM // SIGKILL has crashed servers (tmux 5004)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-done
		}
	}()
	return <-started
}
