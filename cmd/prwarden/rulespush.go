package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

func newRulesPush(st cli.Streams) *cobra.Command {
	var in cli.RulesPushInput
	cmd := &cobra.Command{
		Use:   "push FILE",
		Short: "Make the organization's rules on a server those of a file",
		Long: `Show what a file changes in the rules of the organization on a server, and change
that, all of it or nothing. FILE is - for stdin. It is a rules file of at most
5,000 rules and 16 MiB with ` + "`version` and `rules`" + `; a rule of one repository has
` + "`scope: repo` and `repo: OWNER/NAME`" + `.

Rules that are on the server and not in the file stay, unless there is --prune. A
second push of the same file changes nothing. When somebody else changes rules
after the plan was made, nothing is done.

The API key needs the scope rules:write, and rules:read to show what values
change. It comes from PRWARDEN_API_KEY or from
--key-file.

Exit status: 0, 1 when FILE has mistakes, 2 when the command line, the
configuration or the request is wrong, 3 when the service failed.`,
		Example: `  # What would change?
  prwarden rules push rules.yml --dry-run

  # In CI, for a repository that has all rules
  prwarden rules push rules.yml --prune`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.Prune, "prune", false, "Delete rules that are not in FILE.")
	flags.BoolVar(&in.DryRun, "dry-run", false, "Only show what would change.")
	return oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, file string) error {
		in.File = file
		return cli.PushRules(ctx, st, c.Client, in)
	}, cmd)
}

func newRulesPull(st cli.Streams) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "pull",
		Short: "Write the organization's rules on a server as a file",
		Long: `Write all rules that the organization and its repositories have on a server, by id,
as a file that push takes.

The API key needs the scope rules:read. It comes from PRWARDEN_API_KEY or from
--key-file.

Exit status: 0, 2 when the command line, the configuration or the request is
wrong, 3 when the service failed.`,
		Example: `  prwarden rules pull --file rules.yml`,
	}
	cmd.Flags().StringVar(&file, "file", "", "`FILE` to write; stdout without it.")
	return noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return cli.PullRules(ctx, st, c.Client, file)
	}, cmd)
}

func newRulesHistory(st cli.Streams) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "history ID",
		Short: "Show who changed a rule on a server, and when",
		Long: `Show the last 100 changes of a rule of the organization, newest first: when, what,
who, and which fields. A rule that was deleted has its history, too.

The API key needs the scope rules:read. It comes from PRWARDEN_API_KEY or from
--key-file.

Exit status: 0, 2 when the command line, the configuration or the request is
wrong, 3 when the service failed.`,
		Example: `  prwarden rules history custom/no-print`,
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "How to print: `text|json`.")
	return oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, id string) error {
		return cli.RuleHistory(ctx, st, c.Client, id, output)
	}, cmd)
}
