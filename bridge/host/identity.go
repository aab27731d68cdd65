package host

import (
	"errors"
	"fmt"

	"akk/bridge/host/profile"
	"akk/bridge/rpc"
)

// This file finds out, once and before anything else, whose bridge this is and
// where its callbacks go (R190, R191, R218, R219): from the command line and the
// environment that the Host gave its child.

// routeSchema is the identity of a callback route (R182).
const routeSchema = "agent-knock-knock/callback-route"

// Selection is what the Host's command line names.
type Selection struct {
	Profile         string // path or id of a shipped one; "" = the Host is not called back
	Host            string
	HostVersion     string
	SessionVariable string // only without a profile
	// Akk is this program's absolute path, AkkArgs its global flags: what the
	// shipped profiles run.
	Akk     string
	AkkArgs []string
}

// Load reads the profile that is named: a shipped one by its id, else a file.
func (s Selection) Load() (*profile.Profile, error) {
	if profile.IsBuiltin(s.Profile) {
		return profile.Builtin(s.Profile, s.Akk, s.AkkArgs...)
	}
	return profile.Load(s.Profile)
}

// Identity is whose bridge this is.
type Identity struct {
	Session string           // the trusted controller session
	Profile *profile.Profile // nil without one
	Route   *rpc.Route       // nil without a profile
}

// Resolve returns the identity, or a problem with its cure: an *rpc.Error that
// every tool call can answer with.
func Resolve(lookup func(string) (string, bool), s Selection) (Identity, error) {
	if s.Profile == "" {
		if s.Host != "" || s.HostVersion != "" {
			return Identity{}, problem("name the profile with --profile, or leave --host and --host-version out", "a host was named without a host profile")
		}
		session, err := Session(lookup, s.SessionVariable)
		if err != nil {
			return Identity{}, problem("let the host set the variable in the environment of this server", "%v", err)
		}
		return Identity{Session: session}, nil
	}
	if s.Host == "" || s.HostVersion == "" {
		return Identity{}, problem("start the bridge with --profile, --host and --host-version together", "a host profile needs the host and its exact version")
	}
	if s.SessionVariable != "" {
		return Identity{}, problem("leave --session-variable out", "the host profile names the session's variable itself")
	}
	p, err := s.Load()
	if err != nil {
		return Identity{}, problem("check it with `akk host-profile validate "+s.Profile+"`", "%v", err)
	}
	if err := p.Compatible(s.Host, s.HostVersion); err != nil {
		return Identity{}, problem("start the bridge with the host's own name and version, or use a profile that is for it", "%s: %v", p.Source, err)
	}
	if !p.Standalone() {
		return Identity{}, problem("use scope startup_v1, or a connector of the host's own", "%s has scope %s: `akk host-bridge` belongs to one session and can't carry it", p.Source, p.Scope)
	}
	session, err := Session(lookup, p.SessionVariable)
	if err != nil {
		return Identity{}, problem("let the host set "+p.SessionVariable+" in the environment of this server", "%v", err)
	}
	if err := p.Callback.Ready(); err != nil {
		return Identity{}, problem("correct callback.executable in "+p.Source+", then restart the bridge", "%v", err)
	}
	return Identity{Session: session, Profile: p, Route: RouteOf(p, session)}, nil
}

// RouteOf is where callbacks of a session go: no command and no secret in it.
func RouteOf(p *profile.Profile, session string) *rpc.Route {
	return &rpc.Route{Schema: routeSchema, Version: 1, Transport: profile.DriverCommand, ProfileID: p.ID, ProfileRevision: p.Revision,
		ControllerSessionID: session, Capabilities: rpc.RouteCapabilities{Wake: true, Respond: true}}
}

func problem(cure, format string, args ...any) error {
	return &rpc.Error{Code: rpc.CodeUnavailable, Message: fmt.Sprintf(format, args...), Cure: cure}
}

// unchanged is the guard of every call of a bridge with a profile (R210).
func (i Identity) unchanged() error {
	if i.Profile == nil {
		return nil
	}
	if err := i.Profile.Unchanged(); errors.Is(err, profile.ErrChanged) {
		return problem("look at the file (`akk host-profile validate`), then restart the host's bridge", "%v; this bridge does nothing more", err)
	} else if err != nil {
		return err
	}
	return nil
}
