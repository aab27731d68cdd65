package panes

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// This file guards a text against the kernel: for a program that reads whole
// lines the terminal keeps only so many bytes of one, and drops the rest
// without a word. Rule: such a text is refused, never cut.

// tooLong refuses a paste with a line that the terminal at path would cut; it
// is asked only for texts that have such a line. A terminal that can't be
// asked is left to the proof of the caller.
func tooLong(path, text string) error {
	longest := 0
	for line := range strings.SplitSeq(text, "\n") {
		longest = max(longest, len(line))
	}
	if longest <= lineKept || path == "" {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	modes, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || modes.Lflag&unix.ICANON == 0 {
		return nil
	}
	return &Refused{"text", fmt.Sprintf("the program in the pane reads whole lines, of which its terminal keeps %d bytes: a line of %d would be cut", lineKept, longest)}
}
