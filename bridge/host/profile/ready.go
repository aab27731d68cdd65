package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file looks at the callback's executable itself, at the bridge's start,
// before each run, and for doctor (R199, R203). Nothing is run.

// hopsMax bounds a chain of symbolic links, as the kernel does.
const hopsMax = 40

// Ready returns ErrNotReady, wrapping the file system's error where there is
// one, unless the executable is a regular file that may be run, no shell under
// any of its names, and its interpreter can be found.
func (b *Callback) Ready() error {
	file, err := resolve(b.Executable)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return notReady(err, "%s", b.Executable)
	case !info.Mode().IsRegular():
		return notReady(nil, "%s is no regular file", b.Executable)
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return notReady(err, "%s may not be executed", b.Executable)
	}
	for _, dir := range []string{"/bin", "/usr/bin", "/usr/local/bin"} { // a hard link to a shell is that shell
		for _, name := range shells {
			if other, err := os.Stat(filepath.Join(dir, name)); err == nil && os.SameFile(info, other) {
				return notReady(nil, "%s is the same file as %s/%s, which runs whatever it is told", b.Executable, dir, name)
			}
		}
	}
	if interpreter := shebang(file); filepath.Base(interpreter) == "env" && !slices.Contains(b.Environment, "PATH") {
		return notReady(nil, "%s is started through %s, which needs PATH in callback.environment.allow", b.Executable, interpreter)
	}
	return nil
}

// resolve follows the links of the last part one by one: none on the way may be
// a shell. The folders before it are the kernel's affair.
func resolve(name string) (string, error) {
	at := name
	for range hopsMax {
		if shellName(at) {
			return "", notReady(nil, "%s leads to %s, which runs whatever it is told", name, at)
		}
		info, err := os.Lstat(at)
		if err != nil {
			return "", notReady(err, "%s", name)
		}
		if info.Mode()&os.ModeSymlink == 0 {
			return at, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", notReady(err, "%s", name)
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(at)) // ".." is of the real folder
			if err != nil {
				return "", notReady(err, "%s", name)
			}
			to = filepath.Join(dir, to)
		}
		at = to
	}
	return "", notReady(syscall.ELOOP, "%s", name)
}

func notReady(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNotReady, what, bare(err))
	}
	return fmt.Errorf("%w: %s", ErrNotReady, what)
}

// bare drops the path from a file system error: it is told already.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// shebang is the interpreter that a script names in its first line, "" if none.
func shebang(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n') // the kernel reads no more either
	rest, ok := strings.CutPrefix(line, "#!")
	if fields := strings.Fields(rest); ok && len(fields) > 0 {
		return fields[0]
	}
	return ""
}
