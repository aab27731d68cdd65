package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"akk/bridge/host"
	"akk/bridge/host/profile"
	"akk/bridge/rpc"
	"akk/ui"

	"github.com/spf13/cobra"
)

// This file holds the commands about Host profiles (R191). None needs the
// daemon or tmux.

func newHostProfile(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "host-profile",
		Short: "Host profiles: how a Host's bridge knows its session and is called back",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return needsOne(c) },
	}
	c.AddCommand(
		&cobra.Command{Use: "example [ID]", Short: "Print a profile to begin with, or a shipped one", Args: cobra.MaximumNArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			return a.exampleProfile(args)
		}},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of a profile", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(profile.JSONSchema())
			return err
		}},
		&cobra.Command{Use: "list", Short: "List the profiles that akk ships", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			return a.printShipped()
		}},
		newHostProfileValidate(a), newHostProfileDoctor(a),
	)
	return c
}

// own names this program for the shipped profiles.
func (a *app) own(s *host.Selection) {
	if exe, err := os.Executable(); err == nil {
		if s.Akk, err = filepath.EvalSymlinks(exe); err != nil {
			s.Akk = exe
		}
	}
	if a.storeDir != "" {
		if dir, err := filepath.Abs(a.storeDir); err == nil {
			s.AkkArgs = []string{"--store-dir", dir}
		}
	}
}

func (a *app) exampleProfile(args []string) error {
	doc := profile.Starter()
	if len(args) > 0 {
		var s host.Selection
		a.own(&s)
		at := slices.IndexFunc(profile.List(), func(s profile.Shipped) bool { return s.ID == args[0] })
		if at < 0 {
			return fail("see `akk host-profile list`", "akk ships no profile %q", args[0])
		}
		var err error
		if doc, err = profile.List()[at].Document(s.Akk, s.AkkArgs...); err != nil {
			return err
		}
	}
	_, err := a.out.Write(doc)
	return err
}

func (a *app) printShipped() error {
	list := profile.List()
	if a.json {
		return a.print(map[string]any{"profiles": list})
	}
	table := [][]string{{"ID", "HOST", "VERSIONS", "SESSION", "NOTE"}}
	for _, s := range list {
		table = append(table, []string{s.ID, s.Host, s.Range, s.Variable, s.Note})
	}
	return ui.Table(a.out, table)
}

// validated is the document of `validate --json`.
type validated struct {
	File        string          `json:"file"`
	Valid       bool            `json:"valid"`
	Faults      []profile.Fault `json:"faults,omitempty"`
	ID          string          `json:"id,omitempty"`
	Revision    string          `json:"revision,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	Scope       profile.Scope   `json:"scope,omitempty"`
	Standalone  bool            `json:"standalone_bridge_compatible"`
	Host        string          `json:"host,omitempty"`
	Range       string          `json:"range,omitempty"`
	// Compatible is there if a Host and its version were named.
	Compatible   *bool  `json:"compatible,omitempty"`
	Incompatible string `json:"incompatible_because,omitempty"`
}

func newHostProfileValidate(a *app) *cobra.Command {
	var s host.Selection
	c := &cobra.Command{
		Use:   "validate FILE|ID",
		Short: "Check a profile, and whether it is for a Host",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if (s.Host == "") != (s.HostVersion == "") {
				return usagef("--host and --host-version go together")
			}
			s.Profile = args[0]
			a.own(&s)
			return a.validate(s)
		},
	}
	hostFlags(c, &s)
	return c
}

func (a *app) validate(s host.Selection) error {
	if err := existing(s.Profile); err != nil {
		return err
	}
	v := validated{File: s.Profile}
	p, err := s.Load()
	bad, refused := errors.AsType[*profile.Error](err)
	switch {
	case refused:
		v.Faults = bad.Faults
	case err != nil:
		return fail("name a readable .json file", "%v", err)
	default:
		v.Valid, v.ID, v.Revision, v.Fingerprint, v.Scope = true, p.ID, p.Revision, p.Fingerprint, p.Scope
		v.Standalone, v.Host, v.Range = p.Standalone(), p.Host, p.Range.String()
		if s.Host != "" {
			err = p.Compatible(s.Host, s.HostVersion)
			fits := err == nil
			if v.Compatible = &fits; !fits {
				v.Incompatible = err.Error()
			}
		}
	}
	if a.json {
		if perr := a.print(v); perr != nil {
			return perr
		}
	} else {
		a.printValidated(v)
	}
	if err != nil {
		return reported{}
	}
	return nil
}

// existing tells in words that a name is no profile at all.
func existing(name string) error {
	var ids []string
	for _, s := range profile.List() {
		ids = append(ids, s.ID)
	}
	if _, err := os.Stat(name); err == nil || slices.Contains(ids, name) || strings.HasSuffix(name, ".json") {
		return nil
	}
	return fail("name a file that ends in .json, or one of "+strings.Join(ids, ", "), "there is no file %s, and akk ships no profile of that name", name)
}

func (a *app) printValidated(v validated) {
	if !v.Valid {
		a.printf("%s is not a valid host profile\n", oneLine(v.File))
		for _, f := range v.Faults {
			a.printf("  %s\n", oneLine(f.String()))
		}
		return
	}
	a.printf("%s is valid\n", oneLine(v.File))
	table := [][]string{{"  id", v.ID}, {"  revision", v.Revision}, {"  host", v.Host + " " + v.Range}, {"  scope", string(v.Scope)},
		{"  akk host-bridge", map[bool]string{true: "can carry it", false: "can't carry it: it is for a connector of the host's own"}[v.Standalone]},
		{"  fingerprint", v.Fingerprint}}
	if v.Compatible != nil {
		table = append(table, []string{"  compatible", map[bool]string{true: "yes", false: "no: " + oneLine(v.Incompatible)}[*v.Compatible]})
	}
	_ = ui.Table(a.out, table)
}

func hostFlags(c *cobra.Command, s *host.Selection) {
	c.Flags().StringVar(&s.Host, "host", "", "the Host's `id`, as in the profile")
	c.Flags().StringVar(&s.HostVersion, "host-version", "", "the Host's exact `version`")
}

func newHostProfileDoctor(a *app) *cobra.Command {
	var s host.Selection
	c := &cobra.Command{
		Use:   "doctor FILE|ID",
		Short: "Check a profile as the bridge would, in this environment; nothing is sent",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s.Profile = args[0]
			a.own(&s)
			checks, err := hostChecks(s)
			if err != nil {
				return err
			}
			return a.printChecks(checks)
		},
	}
	hostFlags(c, &s)
	return c
}

// hostChecks are the lines of doctor about a Host profile (R209).
func hostChecks(s host.Selection) ([]rpc.Check, error) {
	if s.Profile == "" || s.Host == "" || s.HostVersion == "" {
		return nil, usagef("a host profile is checked for its host: name --host-profile, --host and --host-version together")
	}
	checks := host.Diagnose(os.LookupEnv, s)
	for i := range checks {
		checks[i].Detail = oneLine(checks[i].Detail)
	}
	return checks, nil
}
