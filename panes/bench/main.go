// Command bench measures the mirrors of one tmux server: how long a byte takes
// from a pane's program to a published screen, and what that costs, beside a
// bare control client that only reads and unescapes, and beside loops of
// `tmux capture-pane`. All ways run one after the other on the same panes, so
// their ratios hold on a machine that has other work too.
//
// Rule: the panes, the tmux server and every measured process are the bench's
// own; each way is a process of its own, whose CPU time is the kernel's count.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var err error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && observers[os.Args[1]] != nil {
		err = observers[os.Args[1]](ctx, os.Args[2:])
	} else {
		err = bench(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// ways are what is measured, in this order; "none" is tmux alone.
const defaultWays = "none,bare,bare+vt,akk,pipe,poll-1s,poll-200ms"

func bench(ctx context.Context) error {
	length := flag.Duration("for", 10*time.Second, "how `long` each measurement takes")
	sizes := flag.String("panes", "20,200", "numbers of panes")
	sessions := flag.String("sessions", "1,20", "numbers of sessions")
	ways := flag.String("ways", defaultWays, "what is measured")
	history := flag.Bool("memory", true, "also the memory of 200 panes of 200x50 with 2,000 lines of history")
	flag.Parse()
	ns, err := numbers(*sizes)
	if err != nil {
		return err
	}
	ss, err := numbers(*sessions)
	if err != nil {
		return err
	}
	fmt.Printf("CPU is %% of one core; latency is ms from the write in the pane; skipped are pictures that were over before they were seen;\nlost are panes whose last picture never came. rss is MB of the process itself.\nslow is the part of the time in which the machine's cores were slowed down from outside; * is of the other moments.\n\n")
	for _, n := range ns {
		for _, s := range ss {
			if err := world(ctx, n, s, strings.Split(*ways, ","), *length); err != nil {
				return fmt.Errorf("%d panes in %d sessions: %w", n, s, err)
			}
		}
	}
	if *history {
		return memory(ctx)
	}
	return nil
}

func numbers(list string) ([]int, error) {
	var out []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number above 0", s)
		}
		out = append(out, n)
	}
	return out, nil
}

// row is one line of the table.
type row struct {
	way           string
	own, tmux     float64 // CPU, % of a core
	clients       float64 // CPU of what it started
	p50, p95, p99 float64 // ms
	n, skipped    int
	lost          int
	rss           float64 // MB
	emulation     float64 // CPU of vtparse alone on the same bytes
	slow          float64 // part of the time in which the machine was slowed down from outside
	// own and p95 of the other moments
	ownBrisk, p95Brisk float64
	audits, wrongs     int
}

// world measures all ways on one set of panes, idle and streaming.
func world(ctx context.Context, panes, sessions int, ways []string, length time.Duration) (err error) {
	w, err := newServer(ctx, panes, sessions, 120, 40)
	if err != nil {
		return err
	}
	defer w.close()
	for _, load := range []string{"idle", "half streaming at 20 Hz"} {
		fmt.Printf("%d panes in %d sessions, %s\n%-11s %7s %8s %7s %8s %8s %8s %6s %7s %5s %7s %6s %7s %7s\n", panes, sessions, load,
			"way", "own", "children", "tmux", "p50", "p95", "p99", "seen", "skipped", "lost", "rss", "slow", "own*", "p95*")
		rows := map[string]row{}
		for _, way := range ways {
			r, err := w.measure(ctx, way, load != "idle", length)
			if err != nil {
				return fmt.Errorf("%s: %w", way, err)
			}
			rows[way] = r
			fmt.Printf("%-11s %7.2f %8.2f %7.2f %8.2f %8.2f %8.2f %6d %7d %5d %7.1f %5.1f%% %7.2f %7.2f\n", way, r.own, r.clients, r.tmux, r.p50, r.p95, r.p99, r.n, r.skipped, r.lost, r.rss, 100*r.slow, r.ownBrisk, r.p95Brisk)
		}
		verdicts(rows, load != "idle", panes)
		fmt.Println()
	}
	return nil
}

// verdicts hold one run against the bars.
func verdicts(rows map[string]row, streaming bool, panes int) {
	bare, ok1 := rows["bare"]
	akk, ok2 := rows["akk"]
	if !ok1 || !ok2 {
		return
	}
	say := func(what string, is, bar float64) {
		word := "holds"
		if is > bar {
			word = "MISSED"
		}
		fmt.Printf("  %-62s %8.3f, bar %8.3f: %s\n", what, is, bar, word)
	}
	if !streaming {
		say("idle: CPU of akk with its clients, % of a core", akk.own+akk.clients, bare.own+bare.clients+0.1)
		return
	}
	say("p95 against the bare client's, ms", akk.p95, 1.5*bare.p95)
	say("  the same, at the machine's own speed", akk.p95Brisk, 1.5*bare.p95Brisk)
	say(fmt.Sprintf("CPU against twice the bare client's + emulation (%.2f)", akk.emulation), akk.own, 2*bare.own+akk.emulation)
	say("  the same, at the machine's own speed", akk.ownBrisk, 2*bare.ownBrisk+akk.emulation)
	if vt, ok := rows["bare+vt"]; ok {
		say(fmt.Sprintf("  with what emulating costs a bare client there (%.2f)", vt.ownBrisk-bare.ownBrisk), akk.ownBrisk, bare.ownBrisk+vt.ownBrisk)
	}
	say("panes whose last picture is not there, mismatches of audits", float64(akk.lost+akk.wrongs), 0)
}
