package vtparse

import (
	"bytes"
	"slices"
)

// This file reads finished strings: titles, and the signals that programs give
// about themselves. Rules: a title that is not clean is refused, as in tmux;
// a signal that is not well-formed changes nothing.

// endString acts on an OSC or APC string; bel: it ended with BEL.
func (t *Terminal) endString(bel bool) {
	ps := &t.parser
	if ps.discard {
		return
	}
	switch ps.state {
	case apcString:
		t.setTitle(ps.str)
	case oscString:
		t.operatingSystemCommand(ps.str)
	}
}

func (t *Terminal) operatingSystemCommand(s []byte) {
	if len(s) == 0 || s[0] < '0' || s[0] > '9' {
		return
	}
	option := uint32(0) // overflows as tmux's does
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' {
		option = option*10 + uint32(s[0]-'0')
		s = s[1:]
	}
	if len(s) > 0 && s[0] == ';' {
		s = s[1:]
	}
	switch option {
	case 0, 2:
		t.setTitle(s)
	case 9:
		t.progress(s)
	case 7501:
		t.programStatus(s)
	}
}

func (t *Terminal) setTitle(s []byte) {
	if !t.profile.cleanTitle(s) {
		return
	}
	t.titleSet = true
	t.title = append(t.title[:0], s...)
}

// progress reads "4;STATE;PERCENT". A percentage that is left out stays.
func (t *Terminal) progress(s []byte) {
	var f [3]int
	n := 0
	for more := true; more; n++ {
		var part []byte
		if part, s, more = bytes.Cut(s, []byte{';'}); n == len(f) {
			return
		}
		v, rest := 0, part
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && v < 1000 {
			v = v*10 + int(rest[0]-'0')
			rest = rest[1:]
		}
		if len(rest) > 0 || len(part) == 0 && n < 2 {
			return
		}
		if f[n] = v; len(part) == 0 {
			f[n] = -1
		}
	}
	if n < 2 || f[0] != 4 || f[1] > 4 {
		return
	}
	p := Progress{State: f[1], Percent: t.signals.Progress.Percent}
	if p.State == 0 || p.State == 3 {
		p.Percent = 0
	}
	if n == 3 && f[2] >= 0 {
		p.Percent = min(f[2], 100)
	}
	t.signals.Progress = p
}

// maxSignal bounds the text of a program status, in bytes.
const maxSignal = 1024

// programStatus reads "state=S:app=A:kind=K". A query ("?") changes nothing.
func (t *Terminal) programStatus(s []byte) {
	if len(s) > maxSignal || bytes.Equal(s, t.status) {
		return
	}
	var p ProgramStatus
	for rest, more := s, true; more; {
		var f []byte
		f, rest, more = bytes.Cut(rest, []byte{':'})
		k, v, _ := bytes.Cut(f, []byte{'='})
		switch string(k) {
		case "state":
			p.State = statusWord(v)
		case "app":
			p.App = statusWord(v)
		case "kind":
			p.Kind = statusWord(v)
		}
	}
	if p.State != "" {
		t.signals.ProgramStatus = p
		t.status = append(t.status[:0], s...)
	}
}

// statusWords are the values that come all the time: no new string for them.
var statusWords = [...]string{"idle", "working", "done", "blocked", "clear", "permission", "question", "codex", "claude"}

func statusWord(v []byte) string {
	for _, w := range statusWords {
		if string(v) == w {
			return w
		}
	}
	return string(v)
}

const (
	// maxTitles and maxTitleBytes bound the title stack, which tmux 3.3a does
	// not: entries, and bytes over all of them.
	maxTitles     = 1024
	maxTitleBytes = 4 << 20
)

// windowOps is XTWINOPS: only the title stack means anything to tmux.
func (t *Terminal) windowOps() {
	ps := &t.parser
	for m := 0; ; m++ {
		switch ps.get(m, 0, -1) {
		case -1:
			return
		case 3, 4, 8:
			m++
			if ps.get(m, 0, -1) == -1 {
				return
			}
			fallthrough
		case 9, 10:
			m++
			if ps.get(m, 0, -1) == -1 {
				return
			}
		case 22:
			m++
			switch ps.get(m, 0, -1) {
			case -1:
				return
			case 0, 2:
				t.pushTitle()
			}
		case 23:
			m++
			switch ps.get(m, 0, -1) {
			case -1:
				return
			case 0, 2:
				t.popTitle()
			}
		}
	}
}

func (t *Terminal) pushTitle() {
	t.titles = append(t.titles, string(t.title))
	t.titleBytes += len(t.title)
	for len(t.titles) > maxTitles || t.titleBytes > maxTitleBytes {
		t.titleBytes -= len(t.titles[0])
		t.titles = slices.Delete(t.titles, 0, 1)
	}
}

func (t *Terminal) popTitle() {
	n := len(t.titles)
	if n == 0 {
		return
	}
	t.titleSet = true
	t.title = append(t.title[:0], t.titles[n-1]...)
	t.titleBytes -= len(t.titles[n-1])
	t.titles[n-1] = ""
	t.titles = t.titles[:n-1]
}
