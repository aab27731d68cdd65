// Package model is a scripted stand-in for the two model APIs that the agents
// speak: OpenAI's Responses API (Codex) and Anthropic's Messages API (Claude
// Code), both streamed as server-sent events.
//
// It promises: what it answers follows from the script and the conversation in
// the request alone, so a repeated run is answered the same; every request is
// recorded with its time and the user texts in it, so that a test can say what
// an agent really asked, and how often.
//
// It refuses: any listener that is not on a loopback address, any other route,
// and to remember more than a bounded part of a request.
//
// The rule that it upholds: what an agent was really given is proven at the
// model's side, not read off a screen.
package model
