package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
)

func newUsers(st cli.Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:   "users",
		Short: "Create, list, disable and remove people",
		Long: `Manage the people in a server's database, who sign in to the dashboard. These
commands open the database themselves, while the server runs or before. A person
is a member of one or more organizations, and has in each a role:

    viewer  reads reviews, rules and the policy
    member  also starts reviews, decides about findings, and sees source code
    admin   also manages rules, the policy, keys, members, connections, webhooks
    owner   also manages the organization itself`,
	},
		newUsersCreate(st), newUsersList(st),
		oneArg(config.Users, st, admin.ResetUser, &cobra.Command{
			Use:   "reset EMAIL",
			Short: "Print a link with which a user sets a new password",
			Long: `Print a link with which a user sets a new password. It works once, for an hour.
The old password works until the link was used.`,
			Example: `  prwarden users reset ada@example.com --public-url https://prwarden.example.com`,
		}),
		oneArg(config.Users, st, admin.DisableUser, &cobra.Command{
			Use:     "disable EMAIL",
			Short:   "Keep a user from signing in, and end the sessions",
			Example: `  prwarden users disable ada@example.com`,
		}),
		oneArg(config.Users, st, admin.EnableUser, &cobra.Command{
			Use:     "enable EMAIL",
			Short:   "Let a user who was disabled sign in again",
			Example: `  prwarden users enable ada@example.com`,
		}),
		oneArg(config.Users, st, admin.RemoveUser, &cobra.Command{
			Use:   "remove EMAIL",
			Short: "Delete a user",
			Long: `Delete a user with all memberships and sessions. What he did stays in the audit
log. The last owner of an organization can't be removed.`,
			Example: `  prwarden users remove ada@example.com`,
		}),
	)
}

func newUsersCreate(st cli.Streams) *cobra.Command {
	var in admin.UserInput
	var password bool
	cmd := &cobra.Command{
		Use:   "create --organization ORG --role ROLE --email EMAIL",
		Short: "Make a person a member of an organization",
		Long: `Make a person a member of an organization, and a user unless there is one with
the email. Without --password, standard output is a link with which the person
sets a password, once within an hour.`,
		Example: `  # The first owner; the command asks for the password
  prwarden users create --organization acme --role owner \
      --email ada@example.com --name Ada --password

  # Somebody who sets the password with a link
  prwarden users create --organization acme --role member \
      --email bob@example.com --name Bob \
      --public-url https://prwarden.example.com`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Organization, "organization", "", "`ORG` that the person becomes a member of.")
	flags.StringVar(&in.Role, "role", "", "`ROLE` there: viewer, member, admin or owner.")
	flags.StringVar(&in.Email, "email", "", "`EMAIL` of the person.")
	flags.StringVar(&in.Name, "name", "", "`NAME` of the person. (default what is before the @)")
	flags.BoolVar(&password, "password", false,
		"Ask for the password, or read it from the first line of standard input.")
	flags.BoolVar(&in.Create, "create", false, "Make the SQLite database when it is not there.")
	return noArgs(config.Users, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		if password {
			in.Password = func() (string, error) { return terminal.ReadPassword(ctx, os.Stdin, st.Err) }
		}
		return admin.CreateUser(ctx, st, c, in)
	}, cmd)
}

func newUsersList(st cli.Streams) *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the users with their roles",
		Example: `  prwarden users list --organization acme`,
	}
	cmd.Flags().StringVar(&org, "organization", "", "Only members of this `ORG`.")
	return noArgs(config.Users, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return admin.ListUsers(ctx, st, c, org)
	}, cmd)
}
