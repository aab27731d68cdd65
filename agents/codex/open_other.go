//go:build !linux

package codex

import (
	"fmt"

	"github.com/shirou/gopsutil/v4/process"
)

// heldRollouts lists the rollouts that the process has open, oldest name
// first. Where the system does not tell, there is no proven log.
func heldRollouts(pid int) ([]string, error) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, errNoFiles)
	}
	files, err := p.OpenFiles()
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, errNoFiles)
	}
	var out []string
	for _, f := range files {
		if isRollout(f.Path) {
			out = append(out, f.Path)
		}
	}
	return sortRollouts(out), nil
}
