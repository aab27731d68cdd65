package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// This file makes the request id of a mutation: a call that a Host repeats
// under the same call id gets the first one's receipt, never a second input
// (CONTRACT-outputs §1.1, message_id).

const (
	// MetaCall is the _meta key under which the transport hands in the id of
	// the JSON-RPC request; a client's own value is overwritten there.
	MetaCall = "akk/call"
	// metaToolUse is what Claude Code names its tool call by; it is unique in
	// the world and the same when the call is repeated in a new connection.
	metaToolUse = "claudecode/toolUseId"
	// toolUseMax bounds a foreign id in bytes.
	toolUseMax = 256
)

// requestID is stable for one call. Without any call id it is "", and the desk
// makes a new one.
func (c *call) requestID() string {
	meta := c.req.Params.Meta
	if id, ok := meta[metaToolUse].(string); ok && id != "" && len(id) <= toolUseMax {
		return digest("tool-use", c.Session, c.tool.name, id)
	}
	if id, ok := meta[MetaCall]; ok {
		// Some clients use one JSON-RPC id for everything: other arguments are
		// another call.
		return digest("call", c.nonce, c.tool.name, fmt.Sprintf("%T:%v", id, id), string(c.req.Params.Arguments))
	}
	return ""
}

func digest(parts ...string) string {
	b, err := json.Marshal(parts)
	if err != nil {
		return "" // strings always marshal
	}
	sum := sha256.Sum256(b)
	return "msg-mcp-" + hex.EncodeToString(sum[:16])
}
