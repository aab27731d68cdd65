package vtparse

// This file changes the pen. Rules: tmux's reading of SGR, where a bad colour
// is skipped in its own way; every underline style is kept.

// sgr runs often, so the plain cases come first.
func (t *Terminal) sgr() {
	ps := &t.parser
	p := &t.pen
	t.penStale = true
	if ps.nargs == 0 {
		*p = pen{}
		return
	}
	for i := 0; i < ps.nargs; i++ {
		a := ps.args[i]
		if a == argColons {
			t.sgrColons(ps.colonText(i))
			continue
		}
		if a == argMissing {
			a = 0
		}
		switch {
		case a >= 30 && a <= 37:
			p.Fg, p.given = Indexed(uint8(a-30)), p.given&^cellFg256
		case a >= 40 && a <= 47:
			p.Bg, p.given = Indexed(uint8(a-40)), p.given&^cellBg256
		case a >= 90 && a <= 97:
			p.Fg, p.given = Indexed(uint8(a-82)), p.given&^cellFg256
		case a >= 100 && a <= 107:
			p.Bg, p.given = Indexed(uint8(a-92)), p.given&^cellBg256
		case a == 38 || a == 48 || a == 58:
			i++
			switch ps.get(i, 0, -1) {
			case 2:
				if t.setRGB(int(a), ps.get(i+1, 0, -1), ps.get(i+2, 0, -1), ps.get(i+3, 0, -1)) {
					i += 3
				}
			case 5:
				t.setIndexed(int(a), ps.get(i+1, 0, -1))
				i++
			}
		default:
			p.attribute(int(a))
		}
	}
}

// attribute applies an SGR number without parameters.
func (p *pen) attribute(n int) {
	switch n {
	case 0:
		*p = pen{}
	case 1:
		p.Attr |= Bold
	case 2:
		p.Attr |= Faint
	case 3:
		p.Attr |= Italic
	case 4:
		p.underline(1)
	case 5, 6:
		p.Attr |= Blink
	case 7:
		p.Attr |= Reverse
	case 8:
		p.Attr |= Hidden
	case 9:
		p.Attr |= Strike
	case 21:
		p.underline(2)
	case 22:
		p.Attr &^= Bold | Faint
	case 23:
		p.Attr &^= Italic
	case 24:
		p.underline(0)
	case 25:
		p.Attr &^= Blink
	case 27:
		p.Attr &^= Reverse
	case 28:
		p.Attr &^= Hidden
	case 29:
		p.Attr &^= Strike
	case 39:
		p.Fg, p.given = 0, p.given&^cellFg256
	case 49:
		p.Bg, p.given = 0, p.given&^cellBg256
	case 53:
		p.Attr |= Overline
	case 55:
		p.Attr &^= Overline
	case 59:
		p.Ul = 0
	}
}

// underline sets underline style n, 0 for none.
func (p *Style) underline(n int) {
	p.UlStyle = uint8(n)
	if n == 0 {
		p.Attr &^= Underline
	} else {
		p.Attr |= Underline
	}
}

// color sets the colour that SGR 38, 48 or 58 is about. given says whether it
// came as a palette number.
func (p *pen) color(which int, c Color, given bool) {
	bit := cell(0)
	switch which {
	case 38:
		p.Fg, bit = c, cellFg256
	case 48:
		p.Bg, bit = c, cellBg256
	default:
		p.Ul = c
	}
	p.given &^= bit
	if given {
		p.given |= bit
	}
}

// setIndexed sets a palette colour; a bad one means the default, except for
// the underline.
func (t *Terminal) setIndexed(which, n int) {
	if n != -1 && n <= 255 {
		t.pen.color(which, Indexed(uint8(n)), true)
	} else if which != 58 {
		t.pen.color(which, 0, false)
	}
}

// setRGB sets a direct colour; false: a component is missing or too large.
func (t *Terminal) setRGB(which, r, g, b int) bool {
	for _, c := range [...]int{r, g, b} {
		if c == -1 || c > 255 {
			return false
		}
	}
	t.pen.color(which, RGB(uint8(r), uint8(g), uint8(b)), false)
	return true
}

// maxColons is how many colon-separated numbers tmux reads; with that many or
// more the parameter is ignored.
const maxColons = 8

// sgrColons applies a parameter such as 4:3 or 38:2::1:2:3.
func (t *Terminal) sgrColons(text []byte) {
	var v [maxColons]int
	n := 0
	for start := 0; start <= len(text); n++ {
		end := start
		num := 0
		for end < len(text) && text[end] != ':' {
			num = num*10 + int(text[end]-'0')
			if num > maxNumber {
				return
			}
			end++
		}
		if end == start {
			num = -1
		}
		v[n] = num
		if n == maxColons-1 {
			return
		}
		start = end + 1
	}
	switch {
	case v[0] == 4:
		if n == 2 && v[1] >= 0 && v[1] <= 5 {
			t.pen.underline(v[1])
		}
	case t.capture && n == 2 && v[0] == 5 && v[1] == 3:
		t.pen.Attr |= Overline // how capture-pane of tmux 3.3a writes 53
	case n < 3 || v[0] != 38 && v[0] != 48 && v[0] != 58:
	case v[1] == 5:
		t.setIndexed(v[0], v[2])
	case v[1] == 2:
		first := 3 // a colour space comes before the components
		if n == 5 {
			first = 2
		}
		if n >= first+3 {
			t.setRGB(v[0], v[first], v[first+1], v[first+2])
		}
	}
}
