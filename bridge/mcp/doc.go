// Package mcp is the door for controller Hosts: the tools agent_knock_knock_*
// of action contract v28 as a Model Context Protocol server, one file per tool.
//
// It promises: closed input schemas, checked before anything runs (R34, R214);
// every refusal is a tool result with a reason and the next step; what reaches
// a model has passed the sanitiser of CONTRACT-outputs §1.2; a call that is
// repeated under the same call id is sent once.
//
// It refuses: to decide. What may be done is the desk's to say, and it is asked
// through the client half of bridge/rpc like by every other door.
package mcp
