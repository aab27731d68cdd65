package main

import (
	"errors"
	"os"

	"akk/cmd/akk/config"

	"github.com/spf13/cobra"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "The settings file: where it is, whether it is valid, an example",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return needsOne(c) },
	}
	path := func() string {
		if a.configPath != "" {
			return a.configPath
		}
		return config.Path()
	}
	c.AddCommand(
		&cobra.Command{Use: "path", Short: "Print the path of the settings file", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			a.printf("%s\n", path())
			return nil
		}},
		&cobra.Command{Use: "check", Short: "Check the settings file; --json prints what holds", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if errs := a.profileErrs(); len(errs) > 0 {
				return fail(profileCure, "%v", errors.Join(errs...))
			}
			if a.json {
				return a.print(cfg.Filled())
			}
			if _, err := os.Stat(path()); err != nil {
				a.printf("%s does not exist; the defaults hold\n", path())
				return nil
			}
			a.printf("%s is valid\n", path())
			return nil
		}},
		&cobra.Command{Use: "example", Short: "Print a commented settings file with the defaults", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			a.printf("%s", config.Example())
			return nil
		}},
	)
	return c
}
