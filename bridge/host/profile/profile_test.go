package profile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// R195: exact versions against ranges, prereleases among them.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		ranges, version string
		want            bool
	}{
		{">=1.8.0 <2.0.0", "1.8.0", true},
		{">=1.8.0 <2.0.0", "1.10.0", true},
		{">=1.8.0 <2.0.0", "2.0.0", false},
		{">=1.8.0 <2.0.0", "1.7.99", false},
		{">1.8.0", "1.8.0", false},
		{"<=1.8.0", "1.8.0+build.7", true},
		{"=1.8.0", "1.8.1", false},
		{"=1.8.0 =1.8.1", "1.8.0", false},
		{">=99999999999999999999.0.0", "100000000000000000000.0.0", true},
		// A prerelease needs a comparator that names one of the same core.
		{">=1.8.0 <2.0.0", "1.9.0-beta.1", false},
		{">=1.8.0 <2.0.0", "2.0.0-beta.1", false},
		{">=1.8.0 <2.0.0-rc.1", "2.0.0-beta.1", true},
		{">=1.8.0 <2.0.0-rc.1", "2.0.0-rc.1", false},
		{">=1.8.0 <2.0.0-rc.1", "1.9.0-beta.1", false},
		{">=1.9.0-alpha <2.0.0", "1.9.0-beta.1", true},
		{">=1.9.0-alpha <2.0.0", "1.9.0", true},
		{">=1.9.0-2", "1.9.0-10", true},
		{">=1.9.0-a+b", "1.9.0-a", true},
	} {
		r, err := parseRange(c.ranges)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Allows(c.version); err != nil || got != c.want {
			t.Errorf("%q allows %s: %v, %v", c.ranges, c.version, got, err)
		}
	}
	p, err := Parse("s", starter)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Compatible("my-agent", "1.8.0"); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{"my-agent2", "1.8.0"}, {"My-agent", "1.8.0"}, {"", "1.8.0"}, {"my-agent", "2.0.0"}, {"my-agent", ""},
		{"my-agent", "v1.8.0"}, {"my-agent", "1.8"}, {"my-agent", "1.08.0"}, {"my-agent", ">=1.8.0"}, {"my-agent", "1.8.0 "}, {"my-agent", "1.8.0-" + repeat("a", 300)}} {
		if err := p.Compatible(c[0], c[1]); !errors.Is(err, ErrHost) {
			t.Errorf("%q is taken: %v", c, err)
		}
	}
}

// R192: what a document may not be, with the line of the fault.
func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		line int
		says string
	}{
		"empty":       {"", 1, "is not JSON"},
		"two values":  {string(starter) + "{}", strings.Count(string(starter), "\n") + 1, "is not JSON"},
		"comma":       {"{\n\"a\": 1,\n}", 3, "is not JSON"},
		"comment":     {"{\n// x\n}", 2, "is not JSON"},
		"BOM":         {"\xef\xbb\xbf{}", 1, "byte order mark"},
		"UTF-16":      {"\xff\xfe{\x00}\x00", 1, "is not UTF-8"},
		"latin1":      {"{\n\n\"a\": \"\xe9\"}", 3, "is not UTF-8"},
		"deep":        {repeat("[", 40) + repeat("]", 40), 1, "nested deeper"},
		"large":       {repeat(" ", FileMax) + "{}", 0, "larger than 256 KiB"},
		"line":        {strings.Replace(string(starter), "8000", "0", 1), 1 + strings.Count(string(starter)[:strings.Index(string(starter), "8000")], "\n"), "/callback/timeoutMs"},
		"unknown one": {"{\n \"a\":\n  1}", 2, "no field"},
	} {
		_, err := Parse("x.json", []byte(c.doc))
		var bad *Error
		if !errors.As(err, &bad) || bad.Faults[0].Line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse("x.json", []byte(`{"`+repeat("x", FileMax/2)+`":1,`+repeat(`"a":1,`, 100)+`"b":1}`)); len(err.Error()) > faultsMax*(pointerShown+200) {
		t.Errorf("endless error: %v", err)
	}
}

func TestParsed(t *testing.T) {
	p, err := Parse("s", []byte(set("callback.arguments", args("k=${envelope.idempotency_key}!"))))
	if err != nil {
		t.Fatal(err)
	}
	// A value that looks like a placeholder is not looked at again.
	v := Values{Session: "${envelope.body}", DeliveryID: "d", MessageID: "m", IdempotencyKey: "$(x)"}
	var got []string
	for _, a := range p.Callback.Arguments {
		got = append(got, a.Fill(v))
	}
	if s := strings.Join(got, " "); s != "${envelope.body} d m k=$(x)!" {
		t.Errorf("argv %q", s)
	}
	if !p.Standalone() || p.Scope != ScopeStartup {
		t.Errorf("scope %q", p.Scope)
	}
	// R197: a scope that is omitted leaves the document and its fingerprint alone.
	b, _ := Parse("s", []byte(set("controllerContext.scope", "route_bound_v1")))
	c, _ := Parse("s", starter)
	d, _ := Parse("other", Starter())
	if b.Standalone() || b.Fingerprint == c.Fingerprint || c.Fingerprint != d.Fingerprint {
		t.Error("fingerprints")
	}
}

// R205: how an answer is read.
func TestPointers(t *testing.T) {
	doc := map[string]any{"a": []any{"x", map[string]any{"b/c": "y", "": "e", "~": "t"}}, "n": 1.0, "0": "zero"}
	for p, want := range map[string]string{"a 0": "x", "a 1 b/c": "y", "a 1 ": "e", "a 1 ~": "t", "0": "zero"} {
		if s, ok := Pointer(strings.Split(p, " ")).Text(doc); !ok || s != want {
			t.Errorf("%q gives %q, %v", p, s, ok)
		}
	}
	for _, p := range []string{"a", "a 2", "a 00", "a -", "a -1", "a x", "n", "n x", "b", "a 0 x", "a 99999999999999999999"} {
		if s, ok := Pointer(strings.Split(p, " ")).Text(doc); ok {
			t.Errorf("%q gives %q", p, s)
		}
	}
}

// R192, R210, R218: the file.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := write("p.json", starter)
	p, err := Load(good)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if q, err := Load("p.json"); err != nil || q.Source != good || q.Fingerprint != p.Fingerprint {
		t.Errorf("relative path: %+v, %v", q, err)
	}
	if err := os.Symlink(good, filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("link.json"); err != nil {
		t.Errorf("link to a regular file: %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("p.txt", starter)
	write("large.json", []byte(repeat(" ", FileMax+1)))
	for name, says := range map[string]string{"p.txt": "ends in .json", "fifo.json": "no regular file", "dir.json": "no regular file", "large.json": "256 KiB"} {
		if _, err := Load(name); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load("none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := p.Unchanged(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(){
		"a blank more": func() { write("p.json", append(Starter(), ' ')) },
		"gone":         func() { os.Remove(good) },
		"too large":    func() { write("p.json", []byte(repeat(" ", FileMax+1))) },
		"another":      func() { write("p.json", []byte(set("revision", "2"))) },
	} {
		change()
		if err := p.Unchanged(); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write("p.json", starter)
	if err := p.Unchanged(); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if why := p.Exposed(); why != "" {
		t.Error(why)
	}
	os.Chmod(good, 0o622)
	if why := p.Exposed(); !strings.Contains(why, "everybody") {
		t.Errorf("%q", why)
	}
}

// R199, R203: the executable itself.
func TestReady(t *testing.T) {
	dir := t.TempDir()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string, mode fs.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	link := func(name, to string) string {
		p := filepath.Join(dir, name)
		if err := os.Symlink(to, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	os.Mkdir(filepath.Join(dir, "sub"), 0o700)
	for _, c := range []struct {
		name, file string
		allow      []string
		want       error // nil = ready, ErrNotReady, or an errno
	}{
		{"program", program, nil, nil},
		{"link to a program", link("l", program), nil, nil},
		{"relative link", link("rel", "../"+filepath.Base(dir)+"/l"), nil, nil},
		{"none", filepath.Join(dir, "none"), nil, syscall.ENOENT},
		{"dangling link", link("dangling", "nowhere"), nil, syscall.ENOENT},
		{"loop", link("loop", "loop"), nil, syscall.ELOOP},
		{"not executable", file("plain", "x", 0o600), nil, syscall.EACCES},
		{"folder", filepath.Join(dir, "sub"), nil, ErrNotReady},
		{"link to a shell", link("cb", "/bin/sh"), nil, ErrNotReady},
		{"link to a link to a shell", link("cb2", "cb"), nil, ErrNotReady},
		{"link to what the shell is", link("cb3", shell), nil, ErrNotReady},
		{"named as a shell", file("zsh", "#!/usr/bin/python3\n", 0o700), nil, ErrNotReady},
		{"in capitals", file("BASH", "x", 0o700), nil, ErrNotReady},
		{"another shell", file("busybox", "x", 0o700), nil, ErrNotReady},
		{"script", file("s1", "#!/usr/bin/python3 -E\n", 0o700), nil, nil},
		{"env without PATH", file("s2", "#!/usr/bin/env node\n", 0o700), []string{"TOKEN"}, ErrNotReady},
		{"env with a blank", file("s3", "#! /usr/bin/env -S node\n", 0o700), nil, ErrNotReady},
		{"env with PATH", file("s4", "#!/usr/bin/env node\n", 0o700), []string{"TOKEN", "PATH"}, nil},
		{"empty file", file("s5", "", 0o700), nil, nil},
	} {
		if os.Getuid() == 0 && errors.Is(c.want, syscall.EACCES) {
			c.want = syscall.EACCES // X_OK fails for root, too, without any x bit
		}
		err := (&Callback{Executable: c.file, Environment: c.allow}).Ready()
		if c.want == nil && err != nil || c.want != nil && (!errors.Is(err, c.want) || !errors.Is(err, ErrNotReady)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	hard := filepath.Join(dir, "hard")
	if err := os.Link(shell, hard); err == nil { // another file system has no hard links to it
		if err := (&Callback{Executable: hard}).Ready(); !errors.Is(err, ErrNotReady) {
			t.Errorf("hard link to a shell: %v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(starter)
	f.Add([]byte(`{"callback":{"arguments":["$${controller.session_id}"]}}`))
	f.Add([]byte("[[[[\xff"))
	for _, r := range rules()[:20] {
		f.Add([]byte(r.doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("f.json", data)
		if err != nil {
			if p != nil || !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v with %v", p, err)
			}
			return
		}
		for _, a := range p.Callback.Arguments {
			if s := a.Fill(Values{}); strings.ContainsAny(s, "$\x00\n;`<>|") {
				t.Fatalf("argument %q", s)
			}
		}
		if p.Callback.Timeout <= 0 || p.Callback.MaxOutput <= 0 || shellName(p.Callback.Executable) && !strings.Contains(p.Callback.Executable, "/") {
			t.Fatalf("%+v", p.Callback)
		}
	})
}
