package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set is the starter document with the value at a path ("callback.timeoutMs",
// "callback.arguments.0") replaced; remove takes it away.
func set(path string, v any) string { return edit(path, func(m map[string]any, k string) { m[k] = v }) }
func remove(path string) string {
	return edit(path, func(m map[string]any, k string) { delete(m, k) })
}

func edit(path string, change func(map[string]any, string)) string {
	var doc map[string]any
	if err := json.Unmarshal(starter, &doc); err != nil {
		panic(err)
	}
	at, keys := doc, strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		at = at[k].(map[string]any)
	}
	change(at, keys[len(keys)-1])
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// args are the required placeholders and what a case adds.
func args(more ...string) []string {
	return append([]string{"${controller.session_id}", "${envelope.delivery_id}", "${envelope.message_id}"}, more...)
}

func numbered(n int, format string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

func words(n int, outcome string) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("w%d", i)] = outcome
	}
	out["w0"] = "accepted"
	return out
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// rule is one case of a requirement. blind: no schema can tell. at is the
// pointer of the fault that must be named.
type rule struct {
	req, name, doc string
	ok             bool
	blind          bool
	at             string
}

func accept(req, name, doc string) rule     { return rule{req: req, name: name, doc: doc, ok: true} }
func refuse(req, name, doc, at string) rule { return rule{req: req, name: name, doc: doc, at: at} }
func blind(r rule) rule                     { r.blind = true; return r }

const (
	ackD = "callback.acknowledgement.disposition."
	pD   = "/callback/acknowledgement/disposition"
)

func rules() []rule {
	out := []rule{
		accept("R192", "starter", string(starter)),
		refuse("R192", "unknown at the top", set("extra", 1), "/extra"),
		refuse("R192", "other case of a name", set("ID", "x"), "/ID"),
		refuse("R192", "unknown in compatibility", set("compatibility.extra", 1), "/compatibility/extra"),
		refuse("R192", "unknown in controllerContext", set("controllerContext.extra", 1), "/controllerContext/extra"),
		refuse("R192", "unknown in callback", set("callback.shell", true), "/callback/shell"),
		refuse("R192", "unknown in environment", set("callback.environment.set", map[string]string{}), "/callback/environment/set"),
		refuse("R192", "unknown in acknowledgement", set("callback.acknowledgement.a~b/c", 1), "/callback/acknowledgement/a~0b~1c"),
		refuse("R192", "unknown in disposition", set(ackD+"extra", 1), pD+"/extra"),
		refuse("R192", "unknown in acceptanceId", set("callback.acknowledgement.acceptanceId.extra", 1), "/callback/acknowledgement/acceptanceId/extra"),
		refuse("R192", "no object", `[]`, ""),
		blind(refuse("R192", "repeated name", strings.Replace(string(starter), `"version": 1,`, `"version": 1, "version": 1,`, 1), "/version")),
		blind(refuse("R192", "repeated word", strings.Replace(string(starter), `"retry":`, `"accepted": "uncertain", "retry":`, 1), pD+"/mapping/accepted")),

		accept("R193", "without $schema", remove("$schema")),
		refuse("R193", "another $schema", set("$schema", SchemaURL+"#"), "/$schema"),
		refuse("R193", "null $schema", set("$schema", nil), "/$schema"),
		refuse("R193", "another schema", set("schema", "agent-knock-knock/host"), "/schema"),
		refuse("R193", "version 2", set("version", 2), "/version"),
		refuse("R193", "version as a string", set("version", "1"), "/version"),
		accept("R193", "version 1.0", strings.Replace(string(starter), `"version": 1,`, `"version": 1.0,`, 1)),

		accept("R194", "id", set("id", "a1.b-c_d")),
		accept("R194", "longest id", set("id", repeat("a", 64))),
		refuse("R194", "longer id", set("id", repeat("a", 65)), "/id"),
		refuse("R194", "empty id", set("id", ""), "/id"),
		refuse("R194", "capital in id", set("id", "My"), "/id"),
		refuse("R194", "digit first", set("id", "1a"), "/id"),
		refuse("R194", "two separators", set("id", "a--b"), "/id"),
		refuse("R194", "separator last", set("id", "a."), "/id"),
		refuse("R194", "newline last", set("id", "a\n"), "/id"),
		refuse("R194", "reserved id", set("id", "builtin-x"), "/id"),
		accept("R194", "builtin alone is free", set("id", "builtin")),
		accept("R194", "revision", set("revision", "2026-11-30:A_1.b")),
		accept("R194", "longest revision", set("revision", repeat("r", 128))),
		refuse("R194", "longer revision", set("revision", repeat("r", 129)), "/revision"),
		refuse("R194", "empty revision", set("revision", ""), "/revision"),
		refuse("R194", "dash first", set("revision", "-1"), "/revision"),
		refuse("R194", "blank in revision", set("revision", "a b"), "/revision"),

		accept("R195", "host", set("compatibility.host", "claude-code")),
		refuse("R195", "host with a blank", set("compatibility.host", "claude code"), "/compatibility/host"),
		accept("R195", "four comparators", set("compatibility.range", ">=1.0.0 >1.0.0 <=3.0.0-rc.1+x <3.0.0")),
		refuse("R195", "five comparators", set("compatibility.range", ">=1.0.0 >1.0.0 <=3.0.0 <3.0.0 =2.0.0"), "/compatibility/range"),
		accept("R195", "exact", set("compatibility.range", "=1.2.3")),
		refuse("R195", "no operator", set("compatibility.range", "1.2.3"), "/compatibility/range"),
		refuse("R195", "caret", set("compatibility.range", "^1.2.3"), "/compatibility/range"),
		refuse("R195", "short version", set("compatibility.range", ">=1.2"), "/compatibility/range"),
		refuse("R195", "leading zero", set("compatibility.range", ">=1.02.0"), "/compatibility/range"),
		refuse("R195", "leading zero in a prerelease", set("compatibility.range", ">=1.0.0-01"), "/compatibility/range"),
		refuse("R195", "two blanks", set("compatibility.range", ">=1.0.0  <2.0.0"), "/compatibility/range"),
		refuse("R195", "blank after the operator", set("compatibility.range", ">= 1.0.0"), "/compatibility/range"),
		refuse("R195", "alternatives", set("compatibility.range", ">=1.0.0 || <2.0.0"), "/compatibility/range"),
		refuse("R195", "empty range", set("compatibility.range", ""), "/compatibility/range"),
		accept("R195", "longest range", set("compatibility.range", ">=1.0.0-"+repeat("a", 248))),
		refuse("R195", "longer range", set("compatibility.range", ">=1.0.0-"+repeat("a", 249)), "/compatibility/range"),

		refuse("R196", "another driver", set("controllerContext.driver", "argument_v1"), "/controllerContext/driver"),
		accept("R196", "variable", set("controllerContext.sessionIdVariable", "_A1")),
		accept("R196", "longest variable", set("controllerContext.sessionIdVariable", repeat("A", 128))),
		refuse("R196", "longer variable", set("controllerContext.sessionIdVariable", repeat("A", 129)), "/controllerContext/sessionIdVariable"),
		refuse("R196", "small letters", set("controllerContext.sessionIdVariable", "session"), "/controllerContext/sessionIdVariable"),
		refuse("R196", "digit first", set("controllerContext.sessionIdVariable", "1A"), "/controllerContext/sessionIdVariable"),
		accept("R196", "harmless prefix", set("controllerContext.sessionIdVariable", "ENV_SESSION")),

		accept("R197", "startup", set("controllerContext.scope", "startup_v1")),
		accept("R197", "route bound", set("controllerContext.scope", "route_bound_v1")),
		refuse("R197", "another scope", set("controllerContext.scope", "route"), "/controllerContext/scope"),
		refuse("R197", "null scope", set("controllerContext.scope", nil), "/controllerContext/scope"),

		refuse("R199", "another driver", set("callback.driver", "http_v1"), "/callback/driver"),
		accept("R199", "executable", set("callback.executable", "/opt/a b/.c/d-1.2")),
		refuse("R199", "relative", set("callback.executable", "bin/x"), "/callback/executable"),
		refuse("R199", "bare name", set("callback.executable", "x"), "/callback/executable"),
		refuse("R199", "slash at the end", set("callback.executable", "/opt/x/"), "/callback/executable"),
		refuse("R199", "two slashes", set("callback.executable", "/opt//x"), "/callback/executable"),
		refuse("R199", "dot", set("callback.executable", "/opt/./x"), "/callback/executable"),
		refuse("R199", "dots", set("callback.executable", "/opt/../x"), "/callback/executable"),
		refuse("R199", "dots at the end", set("callback.executable", "/opt/.."), "/callback/executable"),
		refuse("R199", "root", set("callback.executable", "/"), "/callback/executable"),
		refuse("R199", "empty", set("callback.executable", ""), "/callback/executable"),
		refuse("R199", "placeholder", set("callback.executable", "/opt/${HOME}/x"), "/callback/executable"),
		refuse("R199", "newline", set("callback.executable", "/opt/x\ny"), "/callback/executable"),
		accept("R199", "longest", set("callback.executable", "/"+repeat("x", 4095))),
		refuse("R199", "longer", set("callback.executable", "/"+repeat("x", 4096)), "/callback/executable"),
		accept("R199", "name that begins like a shell's", set("callback.executable", "/opt/shell")),

		accept("R200", "placeholder within a word", set("callback.arguments", args("--key=${envelope.idempotency_key},x"))),
		accept("R200", "all in one", set("callback.arguments", []string{"a${controller.session_id}${envelope.delivery_id}/${envelope.message_id}"})),
		accept("R200", "without the idempotency key", set("callback.arguments", args())),
		accept("R200", "empty argument", set("callback.arguments", args(""))),
		accept("R200", "one ampersand, quotes, backslash", set("callback.arguments", args(`a&b "c" 'd' \e *?[]{}()!~#`))),
		refuse("R200", "no session", set("callback.arguments", args()[1:]), "/callback/arguments"),
		refuse("R200", "no delivery", set("callback.arguments", []string{args()[0], args()[2]}), "/callback/arguments"),
		refuse("R200", "no message", set("callback.arguments", args()[:2]), "/callback/arguments"),
		refuse("R200", "none", set("callback.arguments", []string{}), "/callback/arguments"),
		accept("R200", "64", set("callback.arguments", args(numbered(61, "a%d")...))),
		refuse("R200", "65", set("callback.arguments", args(numbered(62, "a%d")...)), "/callback/arguments"),
		accept("R200", "longest", set("callback.arguments", args(repeat("é", 4096)))),
		refuse("R200", "longer", set("callback.arguments", args(repeat("é", 4097))), "/callback/arguments/3"),
		accept("R200", "longest in all", set("callback.arguments", args(repeat("a", 4096), repeat("a", 4096), repeat("a", 4096), repeat("a", 4096-len(strings.Join(args(), "")))))),
		blind(refuse("R200", "longer in all", set("callback.arguments", args(repeat("a", 4096), repeat("a", 4096), repeat("a", 4096), repeat("a", 4097-len(strings.Join(args(), ""))))), "/callback/arguments")),
		refuse("R200", "body", set("callback.arguments", args("${envelope.body}")), "/callback/arguments/3"),
		refuse("R200", "number", set("callback.arguments", []any{args()[0], args()[1], args()[2], 1}), "/callback/arguments/3"),

		refuse("R201", "text before the body", set("callback.stdin", "x${envelope.body}"), "/callback/stdin"),
		refuse("R201", "envelope", set("callback.stdin", "${envelope}"), "/callback/stdin"),
		refuse("R201", "missing", remove("callback.stdin"), "/callback"),

		accept("R202", "none", set("callback.environment.allow", []string{})),
		accept("R202", "32", set("callback.environment.allow", numbered(32, "A%d"))),
		refuse("R202", "33", set("callback.environment.allow", numbered(33, "A%d")), "/callback/environment/allow"),
		refuse("R202", "twice", set("callback.environment.allow", []string{"A", "A"}), "/callback/environment/allow/1"),
		refuse("R202", "unsafe form", set("callback.environment.allow", []string{"A-B"}), "/callback/environment/allow/0"),

		accept("R204", "least", set("callback.timeoutMs", 1)),
		accept("R204", "most", set("callback.timeoutMs", 30000)),
		accept("R204", "written otherwise", strings.Replace(string(starter), "8000", "8e3", 1)),
		refuse("R204", "0", set("callback.timeoutMs", 0), "/callback/timeoutMs"),
		refuse("R204", "negative", set("callback.timeoutMs", -1), "/callback/timeoutMs"),
		refuse("R204", "30001", set("callback.timeoutMs", 30001), "/callback/timeoutMs"),
		refuse("R204", "fraction", set("callback.timeoutMs", 1.5), "/callback/timeoutMs"),
		refuse("R204", "string", set("callback.timeoutMs", "8000"), "/callback/timeoutMs"),
		refuse("R204", "missing", remove("callback.timeoutMs"), "/callback"),
		accept("R204", "most output", set("callback.maxOutputBytes", 1048576)),
		refuse("R204", "no output", set("callback.maxOutputBytes", 0), "/callback/maxOutputBytes"),
		refuse("R204", "more output", set("callback.maxOutputBytes", 1048577), "/callback/maxOutputBytes"),
		refuse("R204", "output missing", remove("callback.maxOutputBytes"), "/callback"),

		accept("R205", "one word", set(ackD+"mapping", map[string]string{"ok": "accepted"})),
		accept("R205", "16 words", set(ackD+"mapping", words(16, "uncertain"))),
		refuse("R205", "17 words", set(ackD+"mapping", words(17, "uncertain")), pD+"/mapping"),
		refuse("R205", "no word", set(ackD+"mapping", map[string]string{}), pD+"/mapping"),
		blind(refuse("R205", "none accepts", set(ackD+"mapping", map[string]string{"ok": "uncertain"}), pD+"/mapping")),
		refuse("R205", "another outcome", set(ackD+"mapping", map[string]string{"ok": "accepted", "x": "delivered"}), pD+"/mapping/x"),
		accept("R205", "longest word", set(ackD+"mapping", map[string]string{repeat("a", 64): "accepted"})),
		refuse("R205", "longer word", set(ackD+"mapping", map[string]string{repeat("a", 65): "accepted"}), pD+"/mapping/"+repeat("a", 65)),
		refuse("R205", "empty word", set(ackD+"mapping", map[string]string{"": "accepted"}), pD+"/mapping/"),
		refuse("R205", "blank in a word", set(ackD+"mapping", map[string]string{"o k": "accepted"}), pD+"/mapping/o k"),
		accept("R205", "pointer with escapes", set(ackD+"jsonPointer", "/a~1b/~0/0/")),
		refuse("R205", "whole document", set(ackD+"jsonPointer", ""), pD+"/jsonPointer"),
		refuse("R205", "no slash", set(ackD+"jsonPointer", "a"), pD+"/jsonPointer"),
		refuse("R205", "bad escape", set(ackD+"jsonPointer", "/a~2"), pD+"/jsonPointer"),
		refuse("R205", "tilde last", set(ackD+"jsonPointer", "/a~"), pD+"/jsonPointer"),
		accept("R205", "16 parts", set(ackD+"jsonPointer", repeat("/a", 16))),
		refuse("R205", "17 parts", set(ackD+"jsonPointer", repeat("/a", 17)), pD+"/jsonPointer"),
		accept("R205", "longest pointer", set(ackD+"jsonPointer", "/"+repeat("é", 255))),
		refuse("R205", "longer pointer", set(ackD+"jsonPointer", "/"+repeat("é", 256)), pD+"/jsonPointer"),
		blind(refuse("R205", "both echoes at one place", set("callback.acknowledgement.acknowledgedMessageId.jsonPointer", "/request/delivery_id"), "/callback/acknowledgement/acknowledgedMessageId")),
		accept("R205", "acceptance where the delivery is", set("callback.acknowledgement.acceptanceId.jsonPointer", "/request/delivery_id")),
	}
	for _, name := range []string{"$schema", "schema", "version", "id", "revision", "compatibility", "controllerContext", "callback"} {
		if name != "$schema" {
			out = append(out, refuse("R192", "without "+name, remove(name), ""))
		}
	}
	for path, fields := range map[string]string{"compatibility": "host range", "controllerContext": "driver sessionIdVariable",
		"callback":                             "driver executable arguments environment acknowledgement",
		"callback.environment":                 "allow",
		"callback.acknowledgement":             "disposition acceptanceId acknowledgedDeliveryId acknowledgedMessageId",
		"callback.acknowledgement.disposition": "jsonPointer mapping", "callback.acknowledgement.acceptanceId": "jsonPointer"} {
		p := "/" + strings.ReplaceAll(path, ".", "/")
		out = append(out, refuse("R192", path+" is no object", set(path, "x"), p))
		for f := range strings.FieldsSeq(fields) {
			out = append(out, refuse("R192", "without "+path+"."+f, remove(path+"."+f), p))
		}
	}
	for _, name := range append([]string{"DYLD_INSERT_LIBRARIES", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "AKK_HOST_PROFILE_X"}, unsafeVariables...) {
		out = append(out, refuse("R196", name, set("controllerContext.sessionIdVariable", name), "/controllerContext/sessionIdVariable"),
			refuse("R202", name, set("callback.environment.allow", []string{"OK", name}), "/callback/environment/allow/1"))
	}
	for _, name := range shells {
		out = append(out, refuse("R199", name, set("callback.executable", "/usr/bin/"+name), "/callback/executable"))
	}
	for _, bad := range []string{"\x00", "\n", "\r", ";", "`", "<", ">", "|", "||", "&&", "$", "$(x)", "${HOME}", "$HOME", "${controller.session_id", "${ controller.session_id }", "$${controller.session_id}", "${envelope.route}"} {
		out = append(out, refuse("R200", fmt.Sprintf("%q", bad), set("callback.arguments", args("a"+bad+"b")), "/callback/arguments/3"))
	}
	return out
}

// R192 to R205: the parser, the pointer it names, and the schema's verdict.
func TestRules(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	checked, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string][2]int{}
	for _, r := range rules() {
		n := count[r.req]
		if r.ok {
			n[0]++
		} else {
			n[1]++
		}
		count[r.req] = n
		t.Run(r.req+" "+r.name, func(t *testing.T) {
			p, err := Parse("p.json", []byte(r.doc))
			if (err == nil) != r.ok {
				t.Fatalf("the parser says: %v", err)
			}
			if !r.ok {
				bad := new(Error)
				if !errors.As(err, &bad) || !errors.Is(err, ErrInvalid) || p != nil {
					t.Fatalf("%T, %v", err, p)
				}
				found := false
				for _, f := range bad.Faults {
					found = found || f.Pointer == r.at && f.Line > 0
				}
				if !found {
					t.Errorf("no fault at %q in %v", r.at, bad.Faults)
				}
			}
			var v any
			if err := json.Unmarshal([]byte(r.doc), &v); err != nil {
				t.Fatal(err)
			}
			if err := checked.Validate(v); (err == nil) != (r.ok || r.blind) {
				t.Errorf("the schema says: %v", err)
			}
		})
	}
	for _, req := range []string{"R192", "R193", "R194", "R195", "R196", "R197", "R199", "R200", "R202", "R204", "R205"} {
		if n := count[req]; n[0] == 0 || n[1] == 0 {
			t.Errorf("%s has %d accepting and %d refusing cases", req, n[0], n[1])
		}
	}
}
