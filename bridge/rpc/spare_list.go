package rpc

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"
)

// This file spares the way of a list that its asker has already: who looks again
// and again mostly gets the same one. It upholds: "the same" is answered only of
// the newest list that went out on this connection, and only if it would be
// written down as the same bytes; who asks names the answer that he still has.

// sameHead begins the answer that stands for a list, up to the id of the answer
// that had it.
const sameHead = `{"same":`

// sums is the key of all sums of this process: what an agent has on its screen
// can't be made to have the sum of something else.
var sums = maphash.MakeSeed()

// listSum stands for the bytes of a list; false if they were not written before.
func listSum(frame []byte, rows []Row) (uint64, bool) {
	if rows == nil {
		return 0, false
	}
	b := binary.NativeEndian.AppendUint64(make([]byte, 0, 8*(len(rows)+1)), maphash.Bytes(sums, frame))
	for i := range rows {
		if rows[i].written == nil {
			return 0, false
		}
		b = binary.NativeEndian.AppendUint64(b, rows[i].sum)
	}
	return maphash.Bytes(sums, b), true
}

// sentList is the newest list that went out on a connection.
type sentList struct {
	id  int64 // of its request; 0: none that can be spared
	sum uint64
}

// spare tells whether the list that answers id is the one that the asker knows
// from the answer to known. If not, it is the newest one from now on.
func (s *sentList) spare(known, id int64, frame []byte, rows []Row) bool {
	sum, ok := listSum(frame, rows)
	switch {
	case !ok:
		*s = sentList{}
	case known != 0 && known == s.id && sum == s.sum:
		return true
	default:
		*s = sentList{id, sum}
	}
	return false
}

// heldList is a list that a client has, and the id of its answer.
type heldList struct {
	id  int64
	raw json.RawMessage
}

// ListJSON returns the list document as the daemon wrote it, for who only
// passes it on: reading it costs more than making it. Nobody may change it.
func (c *Client) ListJSON(ctx context.Context, p ListParams) (raw json.RawMessage, err error) {
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if c.spares.Load() {
		p.Known = held.id
	}
	w := newWaiter()
	id, err := c.open(MethodList, p, w)
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	if err := c.answer(ctx, id, w, &raw); err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(string(raw[:min(len(raw), 64)]), sameHead); ok {
		if num := strings.TrimSuffix(rest, "}"); p.Known != 0 && num == strconv.FormatInt(p.Known, 10) {
			return held.raw, nil
		}
		return nil, &Error{Code: CodeInternal, Message: "the daemon answered with a list that is not known here", Cure: "call it again"}
	}
	c.mu.Lock()
	c.held = heldList{id, raw}
	c.mu.Unlock()
	return raw, nil
}
