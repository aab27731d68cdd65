package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file tells a Host that gave a progress token how a call gets on.
// Nothing waits for the Host: what it does not read in time is left out.

// progressQueue is how many steps may wait to be written.
const progressQueue = 8

type progress struct {
	steps chan string
	done  sync.WaitGroup
	once  sync.Once
}

// progress begins to tell; end must be called before the call returns, so that
// no step comes after the result.
func (c *call) progress(ctx context.Context) *progress {
	p := &progress{}
	token := c.req.Params.GetProgressToken()
	if token == nil || c.req.Session == nil {
		return p
	}
	p.steps = make(chan string, progressQueue)
	p.done.Go(func() {
		n := 0.0
		for s := range p.steps {
			n++
			if err := c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: s}); err != nil {
				c.Logger.Debug("progress", "err", err)
			}
		}
	})
	return p
}

// say must not be called after end.
func (p *progress) say(step string) {
	if p.steps == nil {
		return
	}
	select {
	case p.steps <- step:
	default:
	}
}

func (p *progress) end() {
	if p.steps == nil {
		return
	}
	p.once.Do(func() { close(p.steps) })
	p.done.Wait()
}
