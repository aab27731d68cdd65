package daemon

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// A folder that can't be written is cured where it is, not by a look that finds
// the same.
func TestProblemCures(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{syscall.EACCES: "writable", syscall.EPERM: "writable", syscall.EROFS: "writable", syscall.ENOSPC: "make room", syscall.EINVAL: "akk doctor"} {
		e := problem(fmt.Errorf("writing a/daemon.json: %w", &fs.PathError{Op: "open", Path: "a", Err: errno}))
		if !strings.Contains(e.Cure, want) {
			t.Errorf("%v: %s", errno, e.Cure)
		}
	}
}
