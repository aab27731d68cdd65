package daemon

// This file decides where things are. It upholds: every process of one user
// finds the same daemon for the same store, whatever its environment.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/adrg/xdg"
)

const (
	// maxSocketPath is below sun_path of Linux (108) and macOS (104), which
	// count the final NUL.
	maxSocketPath = 100
	noteFile      = "daemon.json"
	logFile       = "daemon.log"
	errFile       = "daemon.err" // what the Go runtime says when it dies
	lockFile      = "start.lock"
)

// Paths of one store's daemon.
type Paths struct {
	Store  string // folder of the store, 0700
	Socket string // where a daemon that starts now would listen
	Log    string
}

// DefaultStoreDir is $XDG_STATE_HOME/akk.
func DefaultStoreDir() string { return filepath.Join(xdg.StateHome, "akk") }

// PathsFor computes the paths of a store folder; "" = DefaultStoreDir.
func PathsFor(storeDir string) (Paths, error) {
	if storeDir == "" {
		if os.Getenv("HOME") == "" && os.Getenv("XDG_STATE_HOME") == "" { // it would be made under /
			return Paths{}, failed("set HOME, or name a folder with --store-dir", "there is no place for the store: this user has no home folder")
		}
		storeDir = DefaultStoreDir()
	}
	abs, err := filepath.Abs(storeDir)
	if err != nil {
		return Paths{}, failed("give --store-dir an absolute path", "the store folder %s can't be resolved: %v", storeDir, err)
	}
	sum := sha256.Sum256([]byte(abs))
	name := hex.EncodeToString(sum[:6]) + ".sock"
	p := Paths{Store: abs, Log: filepath.Join(abs, logFile)}
	for _, dir := range socketDirs(abs) {
		if p.Socket = filepath.Join(dir, name); len(p.Socket) <= maxSocketPath {
			return p, nil
		}
	}
	return Paths{}, failed("set XDG_RUNTIME_DIR or --store-dir to a shorter path", "no folder for the daemon's socket has a path short enough (%d bytes at most)", maxSocketPath)
}

func socketDirs(store string) []string {
	var out []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		if st, err := os.Stat(run); err == nil && st.IsDir() {
			out = append(out, filepath.Join(run, "akk"))
		}
	}
	return append(out, filepath.Join(store, "run"), filepath.Join(os.TempDir(), "akk-"+strconv.Itoa(os.Getuid())), "/tmp/akk-"+strconv.Itoa(os.Getuid()))
}

// note is what a running daemon leaves in its store folder, so that a process
// with another XDG_RUNTIME_DIR finds it all the same.
type note struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

func readNote(store string) (note, bool) {
	var n note
	raw, err := os.ReadFile(filepath.Join(store, noteFile))
	if err != nil || json.Unmarshal(raw, &n) != nil {
		return note{}, false
	}
	return n, n.Socket != ""
}

func writeNote(store string, n note) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := filepath.Join(store, noteFile)
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(tmp, path)
}

// sockets are the places where the store's daemon may listen: it is one, so
// that the note is only read when nobody is at the usual place.
func (p Paths) sockets() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(p.Socket) {
			return
		}
		if n, ok := readNote(p.Store); ok && n.Socket != p.Socket {
			yield(n.Socket)
		}
	}
}
