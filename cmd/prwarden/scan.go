package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

func newScan(st cli.Streams) *cobra.Command {
	var in cli.ScanInput
	cmd := &cobra.Command{
		Use:   "scan --all PATH",
		Short: "Scan the files of a folder, without a server",
		Long: `Scan every file of a folder, or one file, as a review scans the lines that a pull
request adds. Only .git is left out. Findings go to stdout in the order of files
and lines, as they are found; everything else goes to stderr.

Beside the default ruleset, the folder's own .prwarden/rules.yml applies. --rules
gives another rules file instead of it, with up to 5,000 rules.

Binary files, files over 1 MiB and lines over 16 KiB are skipped and counted.

Exit status: 0 when the scan went through, whatever was found, also when files
were skipped or a rule was stopped in one, which stderr tells; 2 when the command
line or a rules file is wrong; 3 when something could not be read or the scan was
interrupted.`,
		Example: `  # What do the default rules and the repository's own find in this folder?
  prwarden scan --all .

  # Only your own rules, for programs: an object a line
  prwarden scan --all src --no-default-rules --rules rules.yml --format json`,
		Args: args(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("the PATH is missing, as in `prwarden scan --all .`")
			}
			return cobra.ExactArgs(1)(cmd, args)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Path = args[0]
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return cli.Scan(ctx, st, in)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.All, "all", false, "Look at every file, whether it was changed or not. Required so far.")
	flags.StringVar(&in.RulesFile, "rules", "", "A rules `FILE` to apply instead of the folder's own.")
	flags.BoolVar(&in.NoDefaults, "no-default-rules", false, "Leave out the default ruleset.")
	flags.StringVar(&in.Format, "format", cli.FormatTable, "How findings are written: table, or json (an object a line).")
	flags.IntVar(&in.Jobs, "jobs", 0, "How many files are matched at the same time; 0 for the number of processors.")
	flags.BoolVarP(&in.Verbose, "verbose", "v", false, "Name everything that is skipped.")
	return cmd
}
