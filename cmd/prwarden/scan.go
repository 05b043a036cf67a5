package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

func newScan(st cli.Streams) *cobra.Command {
	var in cli.ScanInput
	cmd := &cobra.Command{
		Use:   "scan [PATH]",
		Short: "Scan changes or files on this machine, without a server",
		Long: `Scan what is changed in a git repository, as a review scans what a pull request
changes: by default the files of the work tree against the last commit, new ones
that are not ignored included. --staged is for what is going to be committed,
--base for what a branch changes, and --all for every file of a folder, which
needs no git. The repository is only read.

Beside the default ruleset the repository's .prwarden/rules.yml applies; with
--all the one in PATH, and no other.

Exit status: 0 when no finding reaches --fail-on, 1 when one does or something that
counts was not looked at, 2 when the command line or a rules file is wrong, 3 when
something could not be read or the scan did not go through.`,
		Example: `  # What would a review say of my changes so far, and of what I am committing?
  prwarden scan
  prwarden scan --staged

  # The whole branch, as a pull request to main, for GitHub code scanning
  prwarden scan --base origin/main --output table --output sarif=prwarden.sarif

  # Every file of a folder, with your own rules only, an object of JSON a line
  prwarden scan --all src --no-default-rules --rules rules.yml --output jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				in.Path = args[0]
			}
			return cli.Scan(cmd.Context(), st, in)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.Staged, "staged", false, "Scan what is going to be committed: the index, as it is.")
	flags.StringVar(&in.Base, "base", "", "Scan what --head changes since it left this `REF`.")
	flags.StringVar(&in.Head, "head", cli.HeadDefault, "The `REF` to scan with --base.")
	flags.BoolVar(&in.All, "all", false, "Scan every file, whether it was changed or not, without git.")
	flags.StringVar(&in.RulesFile, "rules", "", "A rules `FILE` to apply instead of the repository's own.")
	flags.BoolVar(&in.NoDefaults, "no-default-rules", false, "Leave out the default ruleset.")
	flags.StringVar(&in.Ruleset, "ruleset", cli.RulesetRepository,
		"Rules to apply: `repository|default`; default leaves out those of the rules file.")
	bindOutput(cmd, &in.Output,
		" With --all also "+cli.FormatLines+", alone: an object of JSON for each finding, as they are found.")
	flags.IntVar(&in.Jobs, "jobs", 0, "Match `N` files at the same time; 0 is for the number of processors.")
	return cmd
}
