package rawio

import "io"

// Writer writes pieces as if they were one. Only one goroutine may use it.
type Writer struct {
	w   io.Writer
	raw *rawWriter // nil: w
}

// NewWriter writes w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, raw: newRaw(w)} }

// Write is w's.
func (w *Writer) Write(p []byte) (int, error) { return w.WriteAll(p) }

// WriteAll writes the pieces one after the other, with one call of the system
// where there is room for all, so that a reader is woken once. It returns how
// many bytes went out, and the error that kept the rest.
func (w *Writer) WriteAll(pieces ...[]byte) (n int, err error) {
	if w.raw != nil {
		return w.raw.all(pieces)
	}
	for _, p := range pieces {
		k, err := w.w.Write(p)
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
