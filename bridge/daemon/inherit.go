package daemon

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// dropInherited closes what the starter's starter left open: every descriptor
// above 2 that would pass on to children. Go opens its own with close-on-exec,
// so none of ours is among them.
func dropInherited(keep int) {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 || fd == keep {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
