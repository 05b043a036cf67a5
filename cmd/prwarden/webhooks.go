package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/config"
)

func newWebhooks(st cli.Streams) *cobra.Command {
	m := webhookCommands{st}
	return group(&cobra.Command{
		Use:   "webhooks",
		Short: "Have receivers told what happens to reviews",
		Long: `Manage the webhooks of an organization: receivers that are told by signed messages,
or in Slack, what happens to its reviews and connections. The API key needs the
scopes webhooks:read and webhooks:write, which "keys create" gives with --scopes
only.`,
	}, m.create(), m.list(), m.show(), m.update(), m.delete(), m.test(), m.rotate(), m.messages(), m.redeliver())
}

type webhookCommands struct{ st cli.Streams }

// does makes a command that has as many arguments as it says.
func (m webhookCommands) does(
	args int, cmd *cobra.Command, do func(context.Context, *cli.Webhooks, []string) error,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(args)
	return configured(config.Review, m.st, func(ctx context.Context, c config.Config, args []string) error {
		w, err := cli.WebhooksOverAPI(m.st, c.Client)
		if err != nil {
			return err
		}
		return do(ctx, w, args)
	}, cmd)
}

// named makes a command on the webhook that its argument names.
func (m webhookCommands) named(
	cmd *cobra.Command, do func(w *cli.Webhooks, ctx context.Context, name string) error,
) *cobra.Command {
	return m.does(1, cmd, func(ctx context.Context, w *cli.Webhooks, args []string) error { return do(w, ctx, args[0]) })
}

// addressFlags adds the flags of where messages are sent, and of which.
func addressFlags(flags *pflag.FlagSet, a *cli.WebhookAddress, events *[]string, none string) {
	flags.StringVar(&a.URL, "url", "", "`URL` that messages are posted to.")
	flags.StringVar(&a.File, "url-file", "", "`FILE` with the URL, for one that is secret; - for stdin.")
	flags.StringSliceVar(events, "events", nil, "`EVENTS` that are told, separated by commas. ("+none+")")
}

func (m webhookCommands) create() *cobra.Command {
	var n restclient.NewWebhook
	var a cli.WebhookAddress
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a webhook",
		Long: `Make a webhook and print its identifier, and the secret by which the receiver checks
signatures. Nothing is sent yet. The address of a Slack webhook is a secret, so
give it in a file, not on the command line, which other users can see.`,
		Example: `  prwarden webhooks create ci --url https://ci.example.com/hooks \
      --events review.completed,review.failed

  prwarden webhooks create team --format slack --url-file slack.txt`,
	}
	addressFlags(cmd.Flags(), &a, &n.Events, "default all")
	cmd.Flags().StringVar(&n.Format, "format", "standard", "How messages are written, `standard|slack`.")
	return m.named(cmd, func(w *cli.Webhooks, ctx context.Context, name string) error {
		n.Name = name
		return w.Create(ctx, n, a)
	})
}

func (m webhookCommands) list() *cobra.Command {
	return m.does(0, &cobra.Command{
		Use: "list", Short: "List the webhooks, the oldest first", Example: `  prwarden webhooks list`,
	}, func(ctx context.Context, w *cli.Webhooks, _ []string) error { return w.List(ctx) })
}

func (m webhookCommands) show() *cobra.Command {
	return m.named(&cobra.Command{
		Use: "show NAME", Short: "Show a webhook", Example: `  prwarden webhooks show ci`,
	}, (*cli.Webhooks).Show)
}

func (m webhookCommands) update() *cobra.Command {
	var name string
	var enabled bool
	var change restclient.WebhookChange
	var a cli.WebhookAddress
	cmd := &cobra.Command{
		Use:   "update NAME",
		Short: "Change a webhook, or switch it on or off",
		Example: `  # It was disabled, and works again
  prwarden webhooks update ci --enabled

  prwarden webhooks update ci --enabled=false`,
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "Its new `NAME`.")
	addressFlags(flags, &a, &change.Events, "default as they are")
	flags.BoolVar(&enabled, "enabled", false, "Whether messages are sent. (default as it is)")
	return m.named(cmd, func(w *cli.Webhooks, ctx context.Context, of string) error {
		if flags.Changed("name") {
			change.Name = &name
		}
		if flags.Changed("enabled") {
			change.Enabled = &enabled
		}
		return w.Update(ctx, of, change, a)
	})
}

func (m webhookCommands) delete() *cobra.Command {
	return m.named(&cobra.Command{
		Use: "delete NAME", Short: "Delete a webhook with its messages", Example: `  prwarden webhooks delete ci`,
	}, (*cli.Webhooks).Delete)
}

func (m webhookCommands) test() *cobra.Command {
	return m.named(&cobra.Command{
		Use:     "test NAME",
		Short:   "Send a test message and print its identifier",
		Example: `  prwarden webhooks test ci`,
	}, (*cli.Webhooks).Test)
}

func (m webhookCommands) rotate() *cobra.Command {
	return m.named(&cobra.Command{
		Use:   "rotate NAME",
		Short: "Make a new secret and print it",
		Long: `Make a new secret and print it. Messages are signed by the secret before, too, until
the next rotation.`,
		Example: `  prwarden webhooks rotate ci`,
	}, (*cli.Webhooks).Rotate)
}

func (m webhookCommands) messages() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "messages NAME",
		Short: "Show the newest 100 messages and what became of them",
		Example: `  prwarden webhooks messages ci

  # With each attempt and what the receiver answered
  prwarden webhooks messages ci -o json`,
	}
	cmd.Flags().StringVarP(&output, "output", "o", cli.OutputTable,
		"How to show them, `table|json`; json has one a line.")
	return m.named(cmd, func(w *cli.Webhooks, ctx context.Context, name string) error {
		return w.Messages(ctx, name, output)
	})
}

func (m webhookCommands) redeliver() *cobra.Command {
	return m.does(2, &cobra.Command{
		Use:     "redeliver NAME MESSAGE",
		Short:   "Send a message once more",
		Example: `  prwarden webhooks redeliver ci msg_01k9w3t5zq8h4m2x`,
	}, func(ctx context.Context, w *cli.Webhooks, args []string) error {
		return w.Redeliver(ctx, args[0], args[1])
	})
}
