package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
)

// manage runs do with connections: over the API, or with an organization on the
// database of a server.
type manage func(
	ctx context.Context, st cli.Streams, c config.Config, org string, do func(context.Context, cli.Connections) error,
) error

func newConnections(st cli.Streams, onDatabase manage, more ...*cobra.Command) *cobra.Command {
	m := connectionCommands{st: st, onDatabase: onDatabase}
	return group(&cobra.Command{
		Use:   "connections",
		Short: "Make, test and change connections to code hosts",
		Long: `Manage how an organization reaches its code hosts: with an API key that has the
scopes hosts:read and hosts:write over the API, or with --org on the database of a
server, where addresses may be private.`,
	}, append([]*cobra.Command{
		m.create(), m.list(), m.show(), m.update(), m.test(), m.delete(), m.rotate(), m.repositories(),
	}, more...)...)
}

type connectionCommands struct {
	st         cli.Streams
	onDatabase manage // nil where there are no servers
}

// named makes a command on the connection that its argument names.
func (m connectionCommands) named(
	cmd *cobra.Command, do func(ctx context.Context, c cli.Connections, name string) error,
) *cobra.Command {
	org := m.orgFlag(cmd)
	return oneArg(config.Connections, m.st,
		func(ctx context.Context, st cli.Streams, c config.Config, name string) error {
			return m.run(ctx, c, *org, func(ctx context.Context, c cli.Connections) error { return do(ctx, c, name) })
		}, cmd)
}

func (m connectionCommands) orgFlag(cmd *cobra.Command) *string {
	org := new(string)
	if m.onDatabase != nil {
		cmd.Flags().StringVar(org, "org", "", "`ORG` on the server's database, without an API key.")
	}
	return org
}

func (m connectionCommands) run(
	ctx context.Context, c config.Config, org string, do func(context.Context, cli.Connections) error,
) error {
	if org != "" {
		return m.onDatabase(ctx, m.st, c, org, do)
	}
	over, err := cli.ConnectionsOverAPI(m.st, c.Client)
	if err != nil {
		return err
	}
	return do(ctx, over)
}

// secretFlags adds the flags of files with secrets.
func secretFlags(flags *pflag.FlagSet, f *cli.SecretFiles) {
	flags.StringVar(&f.Token, "token-file", "", "`FILE` with the token; - for stdin.")
	flags.StringVar(&f.GitToken, "git-token-file", "", "`FILE` with the token of scanners. (default the token)")
	flags.StringVar(&f.PrivateKey, "private-key-file", "", "`FILE` with the key of a GitHub App, in PEM.")
	flags.StringVar(&f.Webhook, "webhook-secret-file", "", "`FILE` with the secret of webhooks.")
}

func (m connectionCommands) create() *cobra.Command {
	var c connection.Connection
	var files cli.SecretFiles
	var newApp, personal bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a connection",
		Long: `Make a connection and print what to enter at the host: the address for webhooks,
and their secret unless it was given. Secrets are read from files, never from the
command line, which other users can see. With --new-app, GitHub makes the App of the
connection: the command prints an address that works once, for 10 minutes, and whose
page leads through that.`,
		Example: `  prwarden connections create github --new-app --account acme --repositories 'acme/*'

  prwarden connections create gitea --kind gitea --url https://git.example.com \
      --repositories 'acme/*' --token-file token.txt

  # On the server, at a private address
  prwarden connections create gitea --org acme --kind gitea \
      --url http://10.0.0.7:3000 --repositories 'acme/*' --token-file token.txt`,
	}
	flags := cmd.Flags()
	flags.StringVar((*string)(&c.Kind), "kind", "", "`KIND` of the host, such as github, gitlab or gitea.")
	flags.StringVar(&c.URL, "url", "", "`URL` of the host. (default https://github.com for github)")
	flags.StringVar(&c.APIURL, "api-url", "", "`URL` of its API. (default the usual one)")
	flags.StringVar(&c.GitURL, "git-url", "",
		"`URL` that a repository is cloned from, with {repo}. (default the usual one)")
	flags.StringSliceVar(&c.Repositories, "repositories", nil, "`GLOBS` of OWNER/NAME, separated by commas.")
	flags.StringVar(&c.Account, "account", "", "`ACCOUNT` that installed the GitHub App.")
	flags.Int64Var(&c.AppID, "app-id", 0, "`NUMBER` of a GitHub App.")
	flags.Int64Var(&c.Installation, "installation-id", 0, "`NUMBER` of its installation. (default that of the account)")
	flags.BoolVar(&newApp, "new-app", false, "Have GitHub make the App, by a page in a browser.")
	flags.BoolVar(&personal, "personal", false, "With --new-app: the account is a person's, not an organization's.")
	secretFlags(flags, &files)
	return m.named(cmd, func(ctx context.Context, over cli.Connections, name string) error {
		c.Name = name
		if newApp {
			return cli.SetUpApp(ctx, m.st, over, c, files, personal)
		}
		return cli.CreateConnection(ctx, m.st, over, c, files)
	})
}

func (m connectionCommands) list() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the connections, the oldest first", Example: `  prwarden connections list`,
	}
	org := m.orgFlag(cmd)
	return noArgs(config.Connections, m.st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return m.run(ctx, c, *org, func(ctx context.Context, c cli.Connections) error {
			return cli.ListConnections(ctx, st, c)
		})
	}, cmd)
}

func (m connectionCommands) show() *cobra.Command {
	return m.named(&cobra.Command{
		Use: "show NAME", Short: "Show a connection", Example: `  prwarden connections show gitea`,
	}, func(ctx context.Context, c cli.Connections, name string) error {
		return cli.ShowConnection(ctx, m.st, c, name)
	})
}

func (m connectionCommands) update() *cobra.Command {
	var name, account string
	var installation int64
	var change connection.Change
	cmd := &cobra.Command{
		Use:     "update NAME",
		Short:   "Change the name, repositories or account of a connection",
		Example: `  prwarden connections update gitea --repositories 'acme/**'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "Its new `NAME`.")
	flags.StringSliceVar(&change.Repositories, "repositories", nil, "`GLOBS` of OWNER/NAME, all of them.")
	flags.StringVar(&account, "account", "", "`ACCOUNT` that installed the GitHub App.")
	flags.Int64Var(&installation, "installation-id", 0, "`NUMBER` of its installation; 0 for that of the account.")
	return m.named(cmd, func(ctx context.Context, c cli.Connections, of string) error {
		if flags.Changed("name") {
			change.Name = &name
		}
		if flags.Changed("account") {
			change.Account = &account
		}
		if flags.Changed("installation-id") {
			change.Installation = &installation
		}
		return cli.UpdateConnection(ctx, m.st, c, of, change)
	})
}

func (m connectionCommands) test() *cobra.Command {
	return m.named(&cobra.Command{
		Use:   "test NAME",
		Short: "Ask the host what the credentials may do",
		Long: `Ask the host what the credentials may do, and show the connection as it is then.
Exit status: 1 when it is broken or lacks a permission.`,
		Example: `  prwarden connections test gitea`,
	}, func(ctx context.Context, c cli.Connections, name string) error {
		return cli.TestConnection(ctx, m.st, c, name)
	})
}

func (m connectionCommands) delete() *cobra.Command {
	return m.named(&cobra.Command{
		Use: "delete NAME", Short: "Delete a connection with its secrets", Example: `  prwarden connections delete gitea`,
	}, func(ctx context.Context, c cli.Connections, name string) error {
		return cli.DeleteConnection(ctx, m.st, c, name)
	})
}

func (m connectionCommands) rotate() *cobra.Command {
	var files cli.SecretFiles
	made := false
	cmd := &cobra.Command{
		Use:   "rotate-secret NAME",
		Short: "Give a connection new secrets",
		Long: `Give a connection new secrets, which makes it active again. The secret of webhooks
before is still taken until the next rotation.`,
		Example: `  prwarden connections rotate-secret gitea --token-file token.txt

  # A new secret of webhooks, that the server makes
  prwarden connections rotate-secret gitea --webhook`,
	}
	secretFlags(cmd.Flags(), &files)
	cmd.Flags().BoolVar(&made, "webhook", false, "Have the server make a new secret of webhooks.")
	return m.named(cmd, func(ctx context.Context, c cli.Connections, name string) error {
		return cli.RotateConnection(ctx, m.st, c, name, files, made)
	})
}

func (m connectionCommands) repositories() *cobra.Command {
	return m.named(&cobra.Command{
		Use:     "repositories NAME",
		Short:   "List the repositories that a connection reaches and is for",
		Example: `  prwarden connections repositories gitea`,
	}, func(ctx context.Context, c cli.Connections, name string) error {
		return cli.ListConnectionRepositories(ctx, m.st, c, name)
	})
}
