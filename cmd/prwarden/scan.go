package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

func newScan(st cli.Streams) *cobra.Command {
	var in cli.ScanInput
	cmd := &cobra.Command{
		Use:   "scan [PATH]",
		Short: "Scan changes or files on this machine",
		Long: `Scan what is changed in a git repository, as a review scans what a pull request
changes: by default the files of the work tree against the last commit, new ones
that are not ignored included. --staged is for what is going to be committed,
--base for what a branch changes, and --all for every file of a folder, which
needs no git. The repository is only read, but for --fix.

Beside the default ruleset the repository's .prwarden/rules.yml applies; with
--all the one in PATH, and no other. No server is needed. Where one is named
(PRWARDEN_SERVER or --server) and there is an API key with the scopes rules:read
and policy:read (PRWARDEN_API_KEY or --key-file), the rules and the policy of your
organization apply too. They are kept for when the server can't be reached; a note
then says how old they are.

Exit status: 0 when no finding reaches --fail-on, 1 when one does or something that
counts was not looked at, 2 when the command line or a rules file is wrong, 3 when
something could not be read or the scan did not go through.`,
		Example: `  # What would a review say of my changes so far, and of what I am committing?
  prwarden scan
  prwarden scan --staged

  # Mend what rules know how to mend, and show what is left
  prwarden scan --fix

  # The whole branch, as a pull request to main, for GitHub code scanning
  prwarden scan --base origin/main --output table --output sarif=prwarden.sarif

  # Every file of a folder, with your own rules only, an object of JSON a line
  prwarden scan --all src --no-default-rules --rules rules.yml --output jsonl`,
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.Staged, "staged", false, "Scan what is going to be committed: the index, as it is.")
	flags.StringVar(&in.Base, "base", "", "Scan what --head changes since it left this `REF`.")
	flags.StringVar(&in.Head, "head", cli.HeadDefault, "The `REF` to scan with --base.")
	flags.BoolVar(&in.All, "all", false, "Scan every file, whether it was changed or not, without git.")
	flags.BoolVar(&in.Fix, "fix", false,
		"Make the fixes that rules have, in the files, and scan again; not with --staged and --base.")
	flags.StringVar(&in.RulesFile, "rules", "", "A rules `FILE` to apply instead of the repository's own.")
	flags.StringVar(&in.PolicyFile, "policy", "", "The policy `FILE` to scan by, instead of the organization's.")
	flags.StringVar(&in.LowConfidence, "low-confidence", "",
		"What becomes of findings of low confidence: `hide|count`; what the policy says when not given.")
	flags.BoolVar(&in.NoDefaults, "no-default-rules", false, "Leave out the default ruleset.")
	flags.StringVar(&in.Ruleset, "ruleset", cli.RulesetRepository,
		"Rules to apply: `repository|default`; default leaves out those of the rules file.")
	bindOutput(cmd, &in.Output,
		" With --all also "+cli.FormatLines+", alone: an object of JSON for each finding, as they are found.")
	flags.Var((*sizeFlag)(&in.MaxFileSize), "max-file-size",
		"The largest file that is scanned, such as 64MiB; 16MiB when not given.")
	flags.IntVar(&in.Jobs, "jobs", 0, "Match `N` files at the same time; 0 is for the number of processors.")
	flags.StringVar(&in.Server.Repo, "repo", "",
		"With a server: this repository is `OWNER/REPO` there; rules that it has over the API apply too.")
	flags.BoolVar(&in.Server.Offline, "offline", false,
		"With a server: apply the rules that were fetched before, without asking for new ones.")
	flags.BoolVar(&in.Server.Leave, "no-server", false, "Leave out the organization's rules.")
	return configured(config.Review, st, func(ctx context.Context, c config.Config, args []string) error {
		if len(args) > 0 {
			in.Path = args[0]
		}
		in.Server.Client = c.Client
		in.Server.Known = flags.Changed("server") || c.Server != config.Default().Server ||
			st.Lookup(config.EnvPrefix+"SERVER") != ""
		return cli.Scan(ctx, st, in)
	}, cmd)
}

// sizeFlag is a number of bytes.
type sizeFlag int64

// String implements pflag.Value.
func (f *sizeFlag) String() string {
	if *f == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*f))
}

// Set implements pflag.Value.
func (f *sizeFlag) Set(text string) error {
	const most = 1 << 30
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > most {
		return fmt.Errorf("%q is not a size from 1 to 1GiB; write a number and a unit, such as 64MiB", text)
	}
	*f = sizeFlag(n)
	return nil
}

// Type implements pflag.Value.
func (f *sizeFlag) Type() string { return "SIZE" }
