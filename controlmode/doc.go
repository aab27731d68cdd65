// Package controlmode speaks tmux's control-mode protocol (tmux -C and -CC):
// one connection to one session, replies in order, notifications, output.
//
// It promises: the reader never waits for anybody, so tmux never stops reading
// an agent because of us; a reply belongs to the command that asked for it,
// whatever a screen or a name contains; a line that nobody understands is
// noise and harms nothing; every command has a deadline.
//
// It refuses: to resize, to attach without -E, to start a server, to know what
// a pane or an agent is.
package controlmode
