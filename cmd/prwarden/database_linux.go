package main

import (
	"context"

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
does this itself for an SQLite database when it starts, and for Postgres with
--migrate. Several may run at once: one does the work, the others wait. Make a
backup first: there is no way back.`,
		Example: `  prwarden migrate --database sqlite:/var/lib/prwarden/prwarden.db
  prwarden migrate --database postgres://prwarden@db.internal/prwarden`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newMigrateStatus(st))
	return configured(cmd, st, config.Migrate, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.Migrate(ctx, st, c)
	})
}

func newMigrateStatus(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the schema's version",
		Long: `Show the version of a database's schema, the version that this prwarden needs,
and the migrations that are pending. The exit code is 0 when this prwarden works
on the database as it is, and 3 when it does not. Nothing is changed.`,
		Example: `  prwarden migrate status --database postgres://prwarden@db.internal/prwarden`,
		Args:    cobra.NoArgs,
	}
	return configured(cmd, st, config.Migrate, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.MigrationStatus(ctx, st, c)
	})
}

func newBackup(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy an SQLite database while it is used",
		Long: `Copy an SQLite database into FILE, which must not exist. A server may use the
database meanwhile: the copy is its state at one moment, and nobody waits for
it. When the command ends well, the copy is on the disk and has been read
through. Only its owner can read it.

For Postgres use pg_dump, as docs/operations/back-up.md shows.`,
		Example: `  prwarden backup --database sqlite:/var/lib/prwarden/prwarden.db \
      /var/backups/prwarden-$(date +%F).db`,
		Args: cobra.ExactArgs(1),
	}
	return configured(cmd, st, config.Backup, func(ctx context.Context, c config.Config, args []string) error {
		return admin.Backup(ctx, st, c, args[0])
	})
}

func newRestore(st cli.Streams) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a backup the SQLite database",
		Long: `Make FILE, which "backup" made, the SQLite database. No server may use the
database, and an existing one is replaced only with --force. FILE is read
through first. If anything goes wrong the old database is as it was.

Keys that were revoked since the backup work again.`,
		Example: `  prwarden restore --database sqlite:/var/lib/prwarden/prwarden.db \
      --force /var/backups/prwarden-2026-11-20.db`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&force, "force", false, "Replace the database that is there.")
	return configured(cmd, st, config.Backup, func(ctx context.Context, c config.Config, args []string) error {
		return admin.Restore(ctx, st, c, args[0], force)
	})
}
