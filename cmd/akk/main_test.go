package main

import (
	"os"
	"os/user"
	"testing"

	"akk/bridge/daemon"

	"github.com/adrg/xdg"
)

// TestNoHome: without HOME the store is in the user's home folder all the same,
// and never under /.
func TestNoHome(t *testing.T) {
	t.Cleanup(xdg.Reload)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	xdg.Reload()
	if p, err := daemon.PathsFor(""); err == nil {
		t.Errorf("a store without a home: %s", p.Store)
	}
	ensureHome()
	u, err := user.Current()
	if err != nil || u.HomeDir == "/" {
		t.Skip("this user has no home folder")
	}
	if got := os.Getenv("HOME"); got != u.HomeDir {
		t.Errorf("HOME is %q, want %q", got, u.HomeDir)
	}
	if p, err := daemon.PathsFor(""); err != nil || p.Store != xdg.StateHome+"/akk" {
		t.Errorf("store %q, %v", p.Store, err)
	}
}
