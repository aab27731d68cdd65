// Package launch holds the few one-off tmux commands behind a human's key
// press or command: open the sidebar, go to a pane, open the demo's windows.
//
// It promises: what exists is found again, not made twice; windows and panes
// that it makes are marked with pane options (@akk_sidebar, @akk_demo); a tmux
// that is missing, too old or gone is told with its cure.
//
// It refuses: to type into a pane, to read a screen, and to touch a window
// that it did not make (but for the sidebar's split, which was asked for).
package launch
