package vtparse

// This file reads the parameters of control sequences. Rules: a number that
// does not fit, or too many parameters, drop the sequence; a parameter with
// colons is no number to anybody but SGR.

// arg is one parameter: a number, or one of the two below.
type arg int32

const (
	argMissing arg = -1 - iota
	argColons      // with ':'; its text is at text[0]:text[1] of param
)

// split fills args from the parameter bytes; false: ignore the sequence.
func (p *parser) split() bool {
	p.nargs = 0
	if p.nparam == 0 {
		return true
	}
	value, digits, colons := int64(0), false, false
	for i := 0; ; i++ {
		if i == p.nparam || p.param[i] == ';' {
			a := arg(value)
			switch {
			case colons:
				a = argColons
			case !digits:
				a = argMissing
			case value > maxNumber:
				return false
			}
			p.args[p.nargs] = a
			p.nargs++
			if p.nargs > maxParams {
				return false
			}
			if i == p.nparam {
				return true
			}
			value, digits, colons = 0, false, false
			continue
		}
		if p.param[i] == ':' {
			colons = true
			continue
		}
		digits = true
		if value <= maxNumber {
			value = value*10 + int64(p.param[i]-'0')
		}
	}
}

// get returns parameter i, at least lo, def if it is missing, -1 if it has
// colons.
func (p *parser) get(i, lo, def int) int {
	if i >= p.nargs {
		return def
	}
	switch a := p.args[i]; a {
	case argMissing:
		return def
	case argColons:
		return -1
	default:
		return max(int(a), lo)
	}
}

// colonText returns the text of parameter i.
func (p *parser) colonText(i int) []byte {
	start := 0
	for at := range p.nparam {
		if p.param[at] != ';' {
			continue
		}
		if i == 0 {
			return p.param[start:at]
		}
		i--
		start = at + 1
	}
	return p.param[start:p.nparam]
}

// quickCSI handles a control sequence that is complete in p and has nothing
// but digits, semicolons and perhaps a leading '?'. It returns how many bytes
// that took, 0 to leave it to the parser.
func (t *Terminal) quickCSI(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	ps := &t.parser
	i, private := 2, false
	if p[2] == '?' {
		private = true
		i = 3
	}
	first := i
	n, value, digits := 0, 0, false
	for ; i < len(p); i++ {
		b := p[i]
		if d := b - '0'; d <= 9 {
			value = value*10 + int(d)
			digits = true
			if value > maxNumber {
				return 0
			}
			continue
		}
		if b == ';' {
			if n >= maxParams-1 {
				return 0
			}
			a := argMissing
			if digits {
				a = arg(value)
			}
			ps.args[n] = a
			n++
			value, digits = 0, false
			continue
		}
		if b < 0x40 || b > 0x7e || i-first > maxParamBytes {
			return 0
		}
		if i > first {
			a := argMissing
			if digits {
				a = arg(value)
			}
			ps.args[n] = a
			n++
		}
		ps.nargs = n
		ps.ninter = 0
		ps.since, ps.lapsed.kind = 0, ground
		if private {
			ps.ninter = 1
			ps.inter[0] = '?'
		}
		t.controlSequence(b)
		return i + 1
	}
	return 0
}
