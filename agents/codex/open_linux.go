package codex

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"akk/agents"
)

// heldRollouts lists the rollouts that the process has open, oldest name
// first.
func heldRollouts(pid int) ([]string, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	fds, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("process %d is gone: %w", pid, agents.ErrNoLog)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	var out []string
	for _, fd := range fds {
		if path, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && isRollout(path) {
			out = append(out, path)
		}
	}
	return sortRollouts(out), nil
}
