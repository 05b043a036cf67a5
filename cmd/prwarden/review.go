package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

func newReview(st cli.Streams) *cobra.Command {
	var in cli.ReviewInput
	cmd := &cobra.Command{
		Use:   "review OWNER/REPO NUMBER",
		Short: "Have a server scan a pull request",
		Long: `Ask a server to scan a pull request. The review's identifier is printed as soon
as the review is queued; with --wait its progress goes to stderr, and then the
findings to stdout. A server that can't be reached, or that answers 429, 502, 503
or 504, is tried again for up to 2 minutes; the review is started once, and goes
on when nobody waits for it.

The API key comes from PRWARDEN_API_KEY or from --key-file. It is no flag, so
that neither the list of processes nor the shell's history shows it.

Exit status: 0 when the review is queued (with --wait: complete), 2 when the
command line, the configuration or the request is wrong, 3 when the service or
the review failed.`,
		Example: `  # Scan a pull request and show the findings
  PRWARDEN_API_KEY=prw_... prwarden review acme/web 17 --wait

  # Only the default rules, the answer as JSON, from another server
  prwarden review acme/web 17 --wait --ruleset default --json \
      --server https://prwarden.example.com --key-file ~/.prwarden-key`,
		Args: args(cobra.ExactArgs(2)),
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.Wait, "wait", false, "Wait for the review to end and show its findings.")
	flags.StringVar(&in.Ruleset, "ruleset", "", "Rules to apply: default, custom, or OWNER/REPO (as without).")
	flags.BoolVar(&in.JSON, "json", false, "Print the server's answer as JSON.")
	return configured(cmd, st, config.Review, interruptible(func(ctx context.Context, c config.Config, args []string) error {
		in.Repo, in.Number = args[0], args[1]
		return cli.Review(ctx, st, c.Client, in)
	}))
}
