package main

import "github.com/spf13/cobra"

func newServe(a *app) *cobra.Command {
	return &cobra.Command{Use: "serve"}
}
