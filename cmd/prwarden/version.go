package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

func newVersion(st cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  `Print the version of the program, of Go, and of the database schema it needs.`,
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return cli.Version(st, schemaVersion()) },
	}
}
