package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"akk/agents"
	"akk/agents/registry"
	"akk/bridge/rpc"
	"akk/vtparse"
	"akk/vtparse/cast"
)

// markerDoc is one line of replay --json.
type markerDoc struct {
	Marker  int             `json:"marker"`
	Label   string          `json:"label"`
	Screen  *vtparse.Screen `json:"screen"`
	Reading *agents.Reading `json:"reading"`
}

func (a *app) replayJSON(in io.Reader, name string, f replayFlags) error {
	out := bufio.NewWriterSize(a.out, 1<<16)
	direct := a.out
	a.out = out
	defer func() { a.out = direct }()
	err := a.markers(in, name, f, func(d markerDoc, _ string) error { return a.line(d) })
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	return err
}

// markers reads the agent's state at each marker of a recording, and of one
// without markers at its end. Nothing of the recording is kept.
func (a *app) markers(in io.Reader, name string, f replayFlags, yield func(markerDoc, string) error) error {
	rd, err := cast.NewReader(in)
	if err != nil {
		return badCast(name, err)
	}
	agent, version, err := whose(rd.Header.Title, f)
	if err != nil {
		return err
	}
	seen := 0
	at := func(e cast.Event, s *vtparse.Screen) error {
		if e.Data != gapLabel { // that one akk set itself
			seen++
		}
		d := markerDoc{Screen: s}
		d.Marker, d.Label = splitLabel(e.Data)
		if agent != nil {
			r := agent.Read(agents.Input{Screen: s, Version: version, Now: time.Unix(0, 0).Add(e.Time)})
			d.Reading = &r
		}
		return yield(d, version)
	}
	t, err := rd.Replay(vtparse.Options{TmuxVersion: f.tmuxVersion}, at)
	torn := errors.Is(err, io.ErrUnexpectedEOF) // in its last line
	if seen == 0 && (err == nil || torn) {
		a.note("%s has no markers; this is how it ends", name)
		err = cmp.Or(at(cast.Event{Kind: cast.Marker, Data: endMarker}, t.Screen()), err)
	}
	if err != nil {
		return badCast(name, err)
	}
	return nil
}

// gapLabel is the marker of a place where the recorder has missed something.
const gapLabel = "gap"

// endMarker is the label at the end of a recording without markers.
const endMarker = "0 the end"

func badCast(name string, err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f // said by us already
	}
	return &failure{"play " + name + ": " + err.Error(), "give a recording in asciicast v2, as `akk record` writes it", err}
}

// splitLabel reads "3 approval": a number and a label.
func splitLabel(s string) (int, string) {
	n, rest, ok := strings.Cut(s, " ")
	if i, err := strconv.Atoi(n); err == nil {
		if ok {
			return i, rest
		}
		return i, ""
	}
	return 0, s
}

var versionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// whose finds the agent of a recording: the options, else the title. No agent
// is a valid answer: then there is no reading.
func whose(title string, f replayFlags) (agents.Agent, string, error) {
	version := f.agentVersion
	if version == "" {
		version = versionWord().FindString(title)
	}
	if f.agent != "" {
		agent := registry.For(agents.Kind(f.agent))
		if agent == nil {
			var known []string
			for _, k := range registry.All() {
				known = append(known, string(k.Kind()))
			}
			return nil, "", usagef("--agent %q is not an agent that akk knows (%s)", f.agent, strings.Join(known, ", "))
		}
		return agent, version, nil
	}
	first, _, _ := strings.Cut(strings.ToLower(title), " ")
	return registry.For(agents.Kind(first)), version, nil
}

// explainCast is akk explain for a recording: the evidence at each marker.
func (a *app) explainCast(ctx context.Context, name, agent, version string) error {
	in, err := a.input(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	f := replayFlags{agent: agent, agentVersion: version}
	return a.markers(in, name, f, func(d markerDoc, version string) error { return a.explainMarker(d, name, version) })
}

// explainMarker explains the screen at one marker.
func (a *app) explainMarker(d markerDoc, name, version string) error {
	if d.Reading == nil {
		return fail("say whose it is with --agent codex or --agent claude", "the title of %s names no agent", name)
	}
	if a.json {
		return a.line(d)
	}
	a.printf("%d %s\n", d.Marker, d.Label)
	e := rpc.Explain{Agent: string(d.Reading.Agent), Version: version, Reading: *d.Reading, Missing: agents.Lacks(d.Reading)}
	e.Sendable = len(e.Missing) == 0
	for _, w := range d.Reading.Why {
		e.Evidence = append(e.Evidence, rpc.Evidence{Layer: w.Layer, Rule: w.Rule, Rows: w.Rows})
	}
	answers := answerRows(registry.For(d.Reading.Agent), version, d.Reading.Dialog)
	if err := a.printExplain(e, d.Screen.Lines(), answers); err != nil {
		return err
	}
	a.printf("\n")
	return nil
}
