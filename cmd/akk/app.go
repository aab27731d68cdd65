package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"akk/bridge/rpc"
	"akk/cmd/akk/config"
	"akk/cmd/akk/quick"

	"golang.org/x/term"
)

// app is what all commands share: streams, global flags, settings.
type app struct {
	in   io.Reader
	out  io.Writer
	errs io.Writer

	// global flags
	server     string // -L
	socket     string // -S
	storeDir   string // --store-dir
	configPath string // --config
	json       bool   // --json

	loaded *config.Config
	// profileErrs reads a user's own profiles and returns the mistakes in them,
	// one per file.
	profileErrs func() []error
	fresh       bool // connect has attached the server just now
	// ahead, if set, may ask the daemon before connect has attached. It is called
	// for each connection that is tried, and returns at once.
	ahead func(c *rpc.Client, socket string)
}

// config reads the settings file once.
func (a *app) config() (config.Config, error) {
	if a.loaded == nil {
		c, err := config.Load(a.configPath)
		if err != nil {
			return config.Config{}, err
		}
		a.loaded = &c
	}
	return *a.loaded, nil
}

// print writes one JSON document, indented as a human reads it.
func (a *app) print(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printRaw is print for a document that is JSON already, as the daemon wrote it.
func (a *app) printRaw(raw json.RawMessage) error {
	return quick.WriteIndented(a.out, raw)
}

// line writes one JSON document on one line.
func (a *app) line(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// note tells a human something beside the output.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.errs, "akk: "+format+"\n", args...)
}

// terminal tells whether a stream is a terminal, and its file.
func terminal(s any) (*os.File, bool) {
	f, ok := s.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
