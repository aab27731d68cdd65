package model

// The script: which answer follows on which user text. It upholds that a
// script is a value: nothing in it changes while it is served.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Script says what the model answers. The first rule whose Match is contained
// in the newest user text decides; without one it is Default.
type Script struct {
	Rules   []Rule
	Default []Reply // nil = one short text
}

// Rule answers the user texts that contain Match. Reply N is for the N-th
// request after that text (0 first, then one for each batch of tool results);
// the last reply repeats.
type Rule struct {
	Match   string
	Replies []Reply
}

// Reply is one answer of the model, its steps in order.
type Reply []Step

// Kind names what a Step does.
type Kind int

// The kinds of a Step.
const (
	KindText   Kind = iota + 1 // assistant text, streamed
	KindReason                 // reasoning summary (Responses), thinking (Messages)
	KindTool                   // a function or tool call with a JSON object
	KindCustom                 // a custom tool call with plain text (Responses only)
	KindSleep                  // silence in the stream
	KindHTTP                   // a plain HTTP error instead of a stream; first step only
	KindFail                   // an error inside of the stream, which ends it
	KindDrop                   // the connection is cut
	KindStop                   // the stop reason (Messages only)
	KindGate                   // silence until Server.Open
)

// Step is one part of a Reply. Use the functions below to make one.
type Step struct {
	Kind      Kind
	Text      string        // text, reason, custom
	Chunk     int           // characters per delta; 0 = 16
	Every     time.Duration // pause after each delta and the length of a sleep
	Tool      string        // tool, custom: its name
	Namespace string        // tool: Codex's namespace of an MCP tool, "" if none
	Input     any           // tool: encoded as JSON
	Find      string        // tool: a regular expression; its first match in the request replaces Found in the input
	Status    int           // http: the status code
	Code      string        // http, fail: the error's type or code; stop: the reason
	Message   string        // http, fail
}

// Text answers with s at once.
func Text(s string) Step { return Step{Kind: KindText, Text: s, Chunk: 400} }

// Slow answers with s in deltas of chunk characters, one every pause.
func Slow(s string, chunk int, every time.Duration) Step {
	return Step{Kind: KindText, Text: s, Chunk: chunk, Every: every}
}

// Reason streams s as the model's reasoning.
func Reason(s string, chunk int, every time.Duration) Step {
	return Step{Kind: KindReason, Text: s, Chunk: chunk, Every: every}
}

// Tool calls the tool name with input.
func Tool(name string, input any) Step { return Step{Kind: KindTool, Tool: name, Input: input} }

// Custom calls a freeform tool (Codex's apply_patch).
func Custom(name, input string) Step { return Step{Kind: KindCustom, Tool: name, Text: input} }

// Hold in a text stops its stream there until Server.Open; it is not sent. So a
// test decides how long an answer streams, however loaded the machine is.
const Hold = "\x00"

// Gate keeps the stream open and silent until Server.Open.
func Gate() Step { return Step{Kind: KindGate} }

// Found stands in a tool's input for what Find matches.
const Found = "@FOUND@"

// found is the reply with every Found filled in; the script's own is untouched.
func (r Reply) found(body []byte) Reply {
	out := make(Reply, len(r))
	for i, st := range r {
		out[i] = st.found(body)
	}
	return out
}

// found is the step with Found filled in from the request's body.
func (st Step) found(body []byte) Step {
	if st.Find == "" {
		return st
	}
	st.Input = json.RawMessage(strings.ReplaceAll(encode(st.Input), Found, string(regexp.MustCompile(st.Find).Find(body))))
	return st
}

// Sleep keeps the stream open and silent for d.
func Sleep(d time.Duration) Step { return Step{Kind: KindSleep, Every: d} }

// HTTPError refuses the request with status; code is the error's type.
func HTTPError(status int, code, message string) Step {
	return Step{Kind: KindHTTP, Status: status, Code: code, Message: message}
}

// Fail ends the stream with an error event.
func Fail(code, message string) Step { return Step{Kind: KindFail, Code: code, Message: message} }

// Drop cuts the connection in mid-stream.
func Drop() Step { return Step{Kind: KindDrop} }

// Stop sets the stop reason of a Messages reply.
func Stop(reason string) Step { return Step{Kind: KindStop, Code: reason} }

// Words are n numbered words in lines of four, which tell by themselves
// whether one is missing.
func Words(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
		case i%4 == 0:
			b.WriteString("  \n")
		default:
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "word%03d", i+1)
	}
	return b.String()
}

// Validate returns ErrBadStep, with the place, if a step can't be carried out.
func (s Script) Validate() error {
	check := func(where string, replies []Reply) error {
		for i, r := range replies {
			for j, st := range r {
				if msg := st.fault(j); msg != "" {
					return fmt.Errorf("%w: %s, reply %d, step %d: %s", ErrBadStep, where, i, j, msg)
				}
			}
		}
		return nil
	}
	for _, r := range s.Rules {
		if r.Match == "" {
			return fmt.Errorf("%w: a rule has an empty match; use default for that", ErrBadStep)
		}
		if len(r.Replies) == 0 {
			return fmt.Errorf("%w: rule %q has no reply", ErrBadStep, r.Match)
		}
		if err := check(fmt.Sprintf("rule %q", r.Match), r.Replies); err != nil {
			return err
		}
	}
	return check("default", s.Default)
}

func (st Step) fault(at int) string {
	switch st.Kind {
	case KindText, KindReason, KindSleep, KindFail, KindDrop, KindGate:
		return ""
	case KindTool, KindCustom:
		if st.Tool == "" {
			return "a call without a tool's name"
		}
		if _, err := regexp.Compile(st.Find); err != nil {
			return "find: " + err.Error()
		}
	case KindHTTP:
		if at != 0 {
			return "an HTTP error must be the first step, the stream has begun"
		}
		if st.Status < 400 || st.Status > 599 {
			return fmt.Sprintf("HTTP status %d is not an error", st.Status)
		}
	case KindStop:
		if st.Code == "" {
			return "a stop without a reason"
		}
	default:
		return fmt.Sprintf("unknown kind %d", st.Kind)
	}
	return ""
}

// pick returns the reply for the newest user text after n earlier replies.
func (s Script) pick(text string, n int) (rule string, r Reply) {
	replies := s.Default
	for _, c := range s.Rules {
		if strings.Contains(text, c.Match) {
			rule, replies = c.Match, c.Replies
			break
		}
	}
	if len(replies) == 0 {
		return rule, Reply{Text("Default answer of the scripted model.")}
	}
	return rule, replies[min(n, len(replies)-1)]
}
