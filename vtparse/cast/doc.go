// Package cast reads and writes terminal recordings in asciicast v2: one JSON
// header, then one JSON array per event.
//
// It promises: recordings are streamed, never held whole; an error names the
// line; what a Writer wrote, a Reader reads back byte for byte.
//
// It refuses: other versions of the format, to guess what a broken line meant,
// and to know anything of how a recording is shown.
package cast
