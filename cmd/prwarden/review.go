package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

func newReview(st cli.Streams) *cobra.Command {
	var in cli.ReviewInput
	cmd := &cobra.Command{
		Use:   "review [OWNER/REPO NUMBER]",
		Short: "Have a server scan a pull request",
		Long: `Ask a server to scan a pull request, wait, and show what it finds. Progress goes
to stderr, findings to stdout or to files.

In a CI job that runs for a pull request, the repository, the number and the
commits come from the service's variables. A job that is tried again gets the scan
that it has started before; another --idempotency-key has it scanned anew.

The API key comes from PRWARDEN_API_KEY or from --key-file.

Exit status: 0 when the pull request passes (with --no-wait: when the review is
queued), 1 when a finding reaches --fail-on, 2 when the command line, the
configuration or the request is wrong, 3 when the service or the review failed.`,
		Example: `  # In CI: fail for what is high or worse; show it in the diff and in a file
  prwarden review -o table -o github -o sarif=prwarden.sarif

  # Anywhere: scan a pull request and show the findings
  PRWARDEN_API_KEY=prw_... prwarden review acme/web 17

  # Only the default rules, the answer as JSON, from another server
  prwarden review acme/web 17 --ruleset default --output json --fail-on none \
      --server https://prwarden.example.com --key-file ~/.prwarden-key`,
		Args: cobra.MaximumNArgs(2),
	}
	flags := cmd.Flags()
	bindOutput(cmd, &in.Output, "")
	flags.BoolVar(&in.Output.NewOnly, "new-only", false,
		"Let only findings fail that the review before did not have. The next review lets them pass.")
	flags.StringVar(&in.Ruleset, "ruleset", "", "`RULESET` to apply: default, or custom "+
		"for the organization's own rules; without it all that the repository has.")
	flags.StringVar(&in.HeadSHA, "head-sha", "",
		"`COMMIT` to scan in place of the pull request's head; with --base-sha or --base-ref.")
	flags.StringVar(&in.BaseSHA, "base-sha", "", "`COMMIT` that --head-sha is to be merged into.")
	flags.StringVar(&in.BaseRef, "base-ref", "", "`BRANCH` that --head-sha is to be merged into.")
	flags.DurationVar(&in.Timeout, "timeout", 30*time.Minute,
		"For how long to wait, for everything together: a `TIME` such as 90s or 1h.")
	flags.BoolVar(&in.NoWait, "no-wait", false, "Print the review's identifier as soon as it is queued.")
	flags.StringVar(&in.IdempotencyKey, "idempotency-key", "",
		"Requests with the same `KEY` start one scan. (default made of the CI job, else at random)")
	return configured(config.Review, st, func(ctx context.Context, c config.Config, args []string) error {
		if len(args) > 0 {
			in.Repo, in.Number = args[0], strings.Join(args[1:], "")
		}
		return cli.Review(ctx, st, c.Client, in)
	}, cmd)
}
