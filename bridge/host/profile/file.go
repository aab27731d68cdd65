package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// This file reads a profile's file: never more than FileMax, never anything but
// a regular file, and again and again to see that it is still the same.

// FileMax bounds the file in bytes (R192).
const FileMax = 256 << 10

var sizeFault = fmt.Sprintf("is larger than %d KiB", FileMax>>10)

// Load reads a profile's file; the path is relative to the working directory
// (R218).
func Load(name string) (*Profile, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("read the host profile %s: %w", name, err)
	}
	data, err := read(full)
	if err != nil {
		return nil, err
	}
	return Parse(full, data)
}

// read returns the bytes of a regular .json file; faults of the file itself are
// an *Error, too.
func read(name string) ([]byte, error) {
	refuse := func(what string) error { return &Error{Source: name, Faults: []Fault{{Message: what}}} }
	if filepath.Ext(name) != ".json" {
		return nil, refuse("must be a file whose name ends in .json")
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold us
	if err != nil {
		return nil, fmt.Errorf("read the host profile: %w", err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, fmt.Errorf("read the host profile: %w", err)
	case !info.Mode().IsRegular():
		return nil, refuse("is no regular file")
	case info.Size() > FileMax:
		return nil, refuse(sizeFault)
	}
	data, err := io.ReadAll(io.LimitReader(f, FileMax+1))
	if err != nil {
		return nil, fmt.Errorf("read the host profile %s: %w", name, err)
	}
	if len(data) > FileMax {
		return nil, refuse(sizeFault)
	}
	return data, nil
}

// Unchanged returns ErrChanged unless the file still holds the bytes that p was
// read from (R210). A shipped profile can't change.
func (p *Profile) Unchanged() error {
	if p.shipped() {
		return nil
	}
	data, err := read(p.Source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", ErrChanged, p.Source)
	case err != nil:
		return fmt.Errorf("%w: %v", ErrChanged, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.Fingerprint {
		return fmt.Errorf("%w: %s is not what it was when the bridge started", ErrChanged, p.Source)
	}
	return nil
}

// Exposed tells who else may write a profile's file or its folder, "" if
// nobody: the file says what is run, so it is as good as code.
func (p *Profile) Exposed() string {
	if p.shipped() {
		return ""
	}
	for _, name := range []string{p.Source, filepath.Dir(p.Source)} {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0
		if perm := info.Mode().Perm(); perm&0o002 != 0 && !sticky {
			return name + " may be written by everybody"
		} else if perm&0o020 != 0 && !sticky {
			return name + " may be written by its group"
		}
	}
	return ""
}
