package controlmode

import (
	"path/filepath"
	"testing"
)

// FuzzParser feeds arbitrary bytes, whole and cut in two: the parser must not
// fail, and must tell the same.
func FuzzParser(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl.gz")
	for _, name := range files {
		for _, st := range conversation(f, name) {
			if st.Recv != "" && len(st.Recv) < 2000 {
				f.Add([]byte(st.Recv), uint16(len(st.Recv)/2))
			}
		}
	}
	f.Add([]byte("%begin 1 2 1\n%end 1 2 1\n%end 1 2 1\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		whole := tell(string(data))
		i := int(at) % (len(data) + 1)
		if cut := tell(string(data[:i]), string(data[i:])); cut != whole {
			t.Errorf("cut at %d:\n%s\nwhole:\n%s", i, cut, whole)
		}
	})
}
