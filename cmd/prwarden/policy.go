package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

func newPolicy(st cli.Streams) *cobra.Command {
	show := noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return cli.ShowPolicy(ctx, st, c.Client)
	}, &cobra.Command{
		Use:     "show",
		Short:   "Show the policy as YAML",
		Long:    `Show the policy as YAML. The API key needs the scope policy:read.`,
		Example: `  prwarden policy show > policy.yml`,
	})
	dryRun := false
	apply := oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, path string) error {
		return cli.ApplyPolicy(ctx, st, c.Client, path, dryRun)
	}, &cobra.Command{
		Use:   "apply FILE",
		Short: "Make a file the policy",
		Long: `Make FILE, in YAML or JSON, the policy of the organization that the key belongs to,
and show what that changes. What the file leaves out is as in the default policy.

The API key needs the scopes policy:read and policy:write, which "keys create"
gives with --scopes only.`,
		Example: `  # What would change?
  prwarden policy apply policy.yml --dry-run

  prwarden policy apply policy.yml`,
	})
	apply.Flags().BoolVar(&dryRun, "dry-run", false, "Only show what would change.")

	return group(&cobra.Command{
		Use:   "policy",
		Short: "Show and set what the organization decides over its repositories",
	}, show, apply)
}
