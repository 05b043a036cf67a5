package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
)

func newReview(st cli.Streams) *cobra.Command {
	var in cli.ReviewInput
	cmd := &cobra.Command{
		Use:   "review [OWNER/REPO NUMBER | URL]",
		Short: "Have a server scan a pull request",
		Long: `Ask a server to scan a pull request, wait, and show what it finds. Progress goes
to stderr, findings to stdout or to files.

In a CI job that runs for a pull request, the repository, the number and the
commits come from the service's variables. A job that is tried again gets the scan
that it has started before; another --idempotency-key has it scanned anew.

The API key comes from PRWARDEN_API_KEY or from --key-file.

Exit status: 0 when the pull request passes (with --no-wait: when the review is
queued), 1 when a finding reaches --fail-on or something that counts was not looked
at, 2 when the command line, the configuration or the request is wrong, as when
there is no such pull request or no access to it, 3 when the service or the review
failed.`,
		Example: `  # In CI: fail for what is high or worse; show it in the diff and in a file
  prwarden review -o table -o github -o sarif=prwarden.sarif

  # Anywhere: scan a pull request and show the findings
  PRWARDEN_API_KEY=prw_... prwarden review acme/web 17

  # The same, by the address of its page
  prwarden review https://github.com/acme/web/pull/17

  # Only the default rules, the answer as JSON, from another server
  prwarden review acme/web 17 --ruleset default --output json --fail-on none \
      --server https://prwarden.example.com --key-file ~/.prwarden-key`,
		Args: cobra.MaximumNArgs(2),
	}
	flags := cmd.Flags()
	bindOutput(cmd, &in.Output, "")
	bindAnnotations(cmd, &in.Output)
	flags.BoolVar(&in.Output.NewOnly, "new-only", false,
		"Let only findings fail that the review before did not have. The next review lets them pass.")
	flags.StringVar(&in.Ruleset, "ruleset", "", "`RULESET` to apply: default, or custom "+
		"for the organization's own rules; without it all that the repository has.")
	flags.StringVar(&in.Priority, "priority", string(review.Normal),
		"`normal|low`: a low one waits until no normal review of the organization does, for many at once.")
	flags.StringVar(&in.HeadSHA, "head-sha", "",
		"`COMMIT` to scan in place of the pull request's head; with --base-sha or --base-ref.")
	flags.StringVar(&in.BaseSHA, "base-sha", "", "`COMMIT` that --head-sha is to be merged into.")
	flags.StringVar(&in.BaseRef, "base-ref", "", "`BRANCH` that --head-sha is to be merged into.")
	flags.BoolVar(&in.RequireBase, "require-base", false,
		"Fail when what the pull request is to be merged into would have to be guessed.")
	flags.DurationVar(&in.Timeout, "timeout", 30*time.Minute,
		"For how long to wait, for everything together: a `TIME` such as 90s or 1h.")
	flags.BoolVar(&in.NoWait, "no-wait", false, "Print the review's identifier as soon as it is queued.")
	flags.StringVar(&in.IdempotencyKey, "idempotency-key", "",
		"Requests with the same `KEY` start one scan. (default made of the CI job, else at random)")
	cmd.AddCommand(newReviewShow(st), newReviewList(st), newReviewCancel(st))
	return configured(config.Review, st, func(ctx context.Context, c config.Config, args []string) error {
		if len(args) > 0 {
			in.Repo, in.Number = args[0], strings.Join(args[1:], "")
		}
		return cli.Review(ctx, st, c.Client, in)
	}, cmd)
}

// bindAnnotations gives a command the flag of what is annotated twice.
func bindAnnotations(cmd *cobra.Command, out *cli.Output) {
	cmd.Flags().StringVar(&out.Annotations, "annotations", cli.AnnotationsAuto, "What the format github does where a "+
		"check of a connection shows the findings already: `auto|always`; auto has the verdict only, and where they are.")
}

func newReviewShow(st cli.Streams) *cobra.Command {
	var out cli.Output
	cmd := &cobra.Command{
		Use:   "show REVIEW",
		Short: "Show a review that was begun before",
		Long: `Show the review with the identifier REVIEW, as --no-wait printed it. While it goes
on, only its state is shown, and the exit status is 0.

Exit status, when it has ended: that of prwarden review.`,
		Example: `  prwarden review show rev_01k9w3t5zq8h4m2x7d6c0b1a -o sarif=prwarden.sarif`,
	}
	bindOutput(cmd, &out, "")
	bindAnnotations(cmd, &out)
	return oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, id string) error {
		return cli.ShowReview(ctx, st, c.Client, out, id)
	}, cmd)
}

func newReviewList(st cli.Streams) *cobra.Command {
	var in cli.ListInput
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List reviews, newest first",
		Example: `  prwarden review list --repo acme/web --status failed`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Repo, "repo", "", "Only reviews of this repository, `OWNER/REPO`.")
	flags.Int32Var(&in.Number, "number", 0, "Only reviews of the pull request with this `NUMBER`.")
	flags.StringVar(&in.Status, "status", "",
		"Only reviews in this `STATE`: queued, in_progress, complete, failed or canceled.")
	flags.IntVar(&in.Limit, "limit", 20, "List at most `N`.")
	flags.StringVarP(&in.Output, "output", "o", cli.OutputTable, "How to show them, `table|json`; json has one a line.")
	return noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return cli.ListReviews(ctx, st, c.Client, in)
	}, cmd)
}

func newReviewCancel(st cli.Streams) *cobra.Command {
	return oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, id string) error {
		return cli.CancelReview(ctx, st, c.Client, id)
	}, &cobra.Command{
		Use:     "cancel REVIEW",
		Short:   "Cancel a review that has not ended",
		Example: `  prwarden review cancel rev_01k9w3t5zq8h4m2x7d6c0b1a`,
	})
}
