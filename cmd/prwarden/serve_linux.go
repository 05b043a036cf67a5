package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

// serverCommands are the commands that run the service.
func serverCommands(st cli.Streams) []*cobra.Command {
	return []*cobra.Command{
		newServe(st), newScanner(st), newMigrate(st), newBackup(st), newRestore(st), newKeys(st), newOrganizations(st),
	}
}

func newServe(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server: the REST and gRPC APIs, the queue, and a scanner in the same
process (or, with --scanner, calls to scanners elsewhere).

Without a configuration file there is one organization, "default", which may
scan every public repository of github.com. The log goes to stderr as JSON; its
line "serving" has the addresses that were chosen. SIGTERM or SIGINT ends it in
good order, a second one at once.`,
		Example: `  # On SQLite in this folder, on the usual ports
  prwarden serve

  # On free ports, with organizations and hosts from a file
  prwarden serve --http-addr 127.0.0.1:0 --grpc-addr 127.0.0.1:0 \
      --config prwarden.yaml --database sqlite:/var/lib/prwarden/prwarden.db`,
		Args: cobra.NoArgs,
	}
	return configured(cmd, st, config.Serve, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.Serve(ctx, st, c)
	})
}

func newScanner(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scanner",
		Short: "Run a scanner for servers elsewhere",
		Long: `Run a scanner by itself, under its own user or on its own machine. It is the
only part that touches the content of repositories, and it has neither the
database nor API keys. Servers call it when they are started with --scanner.

With each scan the server names the code host. The scanner needs the tokens of
those hosts in its environment, and no organizations in its configuration.`,
		Example: `  # Beside a server on the same machine
  prwarden scanner --config prwarden.yaml
  prwarden serve --config prwarden.yaml --scanner 127.0.0.1:9191

  # On its own machine, with certificates on both sides
  prwarden scanner --config prwarden.yaml --grpc-addr :9191 \
      --tls-cert scanner.pem --tls-key scanner.key --tls-ca servers-ca.pem`,
		Args: cobra.NoArgs,
	}
	return configured(cmd, st, config.Scanner, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.Scanner(ctx, st, c)
	})
}

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
database meanwhile: the copy is its state at one moment. When the command ends
well, the copy has been read through. For Postgres use pg_dump, as
docs/operations/back-up.md shows.`,
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
		Long: `Make FILE, which "backup" made, the SQLite database. No server may use it. If
anything goes wrong the old database is as it was. Keys that were revoked since
the backup work again.`,
		Example: `  prwarden restore --database sqlite:/var/lib/prwarden/prwarden.db \
      --force /var/backups/prwarden-2026-11-20.db`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&force, "force", false, "Replace the database that is there.")
	return configured(cmd, st, config.Backup, func(ctx context.Context, c config.Config, args []string) error {
		return admin.Restore(ctx, st, c, args[0], force)
	})
}
