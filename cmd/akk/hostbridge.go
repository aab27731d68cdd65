package main

import "github.com/spf13/cobra"

func newHostBridge(a *app) *cobra.Command {
	return &cobra.Command{Use: "host-bridge"}
}
