package vtparse

import "errors"

// ErrSeed is returned by NewSeeded for fields that no tmux pane can have; the
// error that wraps it names the field. Read the pane again.
var ErrSeed = errors.New("impossible seed")
