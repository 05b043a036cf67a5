package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/config"
)

func newFindings(st cli.Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:   "findings",
		Short: "Decide about findings, so that verdicts don't count them",
		Long: `Decide about findings on a server. A finding about which something is decided
does not count for verdicts, at once and in later scans, until the decision ends.
The policy of your organization says which findings one person may set aside.`,
	}, newFindingsTriage(st), newFindingsUndo(st), newFindingsList(st))
}

func newFindingsTriage(st cli.Streams) *cobra.Command {
	var in restclient.NewDecision
	cmd := &cobra.Command{
		Use:   "triage REPOSITORY FINGERPRINT...",
		Short: "Decide about findings",
		Long: `Decide about the findings of REPOSITORY with these fingerprints, which the JSON of
"review show" has. Standard output is the identifier of the change.

The API key needs the scope findings:triage, which "keys create" gives with
--scopes only.`,
		Example: `  # Accept a finding of a pull request until a day
  prwarden findings triage acme/shop 5f2b8c0e9d714a63b1f0c2d3e4a59687 --pr 42 \
      --decision accepted --reason 'our own build' --until 2027-03-31

  # It counts again
  prwarden findings triage acme/shop 5f2b8c0e9d714a63b1f0c2d3e4a59687 --pr 42 \
      --decision open`,
		Args: cobra.MinimumNArgs(2),
	}
	flags := cmd.Flags()
	flags.Int32Var(&in.PRNumber, "pr", 0, "Decide for the pull request `NUMBER` only. (default all of the repository)")
	flags.StringVar(&in.Decision, "decision", "accepted", "`open|accepted|false_positive|wont_fix`")
	flags.StringVar(&in.Reason, "reason", "", "Why.")
	flags.StringVar(&in.Until, "until", "", "Last `DAY`, YYYY-MM-DD in UTC, on which it holds.")

	return configured(config.Review, st, func(ctx context.Context, c config.Config, args []string) error {
		in.Repo, in.Fingerprints = args[0], args[1:]
		return cli.SetTriage(ctx, st, c.Client, in)
	}, cmd)
}

func newFindingsUndo(st cli.Streams) *cobra.Command {
	return oneArg(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config, id string) error {
		return cli.UndoTriage(ctx, st, c.Client, id)
	}, &cobra.Command{
		Use:   "undo CHANGE",
		Short: "Put back what a change replaced, within an hour",
		Long: `Put back what the change with this identifier replaced. That is possible within
an hour, and as long as nobody decided anew.

The API key needs the scope findings:triage.`,
		Example: `  prwarden findings undo trg_01k9w3t5zq8h4m2x`,
	})
}

func newFindingsList(st cli.Streams) *cobra.Command {
	var in cli.ListTriageInput
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show what is decided",
		Long: `Show what is decided about findings, newest first; for 90 days also what has
ended. The API key needs the scope reviews:read.`,
		Example: `  # What ends before March?
  prwarden findings list --expiring-before 2027-03-01`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Repo, "repo", "", "Only findings in this repository, `OWNER/REPO`.")
	flags.StringVar(&in.Decision, "decision", "", "Only `accepted|false_positive|wont_fix`.")
	flags.StringVar(&in.RuleID, "rule", "", "Only findings of the rule with this `ID`.")
	flags.StringVar(&in.ExpiringBefore, "expiring-before", "", "Only what ends before this `DAY`, YYYY-MM-DD.")
	flags.IntVar(&in.Limit, "limit", 50, "Show at most `N`.")
	flags.StringVarP(&in.Output, "output", "o", cli.OutputTable, "How to show it, `table|json`; json has one a line.")
	return noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return cli.ListTriage(ctx, st, c.Client, in)
	}, cmd)
}
