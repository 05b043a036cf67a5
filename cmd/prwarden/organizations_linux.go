package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

func newOrganizations(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "organizations",
		Short: "See what organizations keep, and purge removed ones",
		Long: `Look after what the database has of organizations. Which organizations there
are is said by the configuration file. What the database has of one that was
removed there stays until it is purged, so that it is all there when the
organization is added back.`,
		Args: knownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newOrganizationsList(st), newOrganizationsPurge(st))
	return cmd
}

func newOrganizationsList(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the organizations that the database has anything of",
		Long: `List the organizations that the database has anything of, whether this
configuration names them, and when a running server last did.`,
		Example: `  prwarden organizations list --config prwarden.yaml`,
		Args:    cobra.NoArgs,
	}
	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.ListOrganizations(ctx, st, c)
	})
}

func newOrganizationsPurge(st cli.Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge ORG --yes",
		Short: "Delete everything of an organization that was removed",
		Long: `Delete every review, rule and API key of an organization. It must be in
neither this configuration nor that of a server that runs, or ran in the last
ten minutes. It deletes a little at a time, so that running servers hardly
notice; when it is interrupted, run it again. There is no way back but a
backup.`,
		Example: `  prwarden organizations purge acme --yes --config prwarden.yaml`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "It is meant.")
	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.PurgeOrganization(ctx, st, c, args[0], yes)
	})
}
