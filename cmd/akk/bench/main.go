// Command bench measures how long it takes from a byte that a program writes in
// a pane to the line that `akk events --json` prints, with 1, 20 and 100 panes of
// which half are busy, beside what a loop of `tmux capture-pane` at 200 ms sees
// on the same panes, and what the daemon costs when nothing happens.
//
// The panes hold programs that look like Codex to everybody who looks at
// processes; they draw two pictures that were recorded from the real one. Rule:
// everything runs on a tmux server, a store and a home of the bench's own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"akk/agents"
	"akk/agents/lab"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		err := pane(os.Args[2], os.Args[3] == "busy") // it only ends by an error
		fmt.Fprintln(os.Stderr, "bench pane:", err)
		os.Exit(1)
	}
	if len(os.Args) == 3 && os.Args[1] == chainArg {
		links, err := strconv.Atoi(os.Args[2])
		if err == nil {
			err = passOn(links)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench chain:", err)
			os.Exit(1)
		}
		return
	}
	akk := flag.String("akk", "./akk", "the `program` to measure")
	idle := flag.Duration("idle", time.Minute, "how `long` to look at the idle daemon's CPU time")
	samples := flag.Int("n", 200, "changes per measurement")
	sizes := flag.String("panes", "1,20,100", "numbers of panes")
	desk := flag.Bool("desk", false, "measure the desk instead: list, send, events, processes")
	bridge := flag.Bool("bridge", false, "measure the tools of host-bridge instead, one client and 20 at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *desk {
		if err := benchDesk(ctx, *akk, *samples); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *bridge {
		if err := benchBridge(ctx, *akk, *samples); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := bench(ctx, *akk, *sizes, *samples, *idle); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, akk, sizes string, samples int, idle time.Duration) error {
	akk, err := filepath.Abs(akk)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("%6s  %-34s %8s %8s %8s %8s\n", "panes", "way", "p50 ms", "p99 ms", "max ms", "missed")
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return fmt.Errorf("-panes: %q is not a number of panes", s)
		}
		if err := one(ctx, akk, self, n, samples, idle); err != nil {
			return fmt.Errorf("%d panes: %w", n, err)
		}
	}
	return nil
}

// one measures with n panes.
func one(ctx context.Context, akk, self string, n, samples int, idle time.Duration) (err error) {
	w, err := newWorld(akk)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	bin, err := lab.Impersonate(self, filepath.Join(w.dir, "codex"), agents.Codex, "0.155.1")
	if err != nil {
		return err
	}
	if err := w.start(ctx, bin.Native, n); err != nil {
		return err
	}
	ev, err := w.events(ctx, n)
	if err != nil {
		return err
	}
	push, missed, err := w.push(ctx, ev, samples)
	if err != nil {
		return err
	}
	print(n, "akk events, to blocked", push["blocked"], missed["blocked"])
	print(n, "akk events, to idle", push["idle"], missed["idle"])
	poll, lost, err := w.poll(ctx, max(samples/10, 10))
	if err != nil {
		return err
	}
	print(n, "capture-pane of all every 200 ms", poll, lost)
	if idle > 0 {
		w.calm()
		cpu, err := w.idle(ctx, idle)
		if err != nil {
			return err
		}
		fmt.Printf("%6d  daemon idle for %s: %s of CPU time, %.2f %% of one core, %s resident\n", n, idle, cpu.Round(time.Millisecond), 100*cpu.Seconds()/idle.Seconds(), w.resident())
	}
	return nil
}

func print(n int, way string, d []time.Duration, missed int) {
	if len(d) == 0 {
		fmt.Printf("%6d  %-34s %8s %8s %8s %8d\n", n, way, "-", "-", "-", missed)
		return
	}
	slices.Sort(d)
	ms := func(q float64) string { return strconv.FormatFloat(quantile(d, q), 'f', 2, 64) }
	fmt.Printf("%6d  %-34s %8s %8s %8s %8d\n", n, way, ms(0.5), ms(0.99), ms(1), missed)
}
