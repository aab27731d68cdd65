package controlmode

import (
	"bytes"
	"testing"
)

// This file holds the parser against lines that want to deceive it. The
// numbers are those of the reports in public trackers that a case guards.

func TestParser(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"output", "%output %3 a\\015\\012b\n", "output %3 \"a\\r\\nb\"\n"},
		{"output of nothing", "%output %3 \n", "output %3 \"\"\n"},
		{"output keeps blanks", "%output %3   x  \n", "output %3 \"  x  \"\n"},
		{"extended output", "%extended-output %12 250 : a : b\n", "output %12 \"a : b\"\n"},
		{"extended output with fields to come", "%extended-output %1 0 x y : z\n", "output %1 \"z\"\n"},
		{"extended output of nothing", "%extended-output %1 0 : \n", "output %1 \"\"\n"},
		{"raw bytes", "%output %0 \x7f\x80\xff\xc3\n", "output %0 \"\\x7f\\x80\\xff\\xc3\"\n"},
		{"backslash", "%output %0 \\134n\n", "output %0 \"\\\\n\"\n"},
		{"tmux 2217: sign extension is no byte", "%output %0 \\37777777742\n", "output %0 \"\\xff77777742\"\n"},
		{"torn octal stays", "%output %0 a\\01\n", "output %0 \"a\\\\01\"\n"},
		{"no byte above 377", "%output %0 \\400\n", "output %0 \"\\\\400\"\n"},
		{"output of no pane", "%output 3 a\n%output % a\n%output %x a\n", "noise \"%output 3 a\"\nnoise \"%output % a\"\nnoise \"%output %x a\"\n"},
		{"block", "%begin 1 2 1\na\n\nb\n%end 1 2 1\n", "reply 2 ours=true end \"a\" \"\" \"b\"\n"},
		{"tmux 2048: error without a text", "%begin 1 2 1\n%error 1 2 1\n", "reply 2 ours=true error\n"},
		{"tmux 2646: two fields", "%begin 1 2\nx\n%end 1 2\n", "reply 2 ours=true end \"x\"\n"},
		{"ohmyzsh 1903: a block of the server's own", "%begin 1 2 0\n%end 1 2 0\n", "reply 2 ours=false end\n"},
		{"another block's end", "%begin 1 2 1\n%end 1 3 1\n%end 2 2 1\n%end 1 2 0\n%end 1 2 1 \n%end 1 2 1x\n%end 1 2 1\n",
			"reply 2 ours=true end \"%end 1 3 1\" \"%end 2 2 1\" \"%end 1 2 0\" \"%end 1 2 1 \" \"%end 1 2 1x\"\n"},
		{"notices in a body are body", "%begin 1 2 1\n%exit\n%output %1 x\n%begin 1 3 1\n%pause %0\n%end 1 2 1\n",
			"reply 2 ours=true end \"%exit\" \"%output %1 x\" \"%begin 1 3 1\" \"%pause %0\"\n"},
		{"an end of nothing", "%end 1 2 1\n%error 1 2 1\n", "noise \"%end 1 2 1\"\nnoise \"%error 1 2 1\"\n"},
		{"a begin of nothing", "%begin\n%begin x y z\n%begin 1\n%begin 1 2 3 4\n%begin -1 2 1\n",
			"noise \"%begin\"\nnoise \"%begin x y z\"\nnoise \"%begin 1\"\nnoise \"%begin 1 2 3 4\"\nnoise \"%begin -1 2 1\"\n"},
		{"bare lines", "/nonexistent: No such file or directory\nhi\n", "noise \"/nonexistent: No such file or directory\"\nnoise \"hi\"\n"},
		{"wezterm 6763: unknown notices", "%config-error x y\n%future\n", "notify config-error \"x y\"\nnotify future \"\"\n"},
		{"a carriage return is data without -CC", "%window-renamed @1 a\r\n", "notify window-renamed \"@1 a\\r\"\n"},
		{"-CC", "\x1bP1000p%begin 1 2 0\r\n%end 1 2 0\r\n%output %0 a\\015\r\n%exit\r\n\x1b\\",
			"reply 2 ours=false end\noutput %0 \"a\\r\"\nnotify exit \"\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tell(c.in); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			for i := range c.in {
				if got := tell(c.in[:i], c.in[i:]); got != c.want {
					t.Errorf("cut at %d: got\n%s", i, got)
				}
			}
		})
	}
}

// A screen may show the very end of the block that carries it.
func TestCountedBody(t *testing.T) {
	in := "%begin 7 8 1\n%end 7 8 1\n%error 7 8 1\nx\n%end 7 8 1\n"
	for i := range in {
		var p Parser
		s := &teller{want: func() int { return 3 }}
		p.Feed([]byte(in[:i]), s)
		p.Feed([]byte(in[i:]), s)
		if len(s.got) != 1 || len(s.got[0].Lines) != 3 || s.got[0].Err || p.in {
			t.Fatalf("cut at %d: %s", i, s.b.String())
		}
	}
}

// The count is asked for our own blocks only.
func TestCountIsForOurBlocks(t *testing.T) {
	var p Parser
	s := &teller{want: func() int { return 5 }}
	p.Feed([]byte("%begin 1 1 0\n%end 1 1 0\n"), s)
	if len(s.got) != 1 {
		t.Fatal("a block of the server's own was held up by our count")
	}
}

// A line without an end takes bounded memory, and what follows it is read.
func TestEndlessLine(t *testing.T) {
	var p Parser
	s := &teller{}
	piece := bytes.Repeat([]byte("x"), 64<<10)
	for range 2*maxLine/len(piece) + 1 {
		p.Feed(piece, s)
		if cap(p.line) > 2*maxLine+len(piece) {
			t.Fatalf("%d bytes are kept", cap(p.line))
		}
	}
	p.Feed([]byte("\n%output %1 ok\n"), s)
	if got := s.b.String(); got != "overlong\noutput %1 \"ok\"\n" {
		t.Fatal("the line after an endless one was not read")
	}
}

func TestUnescapeAllBytes(t *testing.T) {
	var line, want []byte
	line = append(line, "%output %0 "...)
	for i := range 256 {
		b := byte(i)
		want = append(want, b)
		if b < 0x20 || b == '\\' {
			line = append(line, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
		} else {
			line = append(line, b)
		}
	}
	var got []byte
	var p Parser
	p.Feed(append(line, '\n'), &collector{out: &got})
	if !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

type collector struct {
	teller
	out *[]byte
}

func (c *collector) Output(_, data []byte) { *c.out = append(*c.out, data...) }
