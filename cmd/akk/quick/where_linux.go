package quick

import (
	"os"
	"syscall"
)

// This file finds the store, the daemon's socket and the tmux server as
// bridge/daemon/paths.go and cmd/akk/where.go do, for names that need no
// resolving; any other name is the usual command's.

const (
	// maxSettings and maxNote bound the files that are read, in bytes: settings
	// and a note of a daemon take less than a tenth of it.
	maxSettings = 32 << 10
	maxNote     = 4 << 10
)

// settingsDoNot tells that the settings file says nothing about a list. Of all
// its keys (config.Config) only these count for one: servers, which are attached
// beside the own one (app.listJSON, app.attachAll), and store.dir
// (app.daemonOptions). transport is for a daemon that starts, keys for the
// sidebar. A backslash could hide their names, and the case of a name's letters
// is free.
func settingsDoNot() bool {
	dir, ok := xdgDir("XDG_CONFIG_HOME", "/.config")
	if !ok {
		return false
	}
	b, err := readFile(dir+"/akk/config.toml", maxSettings)
	if err != nil {
		return err == syscall.ENOENT
	}
	return ascii(b) && !has(b, "servers") && !has(b, "store") && indexByte(b, '\\') < 0
}

// storeDir is the store's folder.
func (q question) storeDir() (string, bool) {
	if q.store != "" {
		return q.store, isPlace(q.store)
	}
	dir, ok := xdgDir("XDG_STATE_HOME", "/.local/state")
	return dir + "/akk", ok
}

// xdgDir is a base folder by the XDG rules: of that variable, else below HOME.
func xdgDir(variable, below string) (string, bool) {
	home := os.Getenv("HOME")
	if !isPlace(home) {
		return "", false
	}
	if dir := os.Getenv(variable); dir != "" {
		return dir, isPlace(dir)
	}
	return home + below, true
}

// daemonSocket is where the store's daemon listens, by the note that it left: the
// usual place has a hash in its name, which is too late for us. A daemon of
// another version may have to be replaced.
func daemonSocket(store string) (string, bool) {
	b, err := readFile(store+"/daemon.json", maxNote)
	if err != nil {
		return "", false
	}
	socket, version, ok := scanNote(b)
	return socket, ok && version == Version && isPlace(socket)
}

// tmuxSocket is the tmux server's socket: -S, -L, $TMUX, tmux's default.
func (q question) tmuxSocket() (string, bool) {
	if q.socket != "" {
		return q.socket, isPlace(q.socket)
	}
	name := "default"
	if q.server != "" {
		name = q.server
	} else if env := os.Getenv("TMUX"); env != "" {
		for i := range len(env) {
			if env[i] == ',' {
				env = env[:i]
				break
			}
		}
		if env != "" {
			return env, isPlace(env)
		}
	}
	dir := os.Getenv("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	path := dir + "/tmux-" + itoa(syscall.Getuid()) + "/" + name
	for i := range len(name) {
		if name[i] == '/' {
			return "", false
		}
	}
	return path, isPlace(path) && noLinks(dir)
}

// isPlace tells whether a path is absolute and written as filepath.Clean and
// JSON write it, so that it is the same everywhere as it stands.
func isPlace(p string) bool {
	if len(p) < 2 || p[0] != '/' {
		return false
	}
	for at := 1; at <= len(p); {
		end := at
		for ; end < len(p) && p[end] != '/'; end++ {
			if !plainByte(p[end]) {
				return false
			}
		}
		if part := p[at:end]; part == "" || part == "." || part == ".." {
			return false
		}
		at = end + 1
	}
	return p[len(p)-1] != '/'
}

// noLinks tells whether an absolute path consists of folders, none of them by a
// symbolic link.
func noLinks(path string) bool {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		var st syscall.Stat_t
		if syscall.Lstat(path[:i], &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
			return false
		}
	}
	return true
}

// readFile reads a regular file of at most that many bytes.
func readFile(path string, most int) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0) // a FIFO would be waited for
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size > int64(most) {
		return nil, syscall.EFBIG
	}
	b := make([]byte, most+1)
	for n := 0; n < len(b); {
		switch m, err := syscall.Read(fd, b[n:]); {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case m == 0:
			return b[:n], nil
		default:
			n += m
		}
	}
	return nil, syscall.EFBIG
}

func has(b []byte, word string) bool {
	for i := 0; i+len(word) <= len(b); i++ {
		if same(b[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// same compares without regard to case; word is in lower case.
func same(b []byte, word string) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// ascii tells whether b is nothing else; other letters may fold into ours.
func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
