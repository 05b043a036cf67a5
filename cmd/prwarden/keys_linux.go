package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
)

func newKeys(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Manage the API keys in a server's database. These commands open the database
themselves: they work while the server runs, and before it ran for the first
time, when --create makes the SQLite database. A key belongs to one organization and may do what its scopes say:

  reviews:read   read and watch reviews
  reviews:write  start and cancel reviews
  rules:read     read rules
  rules:write    create and delete rules
  keys:admin     manage keys over the API`,
		Args: knownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newKeysCreate(st), newKeysList(st), newKeysRevoke(st))
	return cmd
}

func newKeysCreate(st cli.Streams) *cobra.Command {
	var in admin.KeyInput
	cmd := &cobra.Command{
		Use:   "create --org ORG --name NAME",
		Short: "Create an API key and print its token",
		Long: `Create an API key. Standard output is the token and nothing else: this is the
only time that it is shown, the database keeps its hash.`,
		Example: `  # A key for CI, kept in a file that only you can read
  (umask 077; prwarden keys create --org acme --name ci > prwarden.key)

  # A key that only reads, for 30 days
  prwarden keys create --org acme --name dashboard \
      --scopes reviews:read,rules:read --expires 720h`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Organization, "org", "", "Organization that the key belongs to.")
	flags.StringVar(&in.Name, "name", "", "Name that tells the key from others.")
	flags.StringSliceVar(&in.Scopes, "scopes", nil, "Scopes, separated by commas. (default all but keys:admin)")
	flags.DurationVar(&in.Expires, "expires", 0, "How long the key works, such as 720h. (default for ever)")
	flags.BoolVar(&in.Create, "create", false, "Make the SQLite database when it is not there.")
	flags.IntVar(&in.RateLimit, "rate-limit", 0, "Requests a minute. (default 60)")
	return configured(cmd, st, config.Keys, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.CreateKey(ctx, st, c, in)
	})
}

func newKeysList(st cli.Streams) *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the keys that are not revoked",
		Long:    `List the keys that are not revoked, newest first. Tokens are not kept, so none is shown.`,
		Example: `  prwarden keys list --org acme`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&org, "org", "", "Only keys of this organization.")
	return configured(cmd, st, config.Keys, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.ListKeys(ctx, st, c, org)
	})
}

func newKeysRevoke(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke KEY",
		Short:   "Revoke a key",
		Long:    `Revoke a key by its identifier, as "keys list" shows it. Running servers refuse it within 5 seconds.`,
		Example: `  prwarden keys revoke key_3j9x0a7c5v1m`,
		Args:    cobra.ExactArgs(1),
	}
	return configured(cmd, st, config.Keys, func(ctx context.Context, c config.Config, args []string) error {
		return admin.RevokeKey(ctx, st, c, args[0])
	})
}
