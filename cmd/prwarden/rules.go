package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule/schema"
)

func newRules(st cli.Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:   "rules",
		Short: "Write rules: check, test, try, explain and push them",
		Long: `Check, test, try and explain rules. No server is needed, but for push, pull,
history, stats, try --last and list --organization: the others read files and
the default ruleset, which is part of the program.`,
	}, newRulesCheck(st), newRulesTest(st), newRulesTry(st), newRulesStats(st), newRulesExplain(st), newRulesList(st),
		newRulesSchema(st), newRulesPush(st), newRulesPull(st), newRulesHistory(st))
}

func newRulesCheck(st cli.Streams) *cobra.Command {
	var in rules.CheckInput
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Find every mistake in rules files",
		Long: `Find every mistake in rules files at once, each with its line: what the server
would report as meta/rules-file-invalid, ids that default rules have, and cases
that fail. A file without mistakes may have warnings, about what is allowed and
probably not meant: unknown ids under disable and override, globs that match in
the root folder only, patterns that cost much.

Without FILE it is .prwarden/rules.yml. A file of that name has the limits of a
repository's file, another those of a file for scan --rules.

Exit status: 0 when the files are fine, 1 when one has a mistake (with --strict
also a warning), 2 when the command line is wrong or a file can't be read.`,
		Example: `  # Is the rules file of this repository fine?
  prwarden rules check

  # In CI: warnings count too
  prwarden rules check --strict rules/*.yml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Files = args
			return rules.Check(cmd.Context(), st, in)
		},
	}
	cmd.Flags().BoolVar(&in.Strict, "strict", false, "Fail on warnings too.")
	cmd.Flags().StringVarP(&in.Output, "output", "o", rules.OutputText, "How to print: `text|json`.")
	return cmd
}

func newRulesTest(st cli.Streams) *cobra.Command {
	var in rules.TestInput
	return &cobra.Command{
		Use:   "test [FILE [SAMPLE...]]",
		Short: "Run the cases of rules, and annotated sample files",
		Long: `Check FILE, run the cases of its rules, and match the rules that sample files
name in comments on these files:

  # prwarden: expect no-print, style/other
  print(1)
  # prwarden: ok no-print
  blueprint(1)

Each annotation is about the next line that holds none: "expect" says that the
rules must match it, "ok" that they must not. Every other match of a rule that
the sample names fails too. Samples may name rules of FILE and default rules;
the paths of rules are not looked at. Of a folder the files with annotations are
taken. Without FILE it is .prwarden/rules.yml.

Exit status: 0 when all pass, 1 when something fails or FILE has mistakes, 2
when the command line is wrong or a file can't be read.`,
		Example: `  # The cases of the repository's rules
  prwarden rules test

  # Cases, and samples in a folder
  prwarden rules test rules.yml samples/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				in.File, in.Samples = args[0], args[1:]
			}
			return rules.Test(cmd.Context(), st, in)
		},
	}
}

func newRulesTry(st cli.Streams) *cobra.Command {
	var in rules.TryInput
	var last cli.TryLastInput
	cmd := &cobra.Command{
		Use:   "try PATTERN PATH... | --last N FILE",
		Short: "Show where rules match, and what they cost",
		Long: `Show where a pattern matches in files and folders, as a rule with that pattern
would: the first match on each line, or with --multiline the matches on the
whole file. In the end stderr tells how many there are, what the pattern costs,
and how it could cost less. .git, binary files and files over 16 MiB are left out.

With --structure the pattern is code with metavariables, as that of a rule of type
structure, and only files in these languages are looked at.

With --last a server tries the rules of FILE on the pull requests that your
organization had reviewed last, before you create them. Nothing is stored. The
API key needs the scopes rules:read and reviews:read; it comes from
PRWARDEN_API_KEY or from --key-file.

Exit status: 0 whether there are matches or not, 2 when the pattern, FILE or the
command line is wrong, 3 when a file can't be read or the server failed.`,
		Example: `  # Where would this rule fire?
  prwarden rules try 'fmt\.Print(ln|f)?\(' . --include '**/*.go'

  # Which calls check no certificate, on however many lines they are?
  prwarden rules try 'requests.get($$$, verify=False, $$$)' . --structure python

  # In how many of the last 50 pull requests would these have found something?
  prwarden rules try --last 50 rules.yml`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&in.Multiline, "multiline", false, "Match on whole files.")
	flags.StringSliceVar(&in.Structure, "structure", nil, "PATTERN is code with metavariables in these `LANGUAGES`.")
	flags.StringSliceVar(&in.In, "in", nil, "Only in these `PLACES` of a file: code, comment, string.")
	flags.StringArrayVar(&in.Include, "include", nil,
		"Look only at files that this `GLOB` matches, below the PATH; may be repeated.")
	flags.StringArrayVar(&in.Exclude, "exclude", nil,
		"Leave out files that this `GLOB` matches, below the PATH; may be repeated.")
	flags.IntVar(&last.Last, "last", 0, "Try the rules of FILE on this `NUMBER` of pull requests, 1 to 50.")
	flags.StringVar(&last.Repo, "repo", "", "With --last: only pull requests of this repository, `OWNER/REPO`.")
	flags.StringVarP(&last.Output, "output", "o", cli.OutputTable, "With --last: how to show them, `table|json`.")
	return configured(config.Review, st, func(ctx context.Context, c config.Config, args []string) error {
		if cmd.Flags().Changed("last") {
			if len(args) != 1 {
				return cli.Usagef("--last needs one FILE, not %d", len(args))
			}
			others := []string{"multiline", "in", "structure", "include", "exclude"}
			if err := excluded(cmd, others, "goes with PATTERN and PATH, not with --last"); err != nil {
				return err
			}
			last.File = args[0]
			return cli.TryLast(ctx, st, c.Client, last)
		}
		if len(args) < 2 {
			return cli.Usagef("needs PATTERN and PATH, or --last and FILE")
		}
		if err := excluded(cmd, []string{"repo", "output"}, "goes with --last"); err != nil {
			return err
		}
		if cmd.Flags().Changed("structure") && len(in.Structure) == 0 {
			return cli.Usagef("--structure needs LANGUAGES, such as go,python")
		}
		in.Pattern, in.Paths = args[0], args[1:]
		return rules.Try(ctx, st, in)
	}, cmd)
}

// excluded says which of some flags was given that can't be.
func excluded(cmd *cobra.Command, names []string, why string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s %s", name, why)
		}
	}
	return nil
}

func newRulesStats(st cli.Streams) *cobra.Command {
	var in cli.RuleStatsInput
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show how much each rule found, and how much of it was fixed",
		Long: `Show for the rules of your organization how many findings their reviews had, how
many of them were fixed, and how many a comment suppresses; those with most
findings first. A finding counts once in its pull request.

The API key needs the scope reviews:read; it comes from PRWARDEN_API_KEY or from
--key-file.`,
		Example: `  # Which rules made noise in the last 30 days, and where?
  prwarden rules stats --by-repository

  # A year of one rule
  prwarden rules stats --rule security/no-eval --since 2025-11-01`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Since, "since", "", "First `DAY`, YYYY-MM-DD in UTC. (default 29 days before the last)")
	flags.StringVar(&in.Until, "until", "", "Last `DAY`, YYYY-MM-DD in UTC. (default today)")
	flags.StringVar(&in.Repo, "repo", "", "Only what was found in this repository, `OWNER/REPO`.")
	flags.StringVar(&in.RuleID, "rule", "", "Only the rule with this `ID`.")
	flags.StringVar(&in.Severity, "severity", "", "Only findings of this `SEVERITY` or a worse one.")
	flags.BoolVar(&in.ByRepository, "by-repository", false, "A row for each repository.")
	flags.IntVar(&in.Limit, "limit", 50, "Show at most `N`.")
	flags.StringVarP(&in.Output, "output", "o", cli.OutputTable, "How to show them, `table|json`; json has one a line.")
	return noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return cli.RuleStats(ctx, st, c.Client, in)
	}, cmd)
}

func newRulesExplain(st cli.Streams) *cobra.Command {
	var in rules.ExplainInput
	cmd := &cobra.Command{
		Use:   "explain ID [FILE]",
		Short: "Show everything about a rule",
		Long: `Show everything about a default rule or one of the rules file: what it finds and
what it leaves, the files it looks at, what it costs, where to read more, and how
to switch it off or suppress one finding.

With FILE, a file of this folder, it also says whether the rule looks at it, and
why not: its path, its language, or that it is generated, minified or vendored.

Exit status: 0, or 2 when there is no such rule.`,
		Example: `  prwarden rules explain security/no-eval

  # Why does it say nothing there?
  prwarden rules explain hygiene/js-debugger web/app.js`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if len(args) > 1 {
				in.In = args[1]
			}
			return rules.Explain(cmd.Context(), st, in)
		},
	}
	cmd.Flags().StringVar(&in.File, "rules", "", "A rules `FILE` instead of .prwarden/rules.yml.")
	cmd.Flags().StringVarP(&in.Output, "output", "o", rules.OutputText, "How to print: `text|json`.")
	return cmd
}

func newRulesList(st cli.Streams) *cobra.Command {
	var in rules.ListInput
	organization := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules that apply here, or those of the organization",
		Long: `List the default rules and those of the rules file, with the severities that
they have here. Those that the file disables are marked.

With --organization list the rules that your organization has on a server: their
mode, or that they are off, and who changed them last, and when. The API key needs
the scope rules:read; it comes from PRWARDEN_API_KEY or from --key-file.`,
		Example: `  # The worst
  prwarden rules list --severity high

  # One category, for programs
  prwarden rules list --category secrets --output json

  # What the organization has, and since when
  prwarden rules list --organization`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.File, "rules", "", "A rules `FILE` instead of .prwarden/rules.yml.")
	flags.StringVar(&in.Severity, "severity", "", "Only rules of this `SEVERITY` or a worse one.")
	flags.StringVar(&in.Category, "category", "", "Only rules of this `CATEGORY`, such as secrets.")
	flags.BoolVar(&organization, "organization", false, "List the rules of the organization on a server.")
	flags.StringVarP(&in.Output, "output", "o", rules.OutputText, "How to print: `text|json`.")
	return noArgs(config.Review, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		if !organization {
			return rules.List(ctx, st, in)
		}
		if err := excluded(cmd, []string{"rules"}, "does not go with --organization"); err != nil {
			return err
		}
		return cli.ListRules(ctx, st, c.Client, cli.RuleListInput{
			Severity: in.Severity, Category: in.Category, Output: in.Output,
		})
	}, cmd)
}

func newRulesSchema(st cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the rules file",
		Long: `Print the JSON Schema of the rules file, by which editors complete and check it.
Editors with the YAML language server take it from a line in the rules file,
which names a copy, or the URL that the schema has as its $id:

  # yaml-language-server: $schema=rules.schema.json`,
		Example: `  prwarden rules schema > rules.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := st.Out.Write(schema.JSON())
			return err
		},
	}
}
