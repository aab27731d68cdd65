package quick

// This file reads what the daemon writes: only in exactly the form in which it
// writes it (bridge/rpc/wire.go, bridge/daemon/paths.go), and only strings
// without an escape. lines_test.go holds that form against those packages.

// protocol is rpc.Protocol, maxLine rpc.MaxLine.
const (
	protocol = "1"
	maxLine  = 8 << 20
)

const (
	helloHead   = `{"jsonrpc":"2.0","id":1,"result":{"protocol":` + protocol + `,"version":"`
	serversHead = `{"jsonrpc":"2.0","id":2,"result":[`
	listHead    = `{"jsonrpc":"2.0","id":3,"result":`
)

// requests are the three lines that are sent: who we are, which servers are
// attached, and the list (of one server, "" = of all). All are plain strings.
func requests(version, only string) []byte {
	params := "{}"
	if only != "" {
		params = `{"socket":"` + only + `"}`
	}
	return []byte(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":` + protocol + `,"client":"cli","version":"` + version + `"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"servers","params":{}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"list","params":` + params + "}\n")
}

// greeted tells whether a line is the hello of our daemon.
func greeted(line []byte, version, store string) bool {
	c := cursor{line}
	return c.lit(helloHead) && c.is(version) && c.lit(`,"pid":`) && c.digits() && c.lit(`,"store_dir":"`) && c.is(store) && c.lit(`,"started":"`)
}

// attached tells whether a line is the list of the attached servers and the one
// with that socket is among them.
func attached(line []byte, socket string) (found bool) {
	c := cursor{line}
	if !c.lit(serversHead) {
		return false
	}
	for {
		if !c.lit(`{"socket":"`) {
			return false
		}
		s, ok := c.text()
		if !ok || !c.lit(`,"pid":`) || !c.digits() || !c.lit(`,"start":"`) || !c.skip() || !c.lit(`,"version":"`) || !c.skip() ||
			!c.lit(`,"panes":`) || !c.digits() || !c.lit(`,"agents":`) || !c.digits() ||
			c.lit(`,"recordings":`) && !c.digits() || !c.lit(`,"state":"`) {
			return false
		}
		state, ok := c.text()
		if !ok || !c.lit(`}`) {
			return false
		}
		found = found || s == socket && state == "attached"
		if !c.lit(`,`) {
			return found && string(c.rest) == "]}"
		}
	}
}

// listOf is the document in a line with the answer to the list.
func listOf(line []byte) ([]byte, bool) {
	c := cursor{line}
	if !c.lit(listHead) || len(c.rest) < 3 || c.rest[0] != '{' || string(c.rest[len(c.rest)-2:]) != "}}" {
		return nil, false
	}
	return c.rest[:len(c.rest)-1], true
}

// scanNote reads a daemon's note.
func scanNote(b []byte) (socket, version string, ok bool) {
	c := cursor{b}
	if !c.lit(`{"pid":`) || !c.digits() || !c.lit(`,"socket":"`) {
		return "", "", false
	}
	if socket, ok = c.text(); !ok || !c.lit(`,"version":"`) {
		return "", "", false
	}
	version, ok = c.text()
	ok = ok && c.lit(`,"started":"`) && c.skip() && string(c.rest) == "}"
	return socket, version, ok
}

// cursor walks over text of a fixed form.
type cursor struct{ rest []byte }

// lit steps over exactly s.
func (c *cursor) lit(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// digits steps over a number of up to 18 digits.
func (c *cursor) digits() bool {
	n := 0
	for n < len(c.rest) && c.rest[n] >= '0' && c.rest[n] <= '9' {
		n++
	}
	ok := n == 1 || n > 1 && n <= 18 && c.rest[0] != '0'
	c.rest = c.rest[n:]
	return ok
}

// text steps over a plain string, whose first quote is behind us, and its end.
func (c *cursor) text() (string, bool) {
	for i, b := range c.rest {
		if b == '"' {
			s := string(c.rest[:i])
			c.rest = c.rest[i+1:]
			return s, true
		}
		if !plainByte(b) {
			break
		}
	}
	return "", false
}

func (c *cursor) skip() bool { _, ok := c.text(); return ok }

func (c *cursor) is(s string) bool { got, ok := c.text(); return ok && got == s }

// plainByte tells whether JSON, as Go writes it, keeps a byte as it is.
func plainByte(b byte) bool {
	return b >= ' ' && b < 0x7f && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
}

func plain(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return true
}
