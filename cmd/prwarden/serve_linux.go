package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

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
