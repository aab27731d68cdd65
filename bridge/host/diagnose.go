package host

import (
	"fmt"
	"strings"

	"akk/bridge/rpc"
)

// This file is doctor's part about a Host (R209): what a bridge with that
// selection would find, one line each. It runs nothing and sends no callback.

// Diagnose checks a profile, its Host, the trusted session in this environment
// and the callback's executable. A check that needs a failed one is left out.
func Diagnose(lookup func(string) (string, bool), s Selection) []rpc.Check {
	var out []rpc.Check
	add := func(name string, err error, ok, cure string) bool {
		c := rpc.Check{Name: name, Status: "ok", Detail: ok}
		if err != nil {
			c.Status, c.Detail, c.Cure = "failed", err.Error(), cure
		}
		out = append(out, c)
		return err == nil
	}
	warn := func(name, what, cure string) {
		out = append(out, rpc.Check{Name: name, Status: "warning", Detail: what, Cure: cure})
	}
	p, err := s.Load()
	if !add("host_profile", err, "", "correct the file; `akk host-profile example` and `akk host-profile schema` show the form") {
		return out
	}
	out[0].Detail = fmt.Sprintf("%s, revision %s, from %s", p.ID, p.Revision, p.Source)
	if why := p.Exposed(); why != "" {
		warn("host_profile_owner", why+": the file says which program is run", "let only its owner write it (chmod go-w)")
	}
	add("host_compatibility", p.Compatible(s.Host, s.HostVersion), s.Host+" "+s.HostVersion+" in "+p.Range.String(), "name the host and its exact version as the profile does, or use another profile")
	var scope error
	if !p.Standalone() {
		scope = fmt.Errorf("scope %s is for a connector of the host's own; akk host-bridge belongs to one session", p.Scope)
	}
	add("standalone_bridge_scope", scope, string(p.Scope), "use scope startup_v1 (or leave it out) for akk host-bridge")
	_, err = Session(lookup, p.SessionVariable)
	add("controller_session", err, p.SessionVariable+" is set", "run doctor in the environment in which the host starts the bridge, and let it set "+p.SessionVariable)
	add("callback_executable", p.Callback.Ready(), p.Callback.Executable, "correct callback.executable, or install the program")
	var unset []string
	for _, name := range p.Callback.Environment {
		if _, ok := lookup(name); !ok {
			unset = append(unset, name)
		}
	}
	if len(unset) > 0 {
		warn("callback_environment", strings.Join(unset, ", ")+" of callback.environment.allow is not set here", "let the host set it, if its command needs it")
	} else {
		add("callback_environment", nil, "all listed variables are set", "")
	}
	return out
}
