package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	"akk/bridge/rpc"

	"github.com/gdamore/tcell/v2"
)

// The sidebar's main loop.
//
//	daemon --follow--> feed goroutine --latest list--> mailbox --\
//	terminal --------> tcell ---------> key, mouse, resize -------> loop -> Model -> Render -> blit
//	clock  -----------> 1 s, ages ------------------------------/        \-> Actions (own goroutine) -> note
//
// One goroutine owns the Model. The mailbox keeps only the newest list, so a
// slow terminal never builds a backlog, and the feed never waits for a draw.

// Source streams the rows: yield is called with the whole list at once and
// after every change. Follow returns when the connection ends.
type Source interface {
	Follow(ctx context.Context, yield func(rpc.List) error) error
}

// Actions is what a key can do beside drawing.
type Actions interface {
	// Jump brings the row's pane to the human who looks at the sidebar. The
	// note is shown; it may be "".
	Jump(ctx context.Context, r rpc.Row) (note string, err error)
	// Takeover gives the row's terminal to the human, Handback gives it back,
	// Restore puts back a draft of his that a task took the place of.
	Takeover(ctx context.Context, r rpc.Row) (note string, err error)
	Handback(ctx context.Context, r rpc.Row) (note string, err error)
	Restore(ctx context.Context, r rpc.Row) (note string, err error)
	// Resized is called after every change of the sidebar's own size.
	Resized(ctx context.Context)
}

const (
	// retryMin and retryMax bound the wait before the daemon is asked again:
	// short enough that a restart is hardly seen, long enough to cost nothing.
	retryMin, retryMax = 250 * time.Millisecond, 2 * time.Second
	// clockTick is how often ages are drawn anew.
	clockTick = time.Second
	// orderLimit is how long tmux or the daemon may take for a key's order.
	orderLimit = 5 * time.Second
)

// mail is one thing that the feed has to say.
type mail struct {
	list    *rpc.List
	trouble error
}

// mailbox keeps the newest mail only.
type mailbox struct {
	mu   sync.Mutex
	last *mail
	bell chan struct{}
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

func (b *mailbox) put(m mail) {
	b.mu.Lock()
	b.last = &m
	b.mu.Unlock()
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

func (b *mailbox) take() *mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.last
	b.last = nil
	return m
}

// feed follows the daemon for ever: after each end it says so and comes back.
func feed(ctx context.Context, src Source, box *mailbox) {
	wait := retryMin
	for ctx.Err() == nil {
		err := src.Follow(ctx, func(l rpc.List) error {
			wait = retryMin
			box.put(mail{list: &l})
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the daemon ended")
		}
		box.put(mail{trouble: err})
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*2, retryMax)
	}
}

// Run shows the sidebar on an initialised screen until q, ctx's end, or the
// end of the terminal. It does not call s.Fini.
func Run(ctx context.Context, s tcell.Screen, src Source, act Actions, keys Keys) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	box := newMailbox()
	wg.Go(func() { feed(ctx, src, box) })
	events := make(chan tcell.Event)
	wg.Go(func() { s.ChannelEvents(events, ctx.Done()) })
	notes := make(chan string, 1)
	tick := time.NewTicker(clockTick)
	defer tick.Stop()
	s.EnableMouse(tcell.MouseButtonEvents)

	a := &app{s: s, pal: newPalette(wantColours()), m: Model{Now: time.Now(), Keys: keys}, act: act}
	a.carry = func(order order, r rpc.Row) {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, orderLimit)
			defer cancel()
			note, err := order(ctx, r)
			if err != nil {
				note = err.Error()
			}
			select {
			case notes <- note:
			case <-ctx.Done():
			}
		})
	}
	a.draw()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-box.bell:
			a.take(box.take())
		case n := <-notes:
			a.m.Note = n
		case <-tick.C:
		case ev := <-events:
			if ev == nil {
				return nil
			}
			if _, ok := ev.(*tcell.EventResize); ok {
				s.Sync()
				wg.Go(func() { act.Resized(ctx) })
			} else if !a.handle(ev) {
				return nil
			}
		}
		a.draw()
	}
}

// order is what a key does with the chosen row.
type order func(ctx context.Context, r rpc.Row) (note string, err error)

type app struct {
	s     tcell.Screen
	pal   palette
	m     Model
	pic   Picture
	act   Actions
	carry func(order, rpc.Row)
}

func (a *app) draw() {
	a.m.Now = time.Now()
	w, h := a.s.Size()
	a.pic = Render(a.m, w, h)
	a.m.Top = a.pic.Top
	blit(a.s, a.pic, a.pal)
}

func (a *app) take(m *mail) {
	switch {
	case m == nil:
	case m.list != nil:
		a.m = a.m.Take(*m.list, time.Now())
	default:
		a.m.Link, a.m.Trouble, a.m.Note = Reconnecting, m.trouble.Error(), ""
	}
}

// handle carries out one key or click; false ends the sidebar.
func (a *app) handle(ev tcell.Event) bool {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		a.m.Note = ""
		return a.key(ev)
	case *tcell.EventMouse:
		_, y := ev.Position()
		switch {
		case ev.Buttons()&tcell.WheelUp != 0:
			a.m = a.m.Move(-1)
		case ev.Buttons()&tcell.WheelDown != 0:
			a.m = a.m.Move(1)
		case ev.Buttons()&tcell.ButtonPrimary != 0:
			a.m.Note = ""
			if y >= 0 && y < len(a.pic.RowAt) && a.pic.RowAt[y] != "" {
				a.m.Selected = a.pic.RowAt[y]
				a.enter()
			}
		}
	}
	return true
}

func (a *app) key(ev *tcell.EventKey) bool {
	page := max(a.pic.H/2-1, 1)
	switch ev.Key() {
	case tcell.KeyUp:
		a.m = a.m.Move(-1)
	case tcell.KeyDown:
		a.m = a.m.Move(1)
	case tcell.KeyPgUp:
		a.m = a.m.Move(-page)
	case tcell.KeyPgDn:
		a.m = a.m.Move(page)
	case tcell.KeyHome:
		a.m = a.m.Move(-len(a.m.List.Terminals))
	case tcell.KeyEnd:
		a.m = a.m.Move(len(a.m.List.Terminals))
	case tcell.KeyEnter:
		a.enter()
	case tcell.KeyEscape:
		a.m.Help = false
	case tcell.KeyCtrlC:
		return false
	case tcell.KeyCtrlL:
		a.s.Sync()
	case tcell.KeyRune:
		switch k := a.m.Keys.withDefaults(); string(ev.Rune()) {
		case k.Leave:
			if a.m.Help {
				a.m.Help = false
				return true
			}
			return false
		case k.Help:
			a.m.Help = !a.m.Help
		case k.Up:
			a.m = a.m.Move(-1)
		case k.Down:
			a.m = a.m.Move(1)
		case k.First:
			a.m = a.m.Move(-len(a.m.List.Terminals))
		case k.Last:
			a.m = a.m.Move(len(a.m.List.Terminals))
		case k.Takeover:
			a.order(a.act.Takeover)
		case k.Handback:
			a.order(a.act.Handback)
		case k.Restore:
			a.order(a.act.Restore)
		}
	}
	return true
}

func (a *app) enter() {
	if a.m.Help {
		a.m.Help = false
		return
	}
	a.order(a.act.Jump)
}

// order carries an order out for the row that is shown as chosen; the help page
// shows none.
func (a *app) order(o order) {
	if r, ok := a.m.Current(); ok && !a.m.Help {
		a.carry(o, r)
	}
}
