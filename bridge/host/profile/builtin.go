package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// This file holds the profiles that akk ships (R189). Their command is akk
// itself (bridge/host/connector), so their documents are made when they are
// read.

// Shipped is one of them.
type Shipped struct {
	ID       string `json:"id"`
	Host     string `json:"host"`
	Range    string `json:"range"`
	Variable string `json:"session_variable"`
	Note     string `json:"note"`
	native   bool   // the variable holds the agent's own session id
}

// shippedRevision changes when what a shipped profile runs changes.
const shippedRevision = "1"

// shipped is in the order of the list. The ranges name what was tried.
var shipped = []Shipped{
	{ID: BuiltinPrefix + "claude-code", Host: "claude-code", Range: ">=2.1.332 <2.2.0", Variable: "CLAUDE_CODE_SESSION_ID", native: true,
		Note: "Claude Code in a pane that akk watches; it sets the variable itself"},
	{ID: BuiltinPrefix + "codex", Host: "codex", Range: ">=0.171.0 <0.172.0", Variable: SharedVariable,
		Note: "Codex in a pane that akk watches; set " + SharedVariable + " before codex starts and name it in env_vars"},
}

// SharedVariable holds the session of a Host that has no variable of its own.
const SharedVariable = "AKK_HOST_SESSION"

// List returns the shipped profiles.
func List() []Shipped { return slices.Clone(shipped) }

// IsBuiltin tells whether name is the id of a shipped profile.
func IsBuiltin(name string) bool {
	return slices.ContainsFunc(shipped, func(s Shipped) bool { return s.ID == name })
}

// Document is a shipped profile's document; akk is the absolute path of the
// program, args come before its command.
func (s Shipped) Document(akk string, args ...string) ([]byte, error) {
	args = append(slices.Clone(args), "host-callback", "--session", "${controller.session_id}", "--delivery-id", "${envelope.delivery_id}",
		"--message-id", "${envelope.message_id}", "--idempotency-key", "${envelope.idempotency_key}")
	if s.native {
		args = append(args, "--native")
	}
	type m = map[string]any
	at := func(p string) m { return m{"jsonPointer": p} }
	doc := m{
		"$schema": SchemaURL, "schema": Schema, "version": Version, "id": s.ID, "revision": shippedRevision,
		"compatibility":     m{"host": s.Host, "range": s.Range},
		"controllerContext": m{"driver": DriverEnvironment, "sessionIdVariable": s.Variable},
		"callback": m{
			"driver": DriverCommand, "executable": akk, "arguments": args, "stdin": bodyPlaceholder,
			"environment": m{"allow": []string{"HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}},
			"timeoutMs":   timeoutMaxMS, "maxOutputBytes": 64 << 10,
			"acknowledgement": m{
				"disposition":  m{"jsonPointer": "/disposition", "mapping": m{"accepted": "accepted", "retry": "retryable_failure", "rejected": "permanent_failure", "unknown": "uncertain"}},
				"acceptanceId": at("/acceptance_id"), "acknowledgedDeliveryId": at("/delivery_id"), "acknowledgedMessageId": at("/message_id"),
			},
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write the profile %s: %w", s.ID, err)
	}
	return b.Bytes(), nil
}

// Builtin returns a shipped profile for the akk at that path.
func Builtin(id, akk string, args ...string) (*Profile, error) {
	for _, s := range shipped {
		if s.ID == id {
			data, err := s.Document(akk, args...)
			if err != nil {
				return nil, err
			}
			return parse(id, data, true)
		}
	}
	return nil, fmt.Errorf("%w: akk ships no profile %q", ErrInvalid, id)
}
