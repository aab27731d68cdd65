package main

import (
	"context"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"akk/bridge/rpc"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// maxRequest bounds what is read from stdin for a task, in bytes; the desk has
// its own, smaller bound.
const maxRequest = 4 << 20

func newSend(a *app) *cobra.Command {
	var p rpc.SendParams
	var wait time.Duration
	c := &cobra.Command{
		Use:   "send ID [TEXT|-]",
		Short: "Send a task to an agent whose prompt is provably empty and has the keys",
		Long: `Types TEXT (or standard input) into the agent's prompt, submits it and waits
until the agent has taken it. Nothing is typed unless the screen proves that the
prompt is empty and gets the keys; once a byte has gone out nothing is repeated.

Exit code 0: the agent accepted it. 1: refused, or acceptance was not seen.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(wait); err != nil {
				return err
			}
			text, err := a.request(c.Context(), args[1:])
			if err != nil {
				return err
			}
			d, srv, err := a.connectSettled(c.Context())
			if err != nil {
				return err
			}
			defer d.Close()
			p.ID, p.Request, p.Socket = args[0], text, a.narrow(args[0], srv)
			p.AcceptWaitMillis = int(wait / time.Millisecond)
			s, err := a.sendOnce(c.Context(), d, p)
			if err != nil {
				return a.refusal(err)
			}
			return a.printSend(s)
		},
	}
	c.Flags().BoolVar(&p.Explicit, "explicit", false, "type it now: into running work, or in place of a draft that nobody has touched for 5s (akk restore puts it back); never into a dialog or over a human's hold")
	c.Flags().StringVar(&p.RequestID, "request-id", "", "repeat with the same `id` to get the same receipt instead of a second task")
	c.Flags().DurationVar(&wait, "wait", 0, "the `time` to wait for acceptance (default 5s, at most 50s)")
	return c
}

// sendOnce sends under a request id of its own, so that a daemon that ends in
// the middle can be asked again: the same id gives the same receipt, never a
// second task.
func (a *app) sendOnce(ctx context.Context, d desk, p rpc.SendParams) (rpc.Send, error) {
	if p.RequestID == "" {
		p.RequestID = "msg-" + uuid.NewString()
	}
	s, err := d.Send(ctx, p)
	if e, ok := errors.AsType[*rpc.Error](err); ok && e.Code == rpc.CodeUncertain && errors.Is(err, rpc.ErrSilent) {
		return s, &rpc.Error{Code: e.Code, Message: e.Message, Cure: e.Cure + "; to ask again without a second task: akk send --request-id " + p.RequestID + " with the same text"}
	}
	if !errors.Is(err, rpc.ErrClosed) {
		return s, err
	}
	again, _, err2 := a.connectSettled(ctx)
	if err2 == nil {
		defer again.Close()
		if s, err2 = again.Send(ctx, p); err2 == nil {
			return s, nil
		}
	}
	return rpc.Send{}, fail("look at the pane (akk screen "+p.ID+"); to ask again without a second task: akk send --request-id "+p.RequestID+" with the same text",
		"the daemon ended while it sent the task, which may have arrived: %v", err2)
}

// refusal is what --json prints of a task that was not sent: {"error": ...} on
// standard output; the words go to stderr as ever.
func (a *app) refusal(err error) error {
	if !a.json {
		return err
	}
	e, ok := errors.AsType[*rpc.Error](err)
	if !ok {
		what, cure := explainError(err)
		e = &rpc.Error{Code: rpc.CodeUnavailable, Message: what, Cure: cure}
	}
	if perr := a.print(map[string]*rpc.Error{"error": e}); perr != nil {
		return perr
	}
	return err
}

// request is the task's text: the argument, or standard input.
func (a *app) request(ctx context.Context, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		return checkRequest(args[0])
	}
	if _, tty := terminal(a.in); tty {
		if len(args) == 0 {
			return "", usagef("send needs a text: akk send ID TEXT, or - to read it from standard input")
		}
		a.note("type the text; Ctrl-D on a line of its own sends it, Ctrl-C gives it up")
	}
	b, err := io.ReadAll(io.LimitReader(a.stdin(ctx), maxRequest+1))
	if errors.Is(err, errInput) {
		return "", fail("end the text with Ctrl-D, or give it as an argument", "interrupted while the text was read from standard input; nothing was sent")
	}
	if err != nil {
		return "", fail("give the text as an argument", "read the text from standard input: %v", err)
	}
	if len(b) > maxRequest {
		return "", fail("put it into a file and send its path", "text on standard input is longer than %d bytes", maxRequest)
	}
	return checkRequest(string(b))
}

func checkRequest(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fail("send valid UTF-8", "text is not valid UTF-8; nothing was sent")
	}
	return s, nil
}

// printSend says what was seen; it fails unless the agent accepted the task.
func (a *app) printSend(s rpc.Send) error {
	accepted := s.SubmissionOutcome == "agent_accepted"
	if a.json {
		if err := a.print(s); err != nil {
			return err
		}
		if !accepted {
			return reported{}
		}
		return nil
	}
	if accepted {
		a.printf("accepted: %s took the task (%s)\n", s.TerminalID, s.TurnID)
		if s.ManagementMode == "unmanaged" { // R54: the store could not keep it
			a.printf("  note: %s\n", s.Reason)
			return nil
		}
		a.printf("  follow it: akk status %s\n", s.TurnID)
		return nil
	}
	reason := s.Reason
	if reason == "" {
		reason = "the agent's acceptance was not seen"
	}
	cure := s.Cure
	if cure == "" {
		cure = "look at the pane, then `akk status " + s.TurnID + "`"
		if s.DoNotRetry {
			cure += "; do not send it again, it may have arrived"
			if !s.TerminalInputDispatched {
				cure = "`akk status " + s.TurnID + "`; do not send it again, this one is still under way"
			}
		}
	}
	what := plain(submissions, s.SubmissionOutcome)
	if s.SubmissionOutcome == "pending_acceptance" {
		what = pendingWord(&s)
	}
	return fail(cure, "%s: %s", what, reason)
}
