// Command bytelog is a witness for tests: it puts its terminal into raw mode,
// draws a chosen picture, and writes down every byte that it reads, with the
// time. It upholds: what an application in a pane was given is proven by the
// application.
//
//	bytelog -log FILE [-draw FILE]
//
// FILE gets JSON lines {"time","event","hex"}: "early" for bytes before the
// picture was settled (the terminal's own answers to queries in it), one
// "ready", then "read" for each read, and "end".
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// settle is how long the terminal may take to answer queries in the picture.
const settle = 500 * time.Millisecond

type line struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
	Hex   string    `json:"hex,omitempty"`
}

func main() {
	logPath := flag.String("log", "", "file for the JSON lines")
	draw := flag.String("draw", "", "file whose bytes are written to the terminal first")
	flag.Parse()
	if err := run(*logPath, *draw); err != nil {
		fmt.Fprintf(os.Stderr, "bytelog: %v\n", err)
		os.Exit(1)
	}
}

func run(logPath, draw string) error {
	f, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log (-log): %w", err)
	}
	defer f.Close()
	enc := json.NewEncoder(f) // unbuffered: a line is on disk before the next read
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return fmt.Errorf("make the terminal raw (stdin must be one): %w", err)
	}
	defer func() { _ = term.Restore(int(os.Stdin.Fd()), state) }()
	if draw != "" {
		b, err := os.ReadFile(draw)
		if err == nil {
			_, err = os.Stdout.Write(b)
		}
		if err != nil {
			return fmt.Errorf("draw %s: %w", draw, err)
		}
	}
	input := make(chan []byte)
	go read(input)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGHUP, syscall.SIGTERM)
	ready := time.After(settle)
	event := "early"
	for {
		l := line{}
		select {
		case <-ready:
			event = "read"
			l.Event = "ready"
		case b, ok := <-input:
			if !ok {
				l.Event = "end"
			} else {
				l.Event, l.Hex = event, hex.EncodeToString(b)
			}
		case <-stop:
			l.Event = "end"
		}
		l.Time = time.Now()
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
		if l.Event == "end" {
			return nil
		}
	}
}

// read sends what stdin gives until it ends. It ends with the process.
func read(out chan<- []byte) {
	defer close(out)
	for {
		b := make([]byte, 64<<10)
		n, err := os.Stdin.Read(b)
		if n > 0 {
			out <- b[:n]
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintf(os.Stderr, "bytelog: read: %v\r\n", err)
			}
			return
		}
	}
}
