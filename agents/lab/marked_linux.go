package lab

// Finding the lab's own processes. It upholds: only a process that carries
// this lab's mark in its environment is ever ended.

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// marked returns the processes whose start environment holds markEnv=mark.
// Errors of single processes (gone, not ours) are no errors.
func marked(mark string) []int {
	want := []byte(markEnv + "=" + mark)
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil {
			continue
		}
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(kv, want) {
				if pid, err := strconv.Atoi(filepath.Base(d)); err == nil && pid != os.Getpid() {
					out = append(out, pid)
				}
				break
			}
		}
	}
	return out
}
