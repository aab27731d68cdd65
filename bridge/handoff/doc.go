// Package handoff is the desk: it knows the terminals, reads what the agents in
// them do, and decides from proof who may type what, when.
//
// It promises: one goroutine owns a terminal's state, and what happens to a
// send is a pure function (state, event) -> (state, effects) in dispatch.go;
// a step is durable before the key that can't be taken back; from the first
// byte on a failure is "uncertain" and nothing is typed again by itself;
// acceptance and completion come from the agent's own log, never from the
// screen alone; what available_actions offers is computed by the predicate
// that a send checks again (sendable in facts.go), so an offer never fails for
// a reason that was already visible; a reading that turns to blocked or exited
// is told at once, every other change at the end of a frame.
//
// It refuses: to type into anything but an idle, provably empty composer that
// no human and nobody else holds; to clear a draft; to store a request's text
// (only its hash, R226); to block a mirror's loop.
package handoff
