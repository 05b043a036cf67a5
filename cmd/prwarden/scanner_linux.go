package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

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
