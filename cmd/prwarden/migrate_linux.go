package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

func newMigrate(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring a database to this version's schema",
		Long: `Bring a database to the schema that this version of prwarden needs. A server
does this itself for an SQLite database when it starts. Make a backup first:
there is no way back.`,
		Example: `  prwarden migrate --database sqlite:/var/lib/prwarden/prwarden.db`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(cmd, st, config.Migrate)
			if err != nil {
				return err
			}
			return admin.Migrate(cmd.Context(), st, c)
		},
	}
	config.Bind(config.Migrate, cmd.Flags())
	return cmd
}
