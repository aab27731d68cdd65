package handoff

// This file shares one fsnotify watcher among all feeders. It upholds: a file
// that can't be watched costs nothing but latency, because frames poll too.

import (
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

type fileWatch struct {
	out   *slog.Logger
	mu    sync.Mutex
	tried bool              // begun with the first path
	w     *fsnotify.Watcher // nil: not begun, or the system has no more watches
	paths map[string]map[*feeder]bool
	mine  map[*feeder]map[string]bool
	done  chan struct{}
}

func newFileWatch(out *slog.Logger) *fileWatch {
	return &fileWatch{out: out, paths: map[string]map[*feeder]bool{}, mine: map[*feeder]map[string]bool{}, done: make(chan struct{})}
}

// begin starts the watcher once; fw.mu is held.
func (fw *fileWatch) begin() {
	if fw.tried {
		return
	}
	fw.tried = true
	w, err := fsnotify.NewWatcher()
	if err != nil {
		fw.out.Warn("files can't be watched, logs are read at frames only", "error", err)
		return
	}
	fw.w = w
	go fw.run(w)
}

func (fw *fileWatch) run(w *fsnotify.Watcher) {
	defer close(fw.done)
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			fw.tell(e.Name)
			fw.tell(filepath.Dir(e.Name))
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				fw.lost(e.Name)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			fw.out.Debug("file watcher", "error", err)
			fw.all()
		}
	}
}

func (fw *fileWatch) tell(path string) {
	fw.mu.Lock()
	defer fw.mu.Unlock()
	for f := range fw.paths[path] {
		f.poke()
	}
}

func (fw *fileWatch) all() {
	fw.mu.Lock()
	defer fw.mu.Unlock()
	for f := range fw.mine {
		f.poke()
	}
}

// lost forgets a path whose watch went with its file, so that the next poll
// watches it again.
func (fw *fileWatch) lost(path string) {
	fw.mu.Lock()
	defer fw.mu.Unlock()
	for f := range fw.paths[path] {
		delete(fw.mine[f], path)
	}
	if fw.paths[path] != nil {
		delete(fw.paths, path)
		_ = fw.w.Remove(path) // a renamed file is still watched
	}
}

// set replaces the paths of f.
func (fw *fileWatch) set(f *feeder, paths []string) {
	fw.mu.Lock()
	defer fw.mu.Unlock()
	if len(paths) > 0 {
		fw.begin()
	}
	if fw.w == nil {
		return
	}
	old, now := fw.mine[f], make(map[string]bool, len(paths))
	for _, p := range paths {
		p = filepath.Clean(p)
		if old[p] {
			now[p] = true
			continue
		}
		if fw.paths[p] == nil {
			if fw.w.Add(p) != nil {
				continue // not there yet: tried again at the next poll
			}
			fw.paths[p] = map[*feeder]bool{}
		}
		fw.paths[p][f] = true
		now[p] = true
	}
	for p := range old {
		if now[p] {
			continue
		}
		delete(fw.paths[p], f)
		if len(fw.paths[p]) == 0 {
			delete(fw.paths, p)
			_ = fw.w.Remove(p) // gone with the file
		}
	}
	if len(now) == 0 {
		delete(fw.mine, f)
	} else {
		fw.mine[f] = now
	}
}

func (fw *fileWatch) close() {
	fw.mu.Lock()
	w := fw.w
	fw.tried = true
	fw.mu.Unlock()
	if w != nil {
		_ = w.Close()
		<-fw.done
	}
}
