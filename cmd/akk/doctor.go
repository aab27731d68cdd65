package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"akk/bridge/doctor"
	"akk/bridge/host"
	"akk/bridge/rpc"
	"akk/cmd/akk/config"
	"akk/panes"
	"akk/ui"
	"akk/ui/launch"

	"github.com/spf13/cobra"
)

func newDoctor(a *app) *cobra.Command {
	var s host.Selection
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check tmux, the settings, the daemon and the store; with a host profile, that too",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var more []rpc.Check
			if s.Profile != "" || s.Host != "" || s.HostVersion != "" {
				a.own(&s)
				var err error
				if more, err = hostChecks(s); err != nil {
					return err
				}
			}
			tmux, err := launch.Version(c.Context())
			checks := []rpc.Check{check("tmux", tmux+" (3.2 or newer is needed)", err)}
			path := a.configPath
			if path == "" {
				path = config.Path()
			}
			cfg, err := a.config()
			if _, serr := os.Stat(path); err == nil && errors.Is(serr, fs.ErrNotExist) {
				path = "the defaults: there is no " + path
			}
			checks = append(checks, check("settings", path, err))
			checks = append(checks, a.profileChecks()...)
			if at, werr := a.where(); checks[0].Status == "ok" && err == nil && werr == nil {
				checks = append(checks, doctor.Offline(c.Context(), at.socket, panes.Transport(cfg.Transport))...)
			}
			if checks[0].Status == "ok" && err == nil {
				d, _, err := a.connect(c.Context())
				checks = append(checks, check("daemon", "answers", err))
				if err == nil {
					defer d.Close()
					desk, err := d.Doctor(c.Context())
					if err != nil {
						checks = append(checks, check("desk", "", err))
					}
					checks = append(checks, desk.Checks...)
				}
			}
			return a.printChecks(doctor.Unique(append(checks, more...)))
		},
	}
	c.Flags().StringVar(&s.Profile, "host-profile", "", "also check this host profile `file`, in this environment; with --host and --host-version")
	hostFlags(c, &s)
	return c
}

func check(name, detail string, err error) rpc.Check {
	if err == nil {
		return rpc.Check{Name: name, Status: "ok", Detail: detail}
	}
	what, cure := explainError(err)
	return rpc.Check{Name: name, Status: "failed", Detail: oneLine(what), Cure: cure}
}

func (a *app) printChecks(checks []rpc.Check) error {
	failed := false
	var table [][]string
	for _, c := range checks {
		failed = failed || c.Status == "failed"
		for i, l := range strings.Split(c.Detail, "\n") {
			if i == 0 {
				table = append(table, []string{c.Status, c.Name, l})
			} else {
				table = append(table, []string{"", "", "  " + l})
			}
		}
		if c.Cure != "" {
			table = append(table, []string{"", "", "cure: " + c.Cure})
		}
	}
	var err error
	if a.json {
		err = a.print(rpc.Doctor{Checks: checks})
	} else {
		err = ui.Table(a.out, table)
	}
	if err == nil && failed {
		return reported{}
	}
	return err
}
