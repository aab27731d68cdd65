package quick

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"akk/bridge/daemon"
	"akk/cmd/akk/config"

	"github.com/adrg/xdg"
)

// Issue 6: the store and the settings are where the usual commands find them, or
// quick steps back.
func TestPlaces(t *testing.T) {
	t.Cleanup(xdg.Reload)
	taken := 0
	for _, home := range []string{"/home/me", "/home/me/", "home", "/", "/home/mé", "/home//me"} {
		for _, dir := range []string{"", "/x/y", "/x/y/", "x", "~/x", "$HOME/x", "/x/../y", "/x/./y", "/x y", "/x\ty", `/x"y`, "//x", "/x/...", "/"} {
			t.Setenv("HOME", home)
			t.Setenv("XDG_STATE_HOME", dir)
			t.Setenv("XDG_CONFIG_HOME", dir)
			xdg.Reload()
			got, ok := question{}.storeDir()
			p, err := daemon.PathsFor("")
			if ok && (err != nil || got != p.Store) {
				t.Errorf("HOME %q, XDG %q: store %q, is %q %v", home, dir, got, p.Store, err)
			}
			if ok {
				taken++
			}
			if got, ok := xdgDir("XDG_CONFIG_HOME", "/.config"); ok && got+"/akk/config.toml" != config.Path() {
				t.Errorf("HOME %q, XDG %q: settings in %q, are in %q", home, dir, got, config.Path())
			}
		}
	}
	if taken != 4 {
		t.Errorf("%d places were plain", taken)
	}
	for _, dir := range []string{"/s", "/s/", "s", "./s", "/s/../t", "/a/b.c"} {
		p, err := daemon.PathsFor(dir)
		if got, ok := (question{store: dir}).storeDir(); ok && (err != nil || got != p.Store) {
			t.Errorf("%q: %q, is %q %v", dir, got, p.Store, err)
		}
	}
}

// Issue 6: without HOME everything is the usual command's.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if _, ok := (question{}).storeDir(); ok || settingsDoNot() {
		t.Fatal("quick goes on")
	}
}

// Issue 6: settings that a list heeds, or that can't be seen through, are the
// usual command's.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	file := filepath.Join(dir, "akk", "config.toml")
	if !settingsDoNot() {
		t.Fatal("without a file quick steps back")
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"": true, "transport = \"pipe\"\n[keys]\nup = \"k\"\n": true,
		"servers = []": false, "[store]": false, "[STORE]\ndir = \"/x\"": false, "SerVers = []": false, "\u017fervers = []": false, "store.dir = \"/x\"": false, `"s\u0065rvers" = ["x"]`: false,
		config.Example(): false, strings.Repeat("#\n", maxSettings): false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if settingsDoNot() != want {
			t.Errorf("%.40q: want %v", text, want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if settingsDoNot() {
		t.Error("a folder is taken for settings")
	}
}

// Issue 6: the tmux server's socket, as tmux and where.go find it.
func TestTmuxSocket(t *testing.T) {
	real := t.TempDir()
	if r, err := filepath.EvalSymlinks(real); err != nil || r != real {
		t.Skip("the folder for tests is behind a link")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	uid := "/tmux-" + itoa(os.Getuid())
	for _, c := range []struct {
		q         question
		tmux, dir string
		want      string // "" = steps back
	}{
		{question{}, "", real, real + uid + "/default"},
		{question{}, ",1,2", real, real + uid + "/default"},
		{question{}, "/x/y,1,2", real, "/x/y"},
		{question{}, "/x/../y,1,2", real, ""},
		{question{server: "work"}, "/x/y,1,2", real, real + uid + "/work"},
		{question{server: "a/b"}, "", real, ""},
		{question{server: ".."}, "", real, ""},
		{question{server: "a\"b"}, "", real, ""},
		{question{socket: "/a/b"}, "/x/y,1,2", real, "/a/b"},
		{question{socket: "b"}, "", real, ""},
		{question{socket: "/a/"}, "", real, ""},
		{question{}, "", link, ""},
		{question{}, "", real + "/", ""},
		{question{}, "", "x", ""},
		{question{}, "", real + "/none", ""},
	} {
		t.Setenv("TMUX", c.tmux)
		t.Setenv("TMUX_TMPDIR", c.dir)
		got, ok := c.q.tmuxSocket()
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%+v TMUX=%s TMUX_TMPDIR=%s: %q %v", c.q, c.tmux, c.dir, got, ok)
		}
	}
}
