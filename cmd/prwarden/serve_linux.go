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
line "serving" has the addresses that were chosen.

SIGTERM or SIGINT ends it in good order: nothing new is accepted, running
requests finish, running scans go back to the queue. A second one ends it at
once.`,
		Example: `  # On SQLite in this folder, on the usual ports
  prwarden serve

  # On free ports, with organizations and hosts from a file
  prwarden serve --http-addr 127.0.0.1:0 --grpc-addr 127.0.0.1:0 \
      --config prwarden.yaml --database sqlite:/var/lib/prwarden/prwarden.db

  # prwarden.yaml:
  #   organizations:
  #     - name: acme
  #       repositories: ["acme/*"]
  #       host:
  #         kind: git
  #         url: "https://git.example.com/{repo}.git"
  #         token_env: ACME_TOKEN`,
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

It needs the organizations' hosts in its configuration file, and the tokens
that they name in its environment.`,
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
