package controlmode

import (
	"bytes"
	"slices"
	"strconv"
)

// This file holds the protocol as a pure state machine: bytes in, events out.
// Invariants: a block ends only at a line that repeats all three fields of its
// %begin and, where the number of body lines is known, not before they have
// all come (a screen may show any line, "%end" included); what is outside of
// every block and not known is noise. Some versions put notifications into
// blocks (tmux 5458): they are found where a body can't hold such a line, or
// holds too many.

// maxLine bounds one line; tmux cuts output at 8 KiB, but a reply may be as
// wide as a pane with an attribute change per cell.
const maxLine = 4 << 20

// maxBody bounds one reply in bytes: a history of many thousand lines fits.
const maxBody = 64 << 20

// Reply is one block: the answer to one command of a command line.
type Reply struct {
	Time, Number uint64
	Ours         bool // the command came from this client's input
	Err          bool // %error
	Lines        [][]byte
}

// Text is the body as one string.
func (r Reply) Text() string { return string(bytes.Join(r.Lines, []byte("\n"))) }

// Sink gets the parser's events, in the stream's order. Slices are only valid
// during the call.
type Sink interface {
	// Output is a chunk of a pane's bytes, unescaped; pane is "%3".
	Output(pane []byte, data []byte)
	// Begin asks how many body lines the block that begins will have, < 0 when
	// that is not known, and whether it is plain: none of them begins with "%".
	// Only asked for our own commands.
	Begin() (rows int, plain bool)
	// Reply's Lines may be kept.
	Reply(Reply)
	// Notify is any other %line: name without '%', args the rest.
	Notify(name, args []byte)
	// Noise is a line that belongs to nothing.
	Noise(line []byte)
	// Overlong tells that a line or a reply was longer than memory allows and
	// is dropped.
	Overlong()
}

// Parser takes the stream in pieces that are cut anywhere. The zero value is
// ready; it also understands the wrapping of -CC.
type Parser struct {
	line    []byte
	skip    bool // the line is too long, drop it
	wrapped bool // -CC: lines end in CR LF
	in      bool // in a block
	want    int  // body lines still to come for sure, < 0 unknown
	plain   bool // no body line begins with "%"
	reply   Reply
	size    int    // bytes of reply
	fields  []byte // the three fields as written
	buf     []byte // unescaped output
}

var (
	wrapStart = []byte("\x1bP1000p")
	wrapEnd   = []byte("\x1b\\")
)

// Feed parses p. It keeps nothing of it.
func (p *Parser) Feed(b []byte, s Sink) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.keep(b, s)
			return
		}
		if len(p.line) == 0 && !p.skip {
			p.one(b[:i], s)
		} else {
			p.keep(b[:i], s)
			if !p.skip {
				p.one(p.line, s)
			}
			p.line, p.skip = p.line[:0], false
		}
		b = b[i+1:]
	}
}

func (p *Parser) keep(b []byte, s Sink) {
	if p.skip {
		return
	}
	if len(p.line)+len(b) > maxLine {
		p.skip, p.line = true, p.line[:0]
		s.Overlong()
		return
	}
	p.line = append(p.line, b...)
}

// one handles a whole line.
func (p *Parser) one(l []byte, s Sink) {
	if bytes.HasPrefix(l, wrapStart) {
		p.wrapped, l = true, l[len(wrapStart):]
	}
	if p.wrapped {
		l = bytes.TrimSuffix(l, []byte("\r"))
		if !p.in {
			l = bytes.TrimPrefix(l, wrapEnd)
		}
	}
	if p.in {
		p.body(l, s)
		return
	}
	if len(l) == 0 || l[0] != '%' {
		if len(l) > 0 {
			s.Noise(l)
		}
		return
	}
	if bytes.HasPrefix(l, []byte("%begin ")) || bytes.Equal(l, []byte("%begin")) {
		p.begin(l, s)
		return
	}
	p.notice(l, s)
}

func (p *Parser) begin(l []byte, s Sink) {
	args := bytes.TrimPrefix(l, []byte("%begin "))
	r, ok := header(args)
	if !ok {
		s.Noise(l)
		return
	}
	p.in, p.reply, p.want, p.plain, p.size = true, r, -1, false, 0
	p.fields = append(p.fields[:0], args...)
	if r.Ours {
		p.want, p.plain = s.Begin()
	}
}

// notice is a line that stands outside of every block, whole.
func (p *Parser) notice(l []byte, s Sink) {
	name, args, _ := bytes.Cut(l[1:], []byte(" "))
	switch string(name) {
	case "output":
		pane, data, ok := bytes.Cut(args, []byte(" "))
		if !ok || !isPane(pane) {
			s.Noise(l)
			return
		}
		s.Output(pane, p.unescape(data))
	case "extended-output":
		head, data, ok := bytes.Cut(args, []byte(" : "))
		pane, _, _ := bytes.Cut(head, []byte(" "))
		if !ok || !isPane(pane) {
			s.Noise(l)
			return
		}
		s.Output(pane, p.unescape(data))
	case "end", "error":
		s.Noise(l)
	default:
		s.Notify(name, args)
	}
}

func (p *Parser) body(l []byte, s Sink) {
	end, isEnd := bytes.CutPrefix(l, []byte("%end "))
	if !isEnd {
		end, p.reply.Err = bytes.CutPrefix(l, []byte("%error "))
		isEnd = p.reply.Err
	}
	if isEnd && bytes.Equal(end, p.fields) && (len(p.reply.Lines) >= p.want || p.plain && p.reply.Err) {
		r := p.reply
		p.in, p.reply = false, Reply{}
		if p.want >= 0 && !r.Err {
			r.Lines = p.strays(r.Lines, p.want, s)
		}
		s.Reply(r)
		return
	}
	p.reply.Err = false
	if p.plain && announces(l) {
		p.notice(l, s)
		return
	}
	if p.size += len(l) + 1; p.size > maxBody {
		p.reply.Lines, p.size = nil, 0
		s.Overlong()
		return
	}
	p.reply.Lines = append(p.reply.Lines, bytes.Clone(l))
}

// strays hands on the notifications of a body that has more lines than it
// should, if they can be told from the rest: then there are as many of them as
// lines are too many. A screen that shows such lines too stays as it came; its
// reader finds that it has too many rows.
func (p *Parser) strays(lines [][]byte, want int, s Sink) [][]byte {
	n := 0
	for _, l := range lines {
		if announces(l) {
			n++
		}
	}
	if n == 0 || n != len(lines)-want {
		return lines
	}
	return slices.DeleteFunc(lines, func(l []byte) bool {
		is := announces(l)
		if is {
			p.notice(l, s)
		}
		return is
	})
}

// announced are the notifications of all versions to 3.8. exit is none: it is
// the client's own last word, and stands in no block.
var announced = map[string]bool{"output": true, "extended-output": true, "pause": true, "continue": true, "layout-change": true,
	"window-add": true, "window-close": true, "window-renamed": true, "unlinked-window-add": true, "unlinked-window-close": true,
	"unlinked-window-renamed": true, "window-pane-changed": true, "session-window-changed": true, "session-changed": true,
	"client-session-changed": true, "client-detached": true, "session-renamed": true, "sessions-changed": true, "pane-mode-changed": true,
	"subscription-changed": true, "config-error": true, "message": true, "paste-buffer-changed": true, "paste-buffer-deleted": true}

func announces(l []byte) bool {
	if len(l) == 0 || l[0] != '%' {
		return false
	}
	name, _, _ := bytes.Cut(l[1:], []byte(" "))
	return announced[string(name)]
}

// header reads "<time> <number> [<flags>]"; old servers have no flags.
func header(b []byte) (Reply, bool) {
	f := bytes.Fields(b)
	if len(f) < 2 || len(f) > 3 {
		return Reply{}, false
	}
	var r Reply
	var err1, err2 error
	r.Time, err1 = strconv.ParseUint(string(f[0]), 10, 64)
	r.Number, err2 = strconv.ParseUint(string(f[1]), 10, 64)
	if err1 != nil || err2 != nil {
		return Reply{}, false
	}
	r.Ours = true
	if len(f) == 3 {
		flags, err := strconv.ParseUint(string(f[2]), 10, 32)
		if err != nil {
			return Reply{}, false
		}
		r.Ours = flags&1 != 0
	}
	return r, true
}

func isPane(b []byte) bool {
	if len(b) < 2 || b[0] != '%' {
		return false
	}
	for _, c := range b[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// unescape undoes \ooo, exactly three digits; anything else stays as it is.
func (p *Parser) unescape(b []byte) []byte {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	out := p.buf[:0]
	for i >= 0 {
		out = append(out, b[:i]...)
		b = b[i:]
		if len(b) >= 4 && b[1] >= '0' && b[1] <= '3' && digit(b[2]) && digit(b[3]) {
			out = append(out, (b[1]-'0')<<6|(b[2]-'0')<<3|(b[3]-'0'))
			b = b[4:]
		} else {
			out = append(out, '\\')
			b = b[1:]
		}
		i = bytes.IndexByte(b, '\\')
	}
	out = append(out, b...)
	p.buf = out
	return out
}

func digit(c byte) bool { return c >= '0' && c <= '7' }
