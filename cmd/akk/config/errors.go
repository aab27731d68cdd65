package config

import (
	"errors"
	"fmt"
)

// ErrInvalid is the kind of every Problem.
var ErrInvalid = errors.New("config file is not valid")

// Problem is what is wrong in a file. Line is 0 when it is not known.
type Problem struct {
	Path string
	Line int
	What string
	Cure string
}

func (p *Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.What)
	}
	return p.Path + ": " + p.What
}

// Is makes every Problem an ErrInvalid.
func (p *Problem) Is(target error) bool { return target == ErrInvalid }
