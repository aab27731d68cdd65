package rpc

import (
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// This file tells a daemon that is stopped from one that is slow. It upholds: no
// call waits for a daemon that answers nothing; a call may take as long as it
// takes while the daemon still answers a ping; the connection to a silent daemon
// is given up as a whole, so that no late answer can meet another call.

const (
	// lateAfter is how long an answer may take before the daemon is asked
	// whether it is there, pingGap how soon it is asked again.
	lateAfter = time.Second
	pingGap   = 500 * time.Millisecond
	// silentTicks of silentTick without a word make a daemon silent. They are
	// counted one by one: a process that was stopped itself meanwhile counts one.
	silentTick  = 250 * time.Millisecond
	silentTicks = 16
)

// ErrSilent is returned when the daemon is there and answers nothing.
var ErrSilent = errors.New("the akk daemon does not answer")

// silent is ErrSilent in words; pid 0 is not known.
func silent(socket string, pid int) *Error {
	cure := "look whether it is stopped (akk doctor), or end it"
	if pid > 0 {
		cure = fmt.Sprintf("look whether it is stopped (akk doctor; kill -CONT %d lets it go on), or end it", pid)
	}
	return &Error{Code: CodeUnavailable, Message: fmt.Sprintf("the akk daemon on %s does not answer", socket), Cure: cure, silent: true}
}

// changing are the methods that do something when they are carried out; what is
// not known of them must not be taken for "nothing was done".
var changing = map[string]bool{MethodSend: true, MethodRespond: true, MethodRetrySubmission: true, MethodCancel: true, MethodRestore: true,
	MethodRenew: true, MethodClose: true, MethodReconcile: true, MethodTakeover: true, MethodHandback: true,
	MethodWatch: true, MethodUnwatch: true, MethodRetryCallback: true, MethodStoreCompact: true}

// unknown is err for a call that went out before the daemon fell silent.
func unknown(method string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.silent || !changing[method] {
		return err
	}
	return &Error{Code: CodeUncertain, Message: e.Message + "; whether " + method + " was or will be carried out is not known",
		Cure: e.Cure + "; then look with `akk list` before it is called again", silent: true}
}

// attend sees to it that an answer that is late gets looked after; c.mu is held.
func (c *Client) attend() {
	if !c.attended {
		c.attended = true
		time.AfterFunc(lateAfter, c.look)
	}
}

// look goes on while answers are owed, and asks for a sign of life when one of
// them is late.
func (c *Client) look() {
	for {
		late, owed := c.owed()
		switch {
		case !owed:
			return
		case !late:
			time.AfterFunc(lateAfter, c.look)
			return
		}
		if !c.ping() {
			c.giveUp(silent(c.socket, c.hello.PID))
			return
		}
		select {
		case <-c.done:
			return
		case <-time.After(pingGap):
		}
	}
}

// owed tells whether answers are, and are late. When there are none, the next
// call is attended anew. Before the greeting nothing is late: it has its own bound.
func (c *Client) owed() (late, owed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		now := time.Now()
		for _, w := range c.waiting {
			if !w.since.IsZero() {
				owed = true
				late = late || c.greeted && now.Sub(w.since) >= lateAfter
			}
		}
	}
	c.attended = owed
	return late, owed
}

// ping asks something that a daemon answers at once, whatever it does. Any word
// of the daemon is an answer. The time in which the reader itself waits for who
// takes its items does not count.
func (c *Client) ping() bool {
	heard := c.heard.Load()
	w := newWaiter()
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = w
	c.mu.Unlock()
	defer c.forget(id)
	go func() { // the way out may be full
		if r, err := request(id, MethodPing, nil); err == nil {
			c.write(r)
		}
	}()
	tick := time.NewTicker(silentTick)
	defer tick.Stop()
	for n := 0; n < silentTicks; {
		select {
		case <-c.done:
			return true // that is another end
		case <-w.reply:
			return true
		case <-tick.C:
		}
		if c.heard.Load() != heard {
			return true
		}
		if !c.handing.Load() {
			n++
		}
	}
	return false
}

// giveUp ends the connection because of e.
func (c *Client) giveUp(e error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = e
	}
	c.mu.Unlock()
	c.nc.Close()
}

// broken is the error of a write that failed: the reason of the end if known.
func (c *Client) broken(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return fmt.Errorf("%w: %v", ErrClosed, err)
}

// arrived is who waits for that answer; it is owed no more.
func (c *Client) arrived(m *jsonrpc.Response) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[idNumber(m.ID)]
	if w != nil {
		w.since = time.Time{}
	}
	return w
}
