package profile

import (
	"fmt"
	"strings"
	"time"
)

// This file holds what a profile is, once it was read. It is a value: nothing
// in it changes while a bridge lives.

// The fixed words of version 1 (R193, R196, R199).
const (
	// SchemaURL names the published schema; `$schema` must be it.
	SchemaURL = "https://raw.githubusercontent.com/scotthuang/agent-knock-knock/main/schemas/host-profile-v1.schema.json"
	// Schema and Version are the document's identity.
	Schema  = "agent-knock-knock/host-profile"
	Version = 1
	// DriverEnvironment resolves the session, DriverCommand delivers.
	DriverEnvironment = "environment_v1"
	DriverCommand     = "command_json_v1"
	// BuiltinPrefix begins the ids of the profiles that akk ships (R194).
	BuiltinPrefix = "builtin-"
)

// Scope says whose session a callback goes to (R197).
type Scope string

// The scopes.
const (
	ScopeStartup    Scope = "startup_v1"     // the one that the bridge was started with
	ScopeRouteBound Scope = "route_bound_v1" // the one in each delivery's route
)

// Profile is one Host Profile v1.
type Profile struct {
	Source      string // path or builtin id
	Fingerprint string // SHA-256 of the file's bytes, in hex (R210)

	ID              string
	Revision        string
	Host            string
	Range           Range
	SessionVariable string
	Scope           Scope
	Callback        Callback
}

// shipped tells whether it came with akk: it has no file.
func (p *Profile) shipped() bool { return IsBuiltin(p.ID) }

// Standalone tells whether `akk host-bridge` can carry it (R197).
func (p *Profile) Standalone() bool { return p.Scope == ScopeStartup }

// Compatible returns ErrHost unless the Host and its exact version are the
// profile's (R195).
func (p *Profile) Compatible(host, version string) error {
	if host != p.Host {
		return fmt.Errorf("%w: it is for %q, this host is %q", ErrHost, p.Host, host)
	}
	ok, err := p.Range.Allows(version)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrHost, err)
	}
	if !ok {
		return fmt.Errorf("%w: version %s is not in the range %q", ErrHost, version, p.Range)
	}
	return nil
}

// Callback is the command that delivers (R199 to R205).
type Callback struct {
	Executable  string     // normalised absolute path
	Arguments   []Template // its argv without the name
	Environment []string   // names that may be passed on
	Timeout     time.Duration
	MaxOutput   int // bytes of stdout and stderr together
	Ack         Acknowledgement
}

// Acknowledgement says where in the command's JSON answer stands what.
type Acknowledgement struct {
	Disposition Pointer
	Mapping     map[string]string // the Host's word -> an outcome of bridge/rpc
	Acceptance  Pointer
	Delivery    Pointer
	Message     Pointer
}

// Values fill a Template.
type Values struct {
	Session        string
	DeliveryID     string
	MessageID      string
	IdempotencyKey string
}

// Template is one argument; placeholders are replaced by data and never looked
// at again.
type Template []templatePart

type templatePart struct {
	text  string
	value func(Values) string // nil = text
}

// Fill makes the argument.
func (t Template) Fill(v Values) string {
	var b strings.Builder
	for _, p := range t {
		if p.value != nil {
			b.WriteString(p.value(v))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}
