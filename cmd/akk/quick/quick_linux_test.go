package quick

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
)

// full takes so many bytes and then fails.
type full struct {
	bytes.Buffer
	room int
	err  error
}

func (f *full) Write(b []byte) (int, error) {
	if n := f.room - f.Len(); n < len(b) {
		f.Buffer.Write(b[:n])
		return n, &os.PathError{Op: "write", Path: "/dev/stdout", Err: f.err}
	}
	return f.Buffer.Write(b)
}

// Issue 6: nothing is printed twice, and no failure is kept quiet.
func TestShow(t *testing.T) {
	list := []byte(`{"a":"` + strings.Repeat("x", 3*indentPiece) + `","b":[1,{}]}`)
	var want bytes.Buffer
	if err := WriteIndented(&want, list); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		room int
		err  error
		code int
		ok   bool
		said string
	}{
		{1 << 20, nil, 0, true, ""},
		{0, syscall.ENOSPC, 0, false, ""},
		{1, syscall.ENOSPC, 1, true, "akk: write /dev/stdout: no space left on device\n"},
		{want.Len() - 1, syscall.EIO, 1, true, "akk: write /dev/stdout: input/output error\n"},
		{0, syscall.EPIPE, 1, true, ""},
		{indentPiece, syscall.EPIPE, 1, true, ""},
	} {
		var errs bytes.Buffer
		out := full{room: c.room, err: c.err}
		code, ok := show(&out, &errs, list)
		if code != c.code || ok != c.ok || errs.String() != c.said || !bytes.HasPrefix(want.Bytes(), out.Bytes()) || c.err == nil && out.Len() != want.Len() {
			t.Errorf("%d bytes, %v: %d %v %q, %d of %d bytes out", c.room, c.err, code, ok, errs.String(), out.Len(), want.Len())
		}
	}
}
