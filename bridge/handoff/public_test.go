package handoff

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"akk/agents"
	"akk/bridge/rpc"
	"akk/panes"
)

// These tests hold what leaves the desk against what stands in a dialog
// (R225: an option's label repeated the command, secret and all).

const (
	leaked  = "hunter2aa"
	leaked2 = "sk-abcdefgh12345"
	command = "touch API_TOKEN=" + leaked + " " + leaked2
)

// fill gives every string at any depth a secret, and every list and pointer
// something to hold.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(command)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Bool, reflect.Int, reflect.Uint64:
	default:
		panic("fill what a " + v.Type().String() + " may hold, then look whether it is redacted")
	}
}

// texts calls f with the path and text of every string.
func texts(path string, v reflect.Value, f func(path, s string)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			texts(path+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			texts(path, v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(path+"[]", v.Index(i), f)
		}
	}
}

// Every text of a reading, a dialog's and everything in it included. A new
// field is filled and looked at by itself.
func TestPublicReadingHasNoSecret(t *testing.T) {
	var r, same agents.Reading
	fill(reflect.ValueOf(&r).Elem())
	fill(reflect.ValueOf(&same).Elem())
	n := 0
	texts("Reading", reflect.ValueOf(*publicReading(r)), func(path, s string) {
		n++
		if bare(s) || !strings.Contains(s, "[redacted]") {
			t.Errorf("%s: %q", path, s)
		}
	})
	if n < 30 {
		t.Errorf("only %d texts were looked at", n)
	}
	if !reflect.DeepEqual(r, same) {
		t.Error("the reading that answers are compared with was changed")
	}
	// A value under a name that tells what it is.
	r = agents.Reading{Dialog: &agents.Dialog{Fields: []agents.DialogField{{Label: "API token:", Value: "hunter2"}, {Label: "Password"}, {Label: "City", Value: "Bonn"}}}}
	if f := publicReading(r).Dialog.Fields; f[0].Value != "[redacted]" || f[1].Value != "" || f[2].Value != "Bonn" || r.Dialog.Fields[0].Value != "hunter2" {
		t.Errorf("%+v %+v", f, r.Dialog.Fields)
	}
}

func bare(s string) bool { return strings.Contains(s, leaked) || strings.Contains(s, leaked2) }

// clear of secrets, as JSON.
func told(t *testing.T, what string, doc any) {
	t.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); bare(s) || !strings.Contains(s, "[redacted]") {
		t.Errorf("%s: %s", what, s)
	}
}

// What callbacks and Watches tell of a question.
func TestQuestionsTellNoSecret(t *testing.T) {
	for _, o := range []agents.Owner{agents.OwnerApproval, agents.OwnerQuestionnaire} {
		var r agents.Reading
		fill(reflect.ValueOf(&r).Elem())
		r.Activity, r.Owner = agents.Blocked, o
		q := asked(r)
		other := r
		d := *r.Dialog
		other.Dialog = &d
		d.Command = "touch API_TOKEN=another"
		if asked(other).Key == q.Key {
			t.Error("two questions that differ in a secret are taken for one")
		}
		turn := &Turn{ID: "turn-1", Workspace: "/home/" + command}
		told(t, "question", questionEvent(turn, q))
		told(t, "watch", watchEvent(Watch{ID: "w"}, notice{Kind: q.Kind, Ask: q}))
		told(t, "approval", approval(r))
		_, reason := screenState(r)
		told(t, "reason", reason)
		told(t, "turn", turnDoc(turn, nil))
	}
}

// What a program sets and nobody addresses a pane by; the target stays.
func TestControlTellsNoSecret(t *testing.T) {
	v := &view{Facts: Facts{Info: panes.Info{SessionName: "TOKEN=x", WindowName: command, Command: command, Cwd: "/home/" + command}}}
	told(t, "control", v.control())
	told(t, "command", v.command())
	told(t, "cwd", v.cwd())
	v.proc.Cwd = v.Info.Cwd
	told(t, "process cwd", v.cwd())
	if c := v.control(); c.Session != "TOKEN=x" || c.Target != target(v) || !strings.HasPrefix(c.Target, "TOKEN=x:") {
		t.Errorf("the pane can't be addressed any more: %+v", c)
	}
}

// chatty is a player whose approval dialog repeats its command everywhere, as
// real ones do.
type chatty struct{ *playerAgent }

func (a chatty) Read(in agents.Input) agents.Reading {
	r := a.playerAgent.Read(in)
	if r.Owner == agents.OwnerApproval {
		r.Dialog = &agents.Dialog{Kind: "exec", Command: command, Prompt: "Run it?", Arguments: "x: " + command, Path: "/" + command,
			Options: []agents.DialogOption{{Label: "Yes", Key: "1"}, {Label: "Yes, and don't ask again for commands that start with `" + command + "`", Key: "2", Description: command}, {Label: "No", Key: "3"}},
			Fields:  []agents.DialogField{{Label: "x", Value: command}}}
	}
	return r
}

// List, status, explain and the journal, of a desk.
func TestDialogTellsNoSecret(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, w: newWorld(), dir: t.TempDir()}
	b.start()
	t.Cleanup(b.close)
	b.desk.agents = []agents.Agent{chatty{b.w.agent}}
	if _, err := b.desk.Attach(t.Context(), rpc.AttachParams{Socket: b.w.id.Socket}); err != nil {
		t.Fatal(err)
	}
	p := b.w.play()
	b.row(p, agents.Idle)
	p.set(func(p *player) { p.activity, p.owner = agents.Blocked, agents.OwnerApproval })
	row := b.row(p, agents.Blocked)
	told(t, "row", row)
	if n := len(row.Reading.Dialog.Options); n != 3 || row.Reading.Dialog.Options[0].Label != "Yes" {
		t.Errorf("%+v", row.Reading.Dialog.Options)
	}
	st, err := b.desk.Status(t.Context(), rpc.Caller{}, rpc.StatusParams{ID: row.ID})
	if err != nil {
		t.Fatal(err)
	}
	told(t, "status", st)
	e, err := b.desk.Explain(t.Context(), rpc.Caller{}, rpc.TargetParams{ID: row.ID})
	if err != nil {
		t.Fatal(err)
	}
	told(t, "explain", e)
	b.until("journalled", func() bool {
		for _, e := range b.events() {
			if e.Type == "reading" && e.Reading != nil && e.Reading.Dialog != nil {
				told(t, "event", e)
				return true
			}
		}
		return false
	})
}
