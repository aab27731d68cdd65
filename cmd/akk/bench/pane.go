package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"akk/testdata/demo"
	"akk/vtparse"
	"akk/vtparse/cast"

	"golang.org/x/term"
)

// This file is the program in a pane: it shows one of two pictures and changes
// to the other when the bench asks, saying when it did.

const (
	cols, rows = 120, 40
	// busyEvery is an agent's spinner: a status line ten times a second.
	busyEvery = 100 * time.Millisecond
)

// pictures are an idle Codex and one that waits for an approval, as bytes that
// draw the whole screen.
func pictures() (idle, blocked []byte, err error) {
	b, err := demo.Open("codex-approval")
	if err != nil {
		return nil, nil, err
	}
	err = cast.Replay(bytes.NewReader(b), vtparse.Options{}, func(e cast.Event, s *vtparse.Screen) error {
		switch {
		case strings.HasSuffix(e.Data, " approved-y-completed"):
			idle = draw(s)
		case strings.HasSuffix(e.Data, " approval2"):
			blocked = draw(s)
		}
		return nil
	})
	if err == nil && (idle == nil || blocked == nil) {
		err = fmt.Errorf("the recording lacks a picture")
	}
	return idle, blocked, err
}

func draw(s *vtparse.Screen) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\x1b[?2026h\x1b]0;%s\x07\x1b[H\x1b[2J", s.Title)
	for y := range s.Rows {
		fmt.Fprintf(&b, "\x1b[%dH", y+1)
		for _, r := range s.Row(y).Runs() {
			fmt.Fprintf(&b, "\x1b[0;%sm%s", r.Style.SGR(), r.Text)
		}
	}
	fmt.Fprintf(&b, "\x1b[0m\x1b[%d;%dH", s.Cursor.Y+1, s.Cursor.X+1)
	if s.Cursor.Visible {
		b.WriteString("\x1b[?25h")
	} else {
		b.WriteString("\x1b[?25l")
	}
	b.WriteString("\x1b[?2026l")
	return b.Bytes()
}

// pane runs in the pane and listens on dir/<pane id>.
func pane(dir string, busy bool) error {
	idle, blocked, err := pictures()
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	typed := make(chan int64, 1) // when the first byte came since "listen"
	go func() {
		buf := make([]byte, 64<<10)
		for {
			if _, err := os.Stdin.Read(buf); err != nil {
				return
			}
			select {
			case typed <- time.Now().UnixNano():
			default:
			}
		}
	}()
	ln, err := net.Listen("unix", filepath.Join(dir, os.Getenv("TMUX_PANE")))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	os.Stdout.Write(idle)
	calm := make(chan struct{})
	var once sync.Once
	if busy {
		go func() {
			t := time.NewTicker(busyEvery)
			defer t.Stop()
			for i := 0; ; i++ {
				select {
				case <-calm:
					return
				case <-t.C:
				}
				mu.Lock()
				fmt.Fprintf(os.Stdout, "\x1b7\x1b[1;90H\x1b[38;5;6m%c\x1b[2m %4d s\x1b[0m busy as a spinner is\x1b8", `|/-\`[i%4], i)
				mu.Unlock()
			}
		}()
	}
	now := idle
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		in := bufio.NewScanner(c)
		for in.Scan() {
			if in.Text() == "calm" {
				once.Do(func() { close(calm) })
				fmt.Fprintln(c, "ok")
				continue
			}
			if in.Text() == "listen" {
				select {
				case <-typed: // of before
				default:
				}
				fmt.Fprintln(c, "ok")
				fmt.Fprintln(c, <-typed)
				continue
			}
			word := "blocked"
			if bytes.Equal(now, idle) {
				now = blocked
			} else {
				now, word = idle, "idle"
			}
			mu.Lock()
			at := time.Now().UnixNano()
			os.Stdout.Write(now)
			mu.Unlock()
			fmt.Fprintln(c, strconv.FormatInt(at, 10), word)
		}
		c.Close()
	}
}
