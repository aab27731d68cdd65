package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"akk/bridge/daemon"
	"akk/bridge/handoff"
	"akk/bridge/rpc"
	"akk/store"
	"akk/ui"

	"github.com/spf13/cobra"
)

func newStore(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "Check, export or compact what akk keeps",
		Long: `With a running daemon the daemon does it; without one it is done here, under the
store's lock. No daemon is started for it, and no store is made.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return needsOne(c) },
	}
	c.AddCommand(newStoreCheck(a), newStoreExport(a), newStoreCompact(a))
	return c
}

// stores is a daemon's store, or the file itself.
type stores interface {
	StoreCheck(ctx context.Context) (rpc.StoreReport, error)
	StoreCompact(ctx context.Context) (rpc.StoreCompacted, error)
	StoreExport(ctx context.Context, yield func(rpc.StoreRow) error) error
	Close() error
}

// openStore finds the running daemon, or opens the file under its lock.
func (a *app) openStore(ctx context.Context) (stores, error) {
	o, err := a.daemonOptions("")
	if err != nil {
		return nil, err
	}
	p, err := daemon.PathsFor(o.StoreDir)
	if err != nil {
		return nil, err
	}
	c, err := rpc.Dial(ctx, p.Socket, rpc.HelloParams{Client: "cli", Version: version})
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, rpc.ErrNoDaemon) {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(p.Store, store.FileName)); errors.Is(err, fs.ErrNotExist) {
		return nil, fail("name another folder with --store-dir, or use akk once", "there is no store in %s yet", p.Store) // R222: a reader makes none
	}
	db, err := store.Open(p.Store, store.Options{Schema: handoff.Schema()})
	if err != nil {
		return nil, err
	}
	return offline{db}, nil
}

// offline is a store without a daemon.
type offline struct{ db *store.DB }

func (o offline) Close() error { return o.db.Close() }

func (o offline) StoreCheck(context.Context) (rpc.StoreReport, error) {
	return handoff.CheckStore(o.db)
}

func (o offline) StoreCompact(context.Context) (rpc.StoreCompacted, error) {
	c, err := o.db.Compact()
	return rpc.StoreCompacted(c), err
}

func (o offline) StoreExport(_ context.Context, yield func(rpc.StoreRow) error) error {
	return handoff.ExportStore(o.db, yield)
}

func newStoreCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Read everything and tell what is broken",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			r, err := s.StoreCheck(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				err = a.print(r)
			} else {
				table := [][]string{{"folder", r.Dir}, {"schema", strconv.Itoa(r.Schema)}, {"size", bytesText(r.Bytes)}}
				for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
					table = append(table, []string{name, strconv.Itoa(r.Tables[name])})
				}
				if err = ui.Table(a.out, table); err == nil && len(r.Faults) == 0 {
					a.printf("sound\n")
				}
			}
			if err != nil || len(r.Faults) == 0 {
				return err
			}
			if a.json {
				return reported{}
			}
			for _, f := range r.Faults {
				a.printf("broken: %s\n", oneLine(f))
			}
			return fail("keep a copy of the folder, then report what is told above; akk goes on with what it can read", "the store has %d faults", len(r.Faults))
		},
	}
}

func newStoreExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print every record as a line of JSON, without secrets",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			return s.StoreExport(c.Context(), func(r rpc.StoreRow) error { return a.line(r) })
		},
	}
}

func newStoreCompact(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give the room back that removed records left",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.openStore(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			r, err := s.StoreCompact(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.print(r)
			}
			a.printf("%s became %s\n", bytesText(r.Before), bytesText(r.After))
			return nil
		},
	}
}

// bytesText is a size for a human.
func bytesText(n int64) string {
	const k = 1024
	switch {
	case n < 10*k:
		return fmt.Sprintf("%d bytes", n)
	case n < 10*k*k:
		return fmt.Sprintf("%d KB", n/k)
	}
	return fmt.Sprintf("%d MB", n/k/k)
}
