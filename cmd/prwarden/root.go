package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/report"
)

func newRoot(st cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "prwarden",
		Short: "Scan pull requests against rules",
		Long: `prwarden scans the lines that a pull request adds against rules (secrets,
security, correctness, hygiene, and your own) and reports findings over a
REST and a gRPC API.`,
		Example: `  # What do my changes add? This needs no server
  prwarden scan

  # Have a server scan a pull request and show what it adds
  prwarden review psf/requests 6710 \
      --server https://prwarden.example.com --key-file key.txt`,
		Version:       build.Read().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          showHelp,
	}

	root.SetVersionTemplate("prwarden {{.Version}}\n") // as the first line of the command version
	root.SetErr(st.Err)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))

	root.AddCommand(newReview(st), newScan(st), newRules(st), newPolicy(st), newFindings(st), newWebhooks(st),
		newVersion(st), newMan())
	root.AddCommand(serverCommands(st)...)
	return root
}

// showHelp is what a command does that only has others below it.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// group makes a command of which only the ones below it do something.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = cobra.NoArgs, showHelp
	cmd.AddCommand(below...)
	return cmd
}

func newVersion(st cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return cli.Version(st) },
	}
}

// newMan makes the command for packagers, which help doesn't list.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write man pages",
		Long: `Write the man pages of prwarden and its commands into the folder DIR. Their date
is that of SOURCE_DATE_EPOCH (seconds since 1970), or today.`,
		Example: `  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) prwarden man man/man1`,
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			cmd.Root().DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "prwarden " + build.Read().Version, Manual: "prwarden manual"}
			return doc.GenManTree(cmd.Root(), header, args[0])
		},
	}
}

// configured gives a command the flags of its settings, and makes it read these
// and then act.
func configured(
	command config.Command, st cli.Streams, do func(context.Context, config.Config, []string) error, cmd *cobra.Command,
) *cobra.Command {
	config.Bind(command, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := config.Load(command, st.Env, cmd.Flags())
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		return do(cmd.Context(), c, args)
	}
	return cmd
}

// noArgs is configured for a command without arguments.
func noArgs(
	command config.Command, st cli.Streams, do func(context.Context, cli.Streams, config.Config) error,
	cmd *cobra.Command,
) *cobra.Command {
	cmd.Args = cobra.NoArgs
	return configured(command, st, func(ctx context.Context, c config.Config, _ []string) error {
		return do(ctx, st, c)
	}, cmd)
}

// oneArg is configured for a command with one argument.
func oneArg(
	command config.Command, st cli.Streams, do func(context.Context, cli.Streams, config.Config, string) error,
	cmd *cobra.Command,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	return configured(command, st, func(ctx context.Context, c config.Config, args []string) error {
		return do(ctx, st, c, args[0])
	}, cmd)
}

// bindOutput gives a command the flags of how findings are shown. alone is what
// there is to say of formats that it has beside those of all commands.
func bindOutput(cmd *cobra.Command, out *cli.Output, alone string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&out.Formats, "output", "o", nil, "How to show findings: `FORMAT[=FILE]` with "+
		strings.Join(report.Formats(), ", ")+". Give it again for more than one."+alone+" (default table)")
	flags.StringVar(&out.FailOn, "fail-on", "high",
		"Exit with 1 when a finding has this `SEVERITY` or a worse one; "+cli.FailNever+" for never.")
	flags.BoolVar(&out.AllowIncomplete, "allow-incomplete", false,
		"Don't exit with 1 because something was not looked at. It is shown all the same.")
	flags.StringVar(&out.Suppressed, "suppressed", cli.SuppressedOmit, "What SARIF does with findings "+
		"that comments suppress, for which GitHub code scanning would open alerts: `include|omit`.")
	flags.StringVar(&out.Color, "color", terminal.ColorAuto,
		"Use colours: `auto|always|never`; auto is on a terminal, without NO_COLOR.")
}

// refuseEmpty says which flag or argument was given with nothing in it, as it is
// when a variable of a CI job is not set. Taken as one that was left out, --base
// would make a gate of something else that finds nothing. Only --ruleset of
// review may be empty: the action passes its inputs on as they are.
func refuseEmpty(cmd *cobra.Command, args []string) error {
	if cmd.Name() == cobra.ShellCompRequestCmd { // where it is a word that is not begun yet
		return nil
	}
	if i := slices.Index(args, ""); i >= 0 {
		return cli.Usagef("argument %d is empty, as it is when a variable is not set; give it a value", i+1)
	}

	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := slices.Contains([]string{"", "[]", `[""]`}, f.Value.String())
		if empty && cmd.Name()+" "+f.Name != "review ruleset" {
			err = cli.Usagef("--%s is empty, as it is when a variable is not set; give it a value, or leave it out", f.Name)
		}
	})
	return err
}
