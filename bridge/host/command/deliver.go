package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"time"
	"unicode"

	"akk/bridge/host/profile"
	"akk/bridge/rpc"
)

// This file decides: may this envelope be delivered by this profile, and what
// does the end of the command mean.

// The codes of an Outcome that is not accepted.
const (
	CodeRoute      = "route_mismatch"      // another profile, revision or session; nothing ran
	CodeEnvelope   = "envelope_invalid"    // ids that can't be an argument; nothing ran
	CodeChanged    = "profile_changed"     // nothing ran
	CodeMissing    = "executable_missing"  // ENOENT; nothing ran
	CodeDenied     = "executable_denied"   // EACCES; nothing ran
	CodeRefused    = "executable_refused"  // a shell, no file, no PATH; nothing ran
	CodeSpawn      = "spawn_failed"        // nothing ran
	CodeTimeout    = "timeout"             // killed
	CodeStopped    = "bridge_ended"        // killed
	CodeOutput     = "output_limit"        // killed
	CodeExit       = "exit_without_answer" // a failed exit, nothing readable on stdout
	CodeMalformed  = "answer_malformed"
	CodeUnknown    = "answer_unknown_word"
	CodeEcho       = "answer_ids_differ"
	CodeAcceptance = "answer_without_acceptance_id"
	CodeHost       = "host_said_so" // the Host's own word, mapped
)

// acceptanceMax bounds the Host's acceptance id in characters, as it is kept.
const acceptanceMax = 256

// Outcome is what became of one envelope.
type Outcome struct {
	Outcome      string // rpc.Outcome...
	AcceptanceID string
	Code         string // "" if accepted
	Detail       string // our words only, never the command's
}

// Runner delivers for one bridge. It holds no state: the caller sees to it
// that no two run at once.
type Runner struct {
	Profile *profile.Profile
	// Session is the one that the bridge was started with (startup_v1).
	Session string
	// Lookup reads the bridge's environment.
	Lookup func(string) (string, bool)
	Log    *slog.Logger
}

// Deliver carries one envelope. When ctx ends the command is killed and the
// outcome is uncertain.
func (r *Runner) Deliver(ctx context.Context, e rpc.Envelope) Outcome {
	began := time.Now()
	o := r.deliver(ctx, e)
	r.Log.Info("callback", "delivery", e.DeliveryID, "event", e.Event.ID, "outcome", o.Outcome, "code", o.Code, "ms", time.Since(began).Milliseconds())
	return o
}

func (r *Runner) deliver(ctx context.Context, e rpc.Envelope) Outcome {
	if o := r.fence(e); o != nil {
		return *o
	}
	c := &r.Profile.Callback
	if err := c.Ready(); err != nil {
		return notRun(err)
	}
	v := profile.Values{Session: e.Route.ControllerSessionID, DeliveryID: e.DeliveryID, MessageID: e.Event.ID, IdempotencyKey: e.IdempotencyKey}
	argv := []string{c.Executable}
	for _, t := range c.Arguments {
		argv = append(argv, t.Fill(v))
	}
	res := run(ctx, argv, r.environment(), e.Event.Body, c.Timeout, c.MaxOutput)
	switch {
	case res.spawn != nil:
		return notRun(res.spawn)
	case res.killed != "":
		return uncertain(res.killed, killedWords[res.killed])
	}
	return r.read(res, e)
}

// fence returns why the envelope is not this bridge's to deliver (R210 to
// R212), nil if it is.
func (r *Runner) fence(e rpc.Envelope) *Outcome {
	permanent := func(code, what string) *Outcome {
		return &Outcome{Outcome: rpc.OutcomePermanent, Code: code, Detail: what}
	}
	p, route := r.Profile, e.Route
	switch {
	case route.Transport != profile.DriverCommand || route.ProfileID != p.ID || route.ProfileRevision != p.Revision:
		return permanent(CodeRoute, "the callback is for another profile or another revision of it; nothing was run")
	case p.Scope == profile.ScopeStartup && route.ControllerSessionID != r.Session:
		return permanent(CodeRoute, "the callback is for another session of the host; nothing was run")
	}
	for _, id := range []string{e.DeliveryID, e.Event.ID, route.ControllerSessionID} {
		if id == "" || strings.ContainsFunc(id+e.IdempotencyKey, unicode.IsControl) {
			return permanent(CodeEnvelope, "an id of the callback is empty or holds control characters; nothing was run")
		}
	}
	if err := p.Unchanged(); err != nil {
		// Nothing ran: once the bridge is restarted it may be tried again.
		return &Outcome{Outcome: rpc.OutcomeRetryable, Code: CodeChanged, Detail: "the host profile has changed since the bridge started; nothing was run; restart the host's bridge"}
	}
	return nil
}

// environment is the whole environment of the command (R202).
func (r *Runner) environment() []string {
	env := []string{} // not nil: nil would be ours
	for _, name := range r.Profile.Callback.Environment {
		if v, ok := r.Lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// notRun is the outcome of a command that did not start: nothing can have
// happened at the Host.
func notRun(err error) Outcome {
	o := Outcome{Outcome: rpc.OutcomePermanent, Code: CodeSpawn, Detail: "the command could not be started; nothing was run"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.Code, o.Detail = CodeMissing, "the command, or its interpreter, is not there; nothing was run"
	case errors.Is(err, fs.ErrPermission):
		o.Code, o.Detail = CodeDenied, "the command may not be executed; nothing was run"
	case errors.Is(err, profile.ErrNotReady):
		o.Code, o.Detail = CodeRefused, err.Error()+"; nothing was run"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ETXTBSY):
		o.Outcome = rpc.OutcomeRetryable // the machine's state, not the profile's
	}
	return o
}

var killedWords = map[string]string{
	CodeTimeout: "the command did not end in time and was killed; what it did before is not known",
	CodeStopped: "the bridge had to end and killed the command; what it did before is not known",
	CodeOutput:  "the command wrote more than the profile allows and was killed; what it did before is not known",
}

func uncertain(code, what string) Outcome {
	return Outcome{Outcome: rpc.OutcomeUncertain, Code: code, Detail: what}
}

// read takes the command's answer for what it proves (R206, R207).
func (r *Runner) read(res result, e rpc.Envelope) Outcome {
	ack := &r.Profile.Callback.Ack
	doc, err := profile.DecodeAnswer(res.stdout)
	if err != nil {
		if !res.success {
			return uncertain(CodeExit, fmt.Sprintf("the command ended with %s and without a readable answer", res.status))
		}
		return uncertain(CodeMalformed, "the command's answer is not one JSON document")
	}
	word, ok := ack.Disposition.Text(doc)
	if !ok {
		return uncertain(CodeMalformed, "the command's answer has no disposition where the profile says")
	}
	outcome, ok := ack.Mapping[word]
	if !ok {
		return uncertain(CodeUnknown, "the profile does not map the host's disposition")
	}
	delivery, ok1 := ack.Delivery.Text(doc)
	message, ok2 := ack.Message.Text(doc)
	if !ok1 || !ok2 || delivery != e.DeliveryID || message != e.Event.ID {
		return uncertain(CodeEcho, "the command's answer does not echo the delivery and message ids")
	}
	switch outcome {
	case rpc.OutcomeAccepted:
		id, _ := ack.Acceptance.Text(doc)
		if id = r.clean(id); id == "" {
			return uncertain(CodeAcceptance, "the command's answer has no acceptance id")
		}
		return Outcome{Outcome: outcome, AcceptanceID: id}
	case rpc.OutcomeUncertain:
		return uncertain(CodeHost, "the host does not know what became of it")
	}
	return Outcome{Outcome: outcome, Code: CodeHost, Detail: "the host did not take it"}
}

// clean bounds what the Host calls its acceptance, and lets none of the
// variables' values through (R213).
func (r *Runner) clean(id string) string {
	for _, name := range r.Profile.Callback.Environment {
		if v, ok := r.Lookup(name); ok && len(v) >= secretMin && strings.Contains(id, v) {
			return "[redacted]"
		}
	}
	id = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, id)
	id = strings.TrimSpace(id)
	if runes := []rune(id); len(runes) > acceptanceMax {
		id = string(runes[:acceptanceMax])
	}
	return id
}

// secretMin is the length from which a variable's value is looked for: shorter
// ones ("1", "prod") are no secrets and would hit by chance.
const secretMin = 6
