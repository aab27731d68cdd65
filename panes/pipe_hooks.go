package panes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file learns of changes by hooks. A hook of ours is one element of a
// hook's list at an index of our own, so that those of the user stay as they
// are, and it only signals a channel (wait-for -S): no process is started for an
// event, and a signal that nobody waits for yet is kept. Two tmux processes of
// ours wait, one for each channel.

// hookIndex is the place of our hooks in each list.
const hookIndex = "[8731]"

// changeHooks make the list of panes stale.
var changeHooks = []string{"session-created", "session-closed", "session-renamed", "session-window-changed", "window-linked", "window-unlinked",
	"window-renamed", "window-pane-changed", "pane-mode-changed", "pane-exited", "pane-died", "after-pipe-pane", "after-set-hook"}

// layoutHooks may have changed the text of panes too. The second one is not in
// every version.
var layoutHooks = []string{"window-layout-changed", "window-resized"}

// hooks are the channels of this daemon.
type hooks struct {
	change, layout string
	optional       bool      // the second layout hook exists
	checked        time.Time // when they were last looked at
	due            bool
	again          bool // something changed after the look had begun
}

// hookGap is how often at most our hooks are looked at, and waited for.
const (
	verifyGap = 2 * time.Second
	wakeGap   = listGap
)

func (p *pipes) wanted() map[string]string {
	w := map[string]string{}
	for _, h := range changeHooks {
		w[h+hookIndex] = "wait-for -S " + p.hooks.change
	}
	for i, h := range layoutHooks {
		if i == 0 || p.hooks.optional {
			w[h+hookIndex] = "wait-for -S " + p.hooks.layout
		}
	}
	return w
}

// setHooks sets all of them.
func (p *pipes) setHooks(ctx context.Context) error {
	var args []string
	for h, text := range p.wanted() {
		if len(args) > 0 {
			args = append(args, ";")
		}
		args = append(args, "set-hook", "-g", h, text)
	}
	_, err := p.run.run(ctx, args, nil)
	return err
}

// removeHooks takes ours away, and ends what waits for them.
func (p *pipes) removeHooks(ctx context.Context) {
	p.run.sweepPipes(ctx)
	for _, ch := range []string{p.hooks.change, p.hooks.layout} {
		p.run.run(ctx, []string{"wait-for", "-S", ch}, nil)
	}
}

// sweepPipes removes the hooks of a daemon, ours or one that died. What still
// waits for a dead one's is woken, and ends.
func (r *runner) sweepPipes(ctx context.Context) {
	out, err := r.run(ctx, []string{"show-hooks", "-g", ";", "show-hooks", "-gw"}, nil)
	if err != nil {
		return
	}
	var channels []string
	var args []string
	for name, text := range ourHooks(out) {
		if ch := strings.TrimPrefix(text, "wait-for -S "); !slices.Contains(channels, ch) {
			channels = append(channels, ch)
		}
		if len(args) > 0 {
			args = append(args, ";")
		}
		args = append(args, "set-hook", "-gu", name)
	}
	if len(args) > 0 {
		r.run(ctx, args, nil)
	}
	for _, ch := range channels {
		if !strings.Contains(ch, r.s.nonce) {
			r.run(ctx, []string{"wait-for", "-S", ch}, nil)
		}
	}
}

// ourHooks finds them in tmux's list of hooks.
func ourHooks(out []byte) map[string]string {
	found := map[string]string{}
	for l := range bytes.Lines(out) {
		name, text, ok := strings.Cut(strings.TrimSpace(string(l)), " ")
		if ok && strings.HasSuffix(name, hookIndex) && strings.HasPrefix(text, "wait-for -S akk-") && !strings.ContainsAny(text[len("wait-for -S "):], " ;'\"") {
			found[name] = text
		}
	}
	return found
}

// wait calls do on the loop whenever something may have been signalled, until
// the server or we end. tmux keeps one signal for nobody, but a second one
// takes the first away: so do is called when the next waiter stands, not when
// the last one was woken, and looks at everything. That it stands is told on a
// channel of its own, by exactly one signal for each waiter.
func (p *pipes) wait(channel string, do func()) {
	s := p.s
	if p.waiting[channel] {
		return
	}
	p.waiting[channel] = true
	p.waits.Add(1)
	s.background.Go(func() {
		defer p.waits.Add(-1)
		for {
			stands := channel + "-stands"
			ctx, cancel := context.WithCancel(p.until)
			told := make(chan struct{})
			go func() {
				defer close(told)
				if _, err := p.run.exec(ctx, []string{"wait-for", stands}, nil); err == nil {
					s.post(do)
				}
			}()
			_, err := p.run.exec(p.until, []string{"wait-for", "-S", stands, ";", "wait-for", channel}, nil)
			if err != nil {
				cancel()
			}
			<-told
			cancel()
			if p.ending.Load() {
				return
			}
			if err != nil {
				s.post(func() { delete(p.waiting, channel); p.lost() })
				return
			}
			select { // a storm of events is one event
			case <-time.After(wakeGap):
			case <-s.life.Done():
			}
		}
	})
}

// verifySoon looks whether somebody removed our hooks: setting a hook without
// an index replaces the whole list.
func (p *pipes) verifySoon() {
	if p.hooks.due {
		p.hooks.again = true
		return
	}
	p.hooks.due = true
	p.s.after(max(0, time.Until(p.hooks.checked.Add(verifyGap))), func() {
		p.hooks.again = false
		p.run.do([]string{"show-hooks", "-g", ";", "show-hooks", "-gw"}, nil, func(out []byte, err error) {
			lost := false
			if err == nil {
				have := ourHooks(out)
				for h, text := range p.wanted() {
					lost = lost || have[h] != text
				}
			}
			if lost {
				err = p.setHooks(context.Background())
			}
			p.s.post(func() {
				p.hooks.due, p.hooks.checked = false, time.Now()
				if lost {
					p.s.log.Info("hooks were removed and are set again", "err", fmt.Sprint(err))
					p.s.changed()
					p.checkAll()
				}
				if p.hooks.again {
					p.verifySoon()
				}
			})
		})
	})
}
