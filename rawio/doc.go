// Package rawio reads and writes pipes and sockets that are never waited for in
// the system: whether there is something to read, or room to write, Go's poller
// tells. So a call need not be announced to the scheduler as one that may last,
// which wakes a thread of its own (sysmon) for every one that comes after a
// rest, and that thread then looks every 20 microseconds whether all is over.
// In a process that mostly rests and answers in half a millisecond it is woken
// more often than all the others.
//
// Promised: what a reader, a writer or a connection does is what the one it was
// made of does, deadlines and a close from another goroutine included. Where it
// can't be (another kind of file, another system than Linux, a file that waits
// in the system) the original is given back.
//
// Refused: two readers, or two writers, of one at the same time.
package rawio
