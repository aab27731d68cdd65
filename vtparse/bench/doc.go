// Package bench measures the emulator side by side with other emulators, with
// a bare parser and with tmux itself, over the same bytes. It holds nothing but
// benchmarks, so that what they need stays out of every other package.
package bench
