package model

import "errors"

var (
	// ErrNotLoopback is returned by Serve for a listener that others could reach.
	ErrNotLoopback = errors.New("model server listens on loopback only; hand it a listener on 127.0.0.1 or ::1")
	// ErrBadStep is returned by Script.Validate for a step that says nothing or
	// stands where it can't be carried out.
	ErrBadStep = errors.New("bad step in the model's script")
)
