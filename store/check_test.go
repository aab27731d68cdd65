package store

import (
	"path/filepath"
	"testing"
)

// A check of a store that is being written finds no fault (seen live: `akk
// doctor` called a sound store broken, because a writer freed pages meanwhile).
func TestCheckBesideWriter(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "s"))
	defer shut(t, db)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := db.Update(func(tx *Tx) error {
				for range 20 {
					if _, _, err := lines.Append(tx, line{}); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 30 {
		if bad := db.Check(); len(bad) > 0 {
			t.Errorf("%d faults, first: %v", len(bad), bad[0])
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
