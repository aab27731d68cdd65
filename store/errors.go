package store

import "errors"

var (
	// ErrNotFound is returned by Get and Delete for an id that the collection
	// does not have.
	ErrNotFound = errors.New("no such record")
	// ErrConflict is returned by Put and Delete when the record's revision is
	// not the one that the caller saw.
	ErrConflict = errors.New("the record was changed by somebody else")
	// ErrLocked is returned by Open when another process has the store open.
	ErrLocked = errors.New("the store is in use by another akk daemon")
	// ErrForeign is returned by Open when the file is not an akk store.
	ErrForeign = errors.New("the file is not an akk store")
	// ErrNewer is returned by Open when a newer akk wrote the store.
	ErrNewer = errors.New("the store was written by a newer akk")
	// ErrUnsafe is returned by Open for a folder or file that others could
	// write, that belongs to somebody else, or that is a symbolic link.
	ErrUnsafe = errors.New("the store is not safe to use")
	// ErrCorrupt is returned when the file's content can't be read.
	ErrCorrupt = errors.New("the store is damaged")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the store is closed")
)

// Cured is an error with the sentence that says what to do about it.
type Cured struct {
	Err  error
	Cure string
}

func (c *Cured) Error() string { return c.Err.Error() }

// Unwrap makes errors.Is see the sentinel.
func (c *Cured) Unwrap() error { return c.Err }
