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

func newOrganizations(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "organizations",
		Short: "Create, list, update and remove organizations",
		Long: `Manage the organizations in a server's database: which repositories the keys of
each may scan, and the code host that they are on. What a configuration file
declares can be changed in that file only. These commands open the database
themselves and work while servers run.`,
		Args: knownCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newOrganizationsCreate(st), newOrganizationsList(st), newOrganizationsUpdate(st),
		newOrganizationsRemove(st))

	return cmd
}

// organizationFlags adds the flags of an organization's settings. What it
// returns says which of them were given.
func organizationFlags(flags *pflag.FlagSet) func() admin.OrganizationInput {
	repositories := flags.StringSlice("repositories", []string{"*/*"},
		"Globs of OWNER/NAME that may be scanned, separated by commas.")
	url := flags.String("host-url", organization.DefaultURL,
		"Where a repository is cloned from, with {repo} in its path.")
	tokenEnv := flags.String("host-token-env", "", "Environment variable with the token for private repositories.")
	username := flags.String("host-username", "", "Goes with the token. (default "+organization.DefaultUsername+")")
	headRef := flags.String("host-head-ref", organization.DefaultHeadRef, "Reference of a pull request's head.")
	mergeRef := flags.String("host-merge-ref", organization.DefaultMergeRef, "Reference of its trial merge.")
	maxScans := flags.Int("max-scans", 0, "Most of its reviews scanned at once. (default no limit)")
	maxQueued := flags.Int("max-queued", 0, "Most of its reviews that wait. (default 10000)")
	reason := flags.Bool("require-suppression-reason", false,
		"Let comments that suppress findings count only with a reason.")

	return func() admin.OrganizationInput {
		return admin.OrganizationInput{
			Repositories: given(flags, "repositories", repositories), URL: given(flags, "host-url", url),
			TokenEnv: given(flags, "host-token-env", tokenEnv), Username: given(flags, "host-username", username),
			HeadRef: given(flags, "host-head-ref", headRef), MergeRef: given(flags, "host-merge-ref", mergeRef),
			MaxScans: given(flags, "max-scans", maxScans), MaxQueued: given(flags, "max-queued", maxQueued),
			RequireSuppressionReason: given(flags, "require-suppression-reason", reason),
		}
	}
}

// given is the value of a flag, nil when the flag is not on the command line.
func given[T any](flags *pflag.FlagSet, name string, value *T) *T {
	if !flags.Changed(name) {
		return nil
	}

	return value
}

func newOrganizationsCreate(st cli.Streams) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "create ORG",
		Short: "Create an organization",
		Long: `Create an organization. Without flags its keys may scan every public repository
of github.com.`,
		Example: `  prwarden organizations create acme --repositories 'acme/*' \
      --host-url 'https://git.example.com/{repo}.git' \
      --host-token-env PRWARDEN_ACME_TOKEN`,
		Args: cobra.ExactArgs(1),
	}
	input := organizationFlags(cmd.Flags())
	cmd.Flags().BoolVar(&create, "create", false, "Make the SQLite database when it is not there.")

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.CreateOrganization(ctx, st, c, args[0], input(), create)
	})
}

func newOrganizationsList(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the organizations",
		Long: `List the organizations with what each has, and whether a configuration file
declares it.`,
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
		Short:   "Change an organization",
		Long:    `Change an organization that no configuration file declares. What no flag names stays as it is.`,
		Example: `  prwarden organizations update acme --repositories 'acme/*,shared/tools'`,
		Args:    cobra.ExactArgs(1),
	}
	input := organizationFlags(cmd.Flags())

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.UpdateOrganization(ctx, st, c, args[0], input())
	})
}

func newOrganizationsRemove(st cli.Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove ORG --yes",
		Short: "End an organization and delete everything of it",
		Long: `End an organization: its keys stop working, its waiting reviews are canceled,
and then every review and rule of it is deleted, a little at a time, so that
running servers hardly notice. When it is interrupted, run it again. There is no
way back but a backup. What a configuration file declares must be removed there
first.`,
		Example: `  prwarden organizations remove acme --yes`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "It is meant.")

	return configured(cmd, st, config.Organizations, func(ctx context.Context, c config.Config, args []string) error {
		return admin.RemoveOrganization(ctx, st, c, args[0], yes)
	})
}
