// Package command is command_json_v1: it carries one callback to its Host by
// running the command of the Host Profile, and says what that proves.
//
// It promises: at most one run per Deliver, started directly with an argv and
// never by a shell; nothing but the body on stdin, nothing but the listed
// variables in the environment; an end within the profile's timeout; accepted
// only for an answer that echoes both ids exactly and names an acceptance
// (R206 to R208). What can't be proven is uncertain.
//
// It refuses to run anything when the profile's file has changed, the route is
// another one, or the executable is not what it must be (R199, R210, R211).
// What the command prints goes into no log and no error.
package command
