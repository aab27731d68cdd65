package main

import (
	"context"
	"errors"
	"io"
	"time"

	"akk/ui"
	"akk/vtparse/cast"

	"golang.org/x/term"
)

// sizeWait is how long the player waits for its pane to get the recording's
// size: akk demo gives it just after the start.
const sizeWait = 2 * time.Second

// play plays a recording on standard output.
func (a *app) play(ctx context.Context, in io.Reader, name string, speed float64) error {
	ctx, restore := a.untilKey(ctx)
	defer restore()
	defer a.tidy()
	if _, tty := terminal(a.out); tty {
		_, _ = io.WriteString(a.out, keepTitle)
	}
	err := a.playOnce(ctx, in, name, speed)
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errKey) {
		return nil
	}
	return err
}

// errKey is why a play ended: the human pressed a key for it.
var errKey = errors.New("ended by a key")

// untilKey ends the context when a human presses q, Ctrl-C or Ctrl-D. A
// terminal's own answers to a recording's questions and all other keys are
// thrown away.
func (a *app) untilKey(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	keys, ok := terminal(a.in)
	if _, tty := terminal(a.out); !ok || !tty {
		return ctx, func() { cancel(nil) }
	}
	old, err := term.MakeRaw(int(keys.Fd()))
	if err != nil {
		return ctx, func() { cancel(nil) }
	}
	go func() {
		drain(keys)
		cancel(errKey)
	}()
	return ctx, func() {
		cancel(nil)
		term.Restore(int(keys.Fd()), old)
	}
}

// keepTitle and oldTitle put the terminal's title on its stack and take it from
// there; bottom is below every picture.
const (
	keepTitle = "\x1b[22;2t"
	oldTitle  = "\x1b[23;2t"
	bottom    = "\x1b[9999;1H"
)

// tidy gives the terminal back what recordings have switched; what is written
// next stands below the picture.
func (a *app) tidy() {
	if _, tty := terminal(a.out); tty {
		_, _ = io.WriteString(a.out, ui.Reset+oldTitle+bottom+"\r\n")
	}
}

// maxPlay bounds the output that is held to be played, in bytes; clipCost is
// what an event takes beside its text.
const (
	maxPlay  = 256 << 20
	clipCost = 64
)

// playOnce leaves the last picture as it was drawn, its cursor included.
func (a *app) playOnce(ctx context.Context, in io.Reader, name string, speed float64) error {
	rd, err := cast.NewReader(in)
	if err != nil {
		return badCast(name, err)
	}
	var clips []ui.Clip
	held := 0
	for {
		e, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return badCast(name, err)
		}
		if e.Kind == cast.Output {
			if held += len(e.Data) + clipCost; held > maxPlay {
				return fail("read it with akk replay --json, which keeps nothing of it", "play %s: its output is longer than %d bytes", name, maxPlay)
			}
			clips = append(clips, ui.Clip{At: e.Time, Data: []byte(e.Data)})
		}
	}
	out, tty := terminal(a.out)
	if !tty {
		return ui.Play(ctx, a.out, clips, speed)
	}
	fits := func() bool {
		w, h, err := term.GetSize(int(out.Fd()))
		return err != nil || w >= rd.Header.Width && h >= rd.Header.Height
	}
	for end := time.Now().Add(sizeWait); !fits() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(20 * time.Millisecond)
	}
	if !fits() {
		a.note("the recording is %dx%d, bigger than this terminal: it will look broken\r", rd.Header.Width, rd.Header.Height)
	}
	if _, err := io.WriteString(a.out, ui.Reset+"\x1b[2J\x1b[H"); err != nil {
		return err
	}
	return ui.Play(ctx, a.out, clips, speed)
}

// drain reads keys until q, Ctrl-C, Ctrl-D or the end.
func drain(keys io.Reader) {
	b := make([]byte, 256)
	for {
		n, err := keys.Read(b)
		if n == 1 && (b[0] == 'q' || b[0] == 3 || b[0] == 4) || err != nil {
			return
		}
	}
}
