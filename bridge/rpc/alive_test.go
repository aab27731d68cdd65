package rpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// This file holds tests of the sign of life: who answers nothing is silent, who
// is slow is not, and a client that does not read blames nobody.

// mute answers the greeting and nothing else.
func mute(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/s"
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer nc.Close()
				r := bufio.NewReader(nc)
				if _, err := r.ReadString('\n'); err != nil {
					return
				}
				io.WriteString(nc, `{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"pid":77}}`+"\n")
				io.Copy(io.Discard, r)
			})
		}
	})
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	return path
}

func TestSilentDaemon(t *testing.T) {
	t.Parallel()
	c, err := Dial(t.Context(), mute(t), HelloParams{Client: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	var wg sync.WaitGroup
	for method, code := range map[string]string{MethodList: CodeUnavailable, MethodScreen: CodeUnavailable, MethodExplain: CodeUnavailable, MethodStatus: CodeUnavailable,
		MethodOutcome: CodeUnavailable, MethodSend: CodeUncertain, MethodTakeover: CodeUncertain, MethodRestore: CodeUncertain, MethodRetryCallback: CodeUncertain} {
		wg.Go(func() {
			err := c.call(t.Context(), method, nil, nil)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != code || !errors.Is(err, ErrSilent) || errors.Is(err, ErrClosed) || !strings.Contains(e.Cure, "kill -CONT 77") {
				t.Errorf("%s: %v (%+v)", method, err, e)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took < silentTicks*silentTick || took > 2*silentTicks*silentTick {
		t.Errorf("told after %v", took)
	}
	// What finds the connection ended sent nothing.
	<-c.Done()
	if err := c.call(t.Context(), MethodSend, nil, nil); err == nil || err.(*Error).Code != CodeUnavailable {
		t.Errorf("afterwards: %v", err)
	}
}

func TestWhoDoesNotReadBlamesNobody(t *testing.T) {
	t.Parallel()
	d := &fakeDesk{}
	d.events = func(ctx context.Context, started func(EventsResult) error, yield func(Event) error) error {
		started(EventsResult{})
		yield(Event{Seq: 1})
		yield(Event{Seq: 2}) // the reader waits with this one
		<-ctx.Done()
		return nil
	}
	_, path := serve(t, d)
	c, err := Dial(t.Context(), path, HelloParams{Client: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		c.Events(ctx, EventsParams{Follow: true}, nil, func(e Event) error {
			if e.Seq == 1 {
				close(stuck)
				time.Sleep(silentTicks*silentTick + 2*time.Second)
			}
			return nil
		})
	})
	<-stuck
	time.Sleep(100 * time.Millisecond) // the second event has come
	if _, err := c.Servers(t.Context()); err != nil {
		t.Errorf("a call behind an item that nobody takes: %v", err)
	}
	cancel()
	wg.Wait()
}
