package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// scribble writes for ever and says what is durable; it is a process of its
// own, killed by TestKilledWriter.
func scribble(dir string) {
	db, err := Open(dir, Options{Schema: schema})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := NewWriter(db)
	for i := 0; ; i++ {
		done := make(chan uint64, 1)
		var seq uint64
		w.Do(func(tx *Tx) error {
			_, rev, _ := owners.Get(tx, "o")
			if _, err := owners.Put(tx, "o", pet{Name: strconv.Itoa(i)}, rev); err != nil {
				return err
			}
			_, rev, _ = pets.Get(tx, strconv.Itoa(i%5))
			if _, err := pets.Put(tx, strconv.Itoa(i%5), pet{Owner: "o"}, rev); err != nil {
				return err
			}
			_, seq, err = lines.Append(tx, line{Text: strconv.Itoa(i)})
			return err
		}, func(err error) {
			if err == nil {
				done <- seq
			}
		})
		if i%3 == 0 { // else several share a commit
			fmt.Println(<-done)
		}
	}
}

// TestKilledWriter is the crash half of issue 6's first proof: SIGKILL at any
// moment, what was told as durable is there, the store is sound.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	var durable uint64
	for run := range 15 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "AKK_TEST_STORE="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := func() {
			time.AfterFunc(time.Duration(20+rand.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		early := run%3 == 0 // at any moment of the start, too
		if early {
			kill()
		}
		for sc := bufio.NewScanner(out); sc.Scan(); {
			if !early { // it writes: a slow machine must not decide this test
				early = true
				kill()
			}
			n, err := strconv.ParseUint(sc.Text(), 10, 64)
			if err != nil {
				continue // torn by the kill
			}
			durable = max(durable, n)
		}
		_ = cmd.Wait()
		db := open(t, dir)
		_ = db.View(func(tx *Tx) error {
			if _, last := lines.Bounds(tx); last < durable {
				t.Errorf("%d was told as durable, the log ends at %d", durable, last)
			}
			return nil
		})
		shut(t, db)
	}
	if durable == 0 {
		t.Fatal("nothing was ever written")
	}
}
