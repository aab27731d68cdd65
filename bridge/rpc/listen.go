package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// This file holds the socket itself: 0600 in a 0700 directory of ours, never a
// link, never somebody else's, one live daemon on it.

// probeTimeout is how long a live daemon may take to accept; a Unix socket
// answers at once or not at all.
const probeTimeout = time.Second

// Listen opens the daemon's socket at path. The socket that a dead daemon left
// is replaced; ErrInUse is returned when a live one has it.
func Listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make socket directory: %w", err)
	}
	if err := private(dir, os.ModeDir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		if err := private(path, os.ModeSocket); err != nil {
			return nil, err
		}
		if c, err := net.DialTimeout("unix", path, probeTimeout); err == nil {
			c.Close()
			return nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove dead socket: %w", err)
		}
	}
	ln, err := net.Listen("unix", path) // nobody else can reach into the directory
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("close the socket to others: %w", err)
	}
	return ln, nil
}

// private refuses what another user could have put there.
func private(path string, kind os.FileMode) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st.Mode()&os.ModeType != kind {
		return fmt.Errorf("%s is not what akk put there (%s): move it away", path, st.Mode())
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to another user (uid %d): name another with --store-dir", path, sys.Uid)
	}
	if kind == os.ModeDir && st.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return fmt.Errorf("%s is open to others and can't be closed: %w", path, err)
		}
	}
	return nil
}
