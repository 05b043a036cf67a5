package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

func newMigrate(st cli.Streams) *cobra.Command {
	up := migration(st, admin.Migrate)
	up.Use = "migrate"
	up.Short = "Bring a database to this version's schema"
	up.Long = `Bring a database to the schema that this version of prwarden needs. A server
does this itself for an SQLite database when it starts, and for Postgres with
--migrate. Several may run at once: one does the work, the others wait. Make a
backup first: there is no way back.`
	up.Example = `  prwarden migrate --database sqlite:/var/lib/prwarden/prwarden.db
  prwarden migrate --database postgres://prwarden@db.internal/prwarden`
	up.AddCommand(newMigrateUp(st), newMigrateStatus(st))
	return up
}

func newMigrateUp(st cli.Streams) *cobra.Command {
	cmd := migration(st, admin.Migrate)
	cmd.Use = "up"
	cmd.Short = "Bring a database to this version's schema"
	cmd.Long = `Bring a database to the schema that this version of prwarden needs, as migrate
alone does.`
	cmd.Example = `  prwarden migrate up --database postgres://prwarden@db.internal/prwarden`
	return cmd
}

func newMigrateStatus(st cli.Streams) *cobra.Command {
	cmd := migration(st, admin.MigrationStatus)
	cmd.Use = "status"
	cmd.Short = "Show the schema's version"
	cmd.Long = `Show the version of a database's schema, the version that this prwarden needs,
and the migrations that are pending. The exit code is 0 when this prwarden works
on the database as it is, and 3 when it does not. Nothing is changed.`
	cmd.Example = `  prwarden migrate status --database postgres://prwarden@db.internal/prwarden`
	return cmd
}

// migration is a command that does something with the schema.
func migration(st cli.Streams, do func(context.Context, cli.Streams, config.Config) error) *cobra.Command {
	cmd := &cobra.Command{Args: cobra.NoArgs}
	return configured(cmd, st, config.Migrate, func(ctx context.Context, c config.Config, _ []string) error {
		return do(ctx, st, c)
	})
}
