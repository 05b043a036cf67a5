package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
)

func newKeys(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Manage the API keys in a server's database. These commands open the database
themselves, while the server runs or before. A key belongs to one organization
and may do what its scopes say:

    reviews:read   read and watch reviews
    reviews:write  start and cancel reviews
    rules:read     read rules
    rules:write    create and delete rules
    keys:admin     manage keys over the API`,
		Args: cobra.NoArgs,
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
		Short:   "Revoke a key; running servers refuse it within 5 seconds",
		Example: `  prwarden keys revoke key_3j9x0a7c5v1m`,
		Args:    cobra.ExactArgs(1),
	}
	return configured(cmd, st, config.Keys, func(ctx context.Context, c config.Config, args []string) error {
		return admin.RevokeKey(ctx, st, c, args[0])
	})
}

func newOrganizations(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "organizations",
		Short: "Create, list, update and remove organizations",
		Long: `Manage the organizations in a server's database: which repositories the keys of
each may scan, and the code host that they are on. What a configuration file
declares can be changed in that file only.`,
		Args: cobra.NoArgs,
		RunE: showHelp,
	}
	cmd.AddCommand(newOrganizationsCreate(st), newOrganizationsList(st), newOrganizationsUpdate(st),
		newOrganizationsRemove(st))

	return cmd
}

// organizationFlags adds the flags of an organization's settings. What it
// returns puts those that were given into an organization.
func organizationFlags(flags *pflag.FlagSet) admin.OrganizationChange {
	var in organization.Organization
	flags.StringSliceVar(&in.Repositories, "repositories", nil,
		"`GLOBS` of OWNER/NAME that may be scanned, separated by commas. (default all)")
	flags.StringVar(&in.Host.URL, "host-url", organization.DefaultURL,
		"Where a repository is cloned from, with {repo} in its path.")
	flags.StringVar(&in.Host.TokenEnv, "host-token-env", "",
		"Environment variable with the token for private repositories.")
	flags.StringVar(&in.Host.Username, "host-username", "",
		"Goes with the token. (default "+organization.DefaultUsername+")")
	flags.StringVar(&in.Host.HeadRef, "host-head-ref", organization.DefaultHeadRef,
		"Reference of a pull request's head.")
	flags.StringVar(&in.Host.MergeRef, "host-merge-ref", organization.DefaultMergeRef,
		"Reference of its trial merge.")
	flags.IntVar(&in.MaxScans, "max-scans", 0, "Most of its reviews scanned at once. (default no limit)")
	flags.IntVar(&in.MaxQueued, "max-queued", 0, "Most of its reviews that wait. (default 10000)")
	flags.BoolVar(&in.RequireSuppressionReason, "require-suppression-reason", false,
		"Let comments that suppress findings count only with a reason.")

	return func(o *organization.Organization) {
		for flag, set := range map[string]func(){
			"repositories":               func() { o.Repositories = in.Repositories },
			"host-url":                   func() { o.Host.URL = in.Host.URL },
			"host-token-env":             func() { o.Host.TokenEnv = in.Host.TokenEnv },
			"host-username":              func() { o.Host.Username = in.Host.Username },
			"host-head-ref":              func() { o.Host.HeadRef = in.Host.HeadRef },
			"host-merge-ref":             func() { o.Host.MergeRef = in.Host.MergeRef },
			"max-scans":                  func() { o.MaxScans = in.MaxScans },
			"max-queued":                 func() { o.MaxQueued = in.MaxQueued },
			"require-suppression-reason": func() { o.RequireSuppressionReason = in.RequireSuppressionReason },
		} {
			if flags.Changed(flag) {
				set()
			}
		}
	}
}

func newOrganizationsCreate(st cli.Streams) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "create ORG",
		Short: "Create an organization",
		Long:  `Create an organization. Without flags it has every repository of github.com.`,
		Example: `  prwarden organizations create acme --repositories 'acme/*' \
      --host-url 'https://git.example.com/{repo}.git' \
      --host-token-env PRWARDEN_ACME_TOKEN`,
		Args: cobra.ExactArgs(1),
	}
	change := organizationFlags(cmd.Flags())
	cmd.Flags().BoolVar(&create, "create", false, "Make the SQLite database when it is not there.")

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.CreateOrganization(ctx, st, c, args[0], change, create)
	})
}

func newOrganizationsList(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the organizations",
		Example: `  prwarden organizations list --config prwarden.yaml`,
		Args:    cobra.NoArgs,
	}

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, _ []string) error {
		return admin.ListOrganizations(ctx, st, c)
	})
}

func newOrganizationsUpdate(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "update ORG",
		Short:   "Change an organization that no configuration file declares",
		Example: `  prwarden organizations update acme --repositories 'acme/*,shared/tools'`,
		Args:    cobra.ExactArgs(1),
	}
	change := organizationFlags(cmd.Flags())

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.UpdateOrganization(ctx, st, c, args[0], change)
	})
}

func newOrganizationsRemove(st cli.Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove ORG --yes",
		Short: "End an organization and delete everything of it",
		Long: `End an organization: its keys stop working, its waiting reviews are canceled,
and then every review and rule of it is deleted, a little at a time. When it is
interrupted, run it again. There is no way back but a backup. What a configuration
file declares must be removed there first.`,
		Example: `  prwarden organizations remove acme --yes`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "It is meant.")

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.RemoveOrganization(ctx, st, c, args[0], yes)
	})
}
