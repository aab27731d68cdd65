package profile

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrInvalid is what every Error is: the document is not a Host Profile v1.
	ErrInvalid = errors.New("not a valid host profile")
	// ErrHost is returned by Compatible for another Host or version (R195).
	ErrHost = errors.New("the host profile is not for this host")
	// ErrChanged is returned by Unchanged when the file is not what it was when
	// it was read, or can't be read any more (R210).
	ErrChanged = errors.New("the host profile has changed since it was read")
	// ErrNotReady is returned by Ready when the callback's executable can't be
	// run, or must not be (R199, R203).
	ErrNotReady = errors.New("the callback's executable can't be used")
)

// faultsMax bounds what one error tells; a file with more is a wrong file.
// pointerShown bounds a fault's pointer in bytes: a name may be as long as the
// file.
const (
	faultsMax    = 20
	pointerShown = 300
)

// Fault is one thing that is wrong.
type Fault struct {
	Pointer string `json:"pointer"` // JSON Pointer, "" = the document
	Line    int    `json:"line"`    // from 1; 0 = none
	Message string `json:"message"`
}

func (f Fault) String() string {
	at := f.Pointer
	if at == "" {
		at = "the document"
	}
	if f.Line > 0 {
		at += fmt.Sprintf(" (line %d)", f.Line)
	}
	return at + ": " + f.Message
}

// Error is a document that was refused.
type Error struct {
	Source string // path or name
	Faults []Fault
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %v: ", e.Source, ErrInvalid)
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.String())
	}
	return b.String()
}

// Is makes every Error an ErrInvalid.
func (e *Error) Is(target error) bool { return target == ErrInvalid }
