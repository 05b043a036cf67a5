package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/manual"
	"github.com/prwarden/prwarden/internal/config"
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
		Args:          knownCommand,
		RunE:          showHelp,
	}

	root.SetVersionTemplate("prwarden {{.Version}}\n") // as the first line of the command version
	root.SetErr(st.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.SetHelpFunc(manual.Help)
	root.SetUsageFunc(manual.Usage)
	root.CompletionOptions.DisableDefaultCmd = true // newCompletion is in its place

	root.AddGroup(&cobra.Group{ID: groupClient, Title: "Scan:"})
	addGroup(root, groupClient, newReview(st), newScan(st), newRules(st))
	if server := serverCommands(st); len(server) > 0 {
		root.AddGroup(&cobra.Group{ID: groupServer, Title: "Run the service:"})
		addGroup(root, groupServer, server...)
	}
	root.AddCommand(newVersion(st), newCompletion(st), newMan(st))

	explainCommon(root)
	completeValues(root, choices())
	completeArguments(root)
	return root
}

// Groups of commands, as help shows them.
const (
	groupClient = "client" // that every system has
	groupServer = "server" // for Linux only
)

func addGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// showHelp is what a command does that only has others below it.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// explainCommon says of the flags that every command has what they do, in words
// like those of other flags.
func explainCommon(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "Show this help."
	cmd.InitDefaultVersionFlag()
	if f := cmd.Flags().Lookup("version"); f != nil {
		f.Usage = "Print the version."
	}
	for _, c := range cmd.Commands() {
		explainCommon(c)
	}
}

// knownCommand is the check of arguments of a command that only has others below
// it: what is left is none of them.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	cmd.SuggestionsMinimumDistance = 2 // letters that may be wrong
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return cli.Usagef("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return cli.Usagef("unknown command %q", args[0])
}

// flagError says what is wrong with flags, in clearer words than the functions
// that read numbers.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}

	wants, ok := map[string]string{
		"bool": "neither true nor false", "int": "no number", "duration": "no time; write it with a unit, such as 90s or 30m",
	}[invalid.GetFlag().Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s: %q is %s", invalid.GetFlag().Name, invalid.GetValue(), wants)
}

// action is what a command does with its settings.
type action func(ctx context.Context, c config.Config, args []string) error

// configured gives a command the flags of its settings, and makes it read these
// and then act.
func configured(cmd *cobra.Command, st cli.Streams, command config.Command, do action) *cobra.Command {
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
