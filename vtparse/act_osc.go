package vtparse

import (
	"strconv"
	"strings"
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
		t.progress(string(s))
	case 7501:
		t.programStatus(string(s))
	}
}

func (t *Terminal) setTitle(s []byte) {
	if !t.profile.cleanTitle(s) {
		return
	}
	t.titleSet = true
	if string(s) != t.title {
		t.title = string(s)
	}
}

// progress reads "4;STATE;PERCENT". A percentage that is left out stays.
func (t *Terminal) progress(s string) {
	f := strings.Split(s, ";")
	if len(f) < 2 || len(f) > 3 || f[0] != "4" {
		return
	}
	state, err := strconv.Atoi(f[1])
	if err != nil || state < 0 || state > 4 {
		return
	}
	p := Progress{State: state, Percent: t.signals.Progress.Percent}
	if state == 0 || state == 3 {
		p.Percent = 0
	}
	if len(f) == 3 && f[2] != "" {
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return
		}
		p.Percent = clamp(n, 0, 100)
	}
	t.signals.Progress = p
}

// maxSignal bounds each value of a program status, in bytes.
const maxSignal = 256

// programStatus reads "state=S:app=A:kind=K". A query ("?") changes nothing.
func (t *Terminal) programStatus(s string) {
	var p ProgramStatus
	for _, f := range strings.Split(s, ":") {
		k, v, ok := strings.Cut(f, "=")
		if !ok || len(v) > maxSignal {
			continue
		}
		switch k {
		case "state":
			p.State = v
		case "app":
			p.App = v
		case "kind":
			p.Kind = v
		}
	}
	if p.State != "" {
		t.signals.ProgramStatus = p
	}
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
	t.titles = append(t.titles, t.title)
	size := 0
	for i := len(t.titles) - 1; i >= 0; i-- {
		size += len(t.titles[i])
		if size > maxTitleBytes || len(t.titles)-i > maxTitles {
			t.titles = append([]string(nil), t.titles[i+1:]...)
			return
		}
	}
}

func (t *Terminal) popTitle() {
	n := len(t.titles)
	if n == 0 {
		return
	}
	t.titleSet = true
	t.title = t.titles[n-1]
	t.titles = t.titles[:n-1]
}
