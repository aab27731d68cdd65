package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file says what is wrong with a command line. It upholds: every such
// error gives exit code 2, speaks of the command's own arguments in plain words,
// and names the help of its command.

const (
	// maxWait bounds --wait: what asks for us may give up after a minute.
	maxWait = 50 * time.Second
	// maxListed bounds --limit of a list, in rows.
	maxListed = 1000
)

// usageErrors marks every error about the command line itself, so that it
// gives exit code 2 and names the help of its command.
func usageErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			return &usage{badValue(bad), c.CommandPath()}
		}
		if strings.Contains(c.Use, "TEXT") {
			err = &failure{err.Error(), "put -- before a text that begins with -, as in `akk send ID -- TEXT`; for the options see `akk " + c.Name() + " --help`", err}
		}
		return &usage{err, c.CommandPath()}
	})
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, a []string) error {
			if err := args(c, a); err != nil {
				return badArgs(c, a, err)
			}
			return nil
		}
	}
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, a []string) error {
			err := run(c, a)
			if u, ok := errors.AsType[*usage](err); ok && u.command == "" {
				u.command = c.CommandPath()
			}
			return err
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}

// ownWords gives the commands that the library adds (help, completion) the
// rules of all others.
func ownWords(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
				of, rest, err := c.Root().Find(args)
				if err == nil && len(rest) > 0 {
					err = unknownCommand(of, rest[0])
				}
				if err != nil {
					return err
				}
				of.InitDefaultHelpFlag()
				of.InitDefaultVersionFlag()
				return of.Help()
			}
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return needsOne(c) }
		}
	}
}

// needsOne is the error of a command that only holds others.
func needsOne(c *cobra.Command) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("%s needs one of: %s", c.Name(), strings.Join(names, ", "))
}

// badArgs says which argument is missing or too many. err is what the command's
// own rule said; it stays where the count is right.
func badArgs(c *cobra.Command, a []string, err error) error {
	need, may := argNames(c.Use)
	form := c.CommandPath() + strings.TrimPrefix(c.Use, c.Name())
	switch {
	case c.HasSubCommands() && len(a) > 0:
		return unknownCommand(c, a[0])
	case len(a) < len(need):
		err = fmt.Errorf("%s is missing: %s", need[len(a)], form)
	case len(a) > len(need)+len(may):
		err = fmt.Errorf("%q is one argument too many: %s", a[len(need)+len(may)], form)
	}
	return &usage{err, c.CommandPath()}
}

// argNames are the arguments of a Use line: "send ID [TEXT|-]" needs ID and may
// have TEXT|-.
func argNames(use string) (need, may []string) {
	use, _, _ = strings.Cut(use, " > ")
	for _, w := range strings.Fields(use)[1:] {
		if strings.HasPrefix(w, "[") {
			may = append(may, strings.Trim(w, "[]"))
		} else {
			need = append(need, w)
		}
	}
	return need, may
}

func unknownCommand(c *cobra.Command, name string) error {
	c.SuggestionsMinimumDistance = 2 // letters
	err := fmt.Errorf("unknown command %q for %q", name, c.CommandPath())
	if like := c.SuggestionsFor(name); len(like) > 0 {
		err = &failure{err.Error(), "did you mean `" + c.CommandPath() + " " + strings.Join(like, "` or `"+c.CommandPath()+" ") + "`? All are told by `" + c.CommandPath() + " --help`", err}
	}
	return &usage{err, c.CommandPath()}
}

// badValue says what an option takes.
func badValue(bad *pflag.InvalidValueError) error {
	f := bad.GetFlag()
	is := map[string]string{
		"duration": "is no length of time: write it as 30s, 5m or 2h",
		"int":      "is no whole number",
		"uint64":   "is no whole number from 0 on",
		"float64":  "is no number",
		"bool":     "is neither true nor false",
	}[f.Value.Type()]
	if is == "" {
		return bad
	}
	return fmt.Errorf("--%s %q %s", f.Name, bad.GetValue(), is)
}

// checkWait refuses a --wait that would be cut silently.
func checkWait(d time.Duration) error {
	if d < 0 || d > maxWait {
		return usagef("--wait %v is not between 0s and %v", d, maxWait)
	}
	return nil
}

// checkLimit refuses a --limit that a list can't have.
func checkLimit(c *cobra.Command, n int) error {
	if c.Flags().Changed("limit") && (n < 1 || n > maxListed) {
		return usagef("--limit %d is not between 1 and %d", n, maxListed)
	}
	return nil
}
