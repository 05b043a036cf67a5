package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

func newCompletion(st cli.Streams) *cobra.Command {
	names := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Print a script that completes command lines",
		Long: `Print the script that makes a shell complete prwarden's commands, flags and
their values. Release archives have the scripts in the folder completions.

The script for bash needs the package bash-completion.`,
		Example: `  # bash: in this shell, or for good
  source <(prwarden completion bash)
  prwarden completion bash > ~/.local/share/bash-completion/completions/prwarden

  # zsh: a folder of $fpath, before compinit
  prwarden completion zsh > "${fpath[1]}/_prwarden"

  # fish
  prwarden completion fish > ~/.config/fish/completions/prwarden.fish

  # PowerShell: a line of $PROFILE
  prwarden completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return cli.Usagef("name one shell: %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(st.Out, true)
			case "fish":
				return root.GenFishCompletion(st.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(st.Out)
			default:
				return root.GenZshCompletion(st.Out)
			}
		},
	}
}

// choices are the values of flags that have few, by the flag's name, which
// means the same in every command but those that are named with it, and those
// below them.
func choices() map[string][]string {
	return map[string][]string{
		"color":        {terminal.ColorAuto, terminal.ColorAlways, terminal.ColorNever},
		"fail-on":      {"critical", "high", "medium", "warning", "low", "info", cli.FailNever},
		"log-level":    {"debug", "info", "warn", "error"},
		"ruleset":      {"default", "custom"},
		"scan ruleset": {cli.RulesetRepository, cli.RulesetDefault},
		"severity":     {"critical", "high", "medium", "warning", "low", "info"},
		"suppressed":   {cli.SuppressedInclude, cli.SuppressedOmit},
		"rules output": {rules.OutputText, rules.OutputJSON},
		"scopes":       {"reviews:read", "reviews:write", "rules:read", "rules:write", "keys:admin"},
	}
}

// completeValues gives a command and those below it what the shell offers as
// values of flags: choices where there are few, files where the value is one,
// and nothing, instead of the files that are a shell's fallback, elsewhere.
func completeValues(cmd *cobra.Command, choices map[string][]string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" {
			return // a switch
		}
		value, _ := pflag.UnquoteUsage(f)
		words, few := choices[cmd.Name()+" "+f.Name]
		if !few && cmd.HasParent() {
			words, few = choices[cmd.Parent().Name()+" "+f.Name]
		}
		if !few {
			words, few = choices[f.Name]
		}
		switch {
		case few:
			must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
		case f.Name == "output":
			must(cmd.RegisterFlagCompletionFunc(f.Name, completeOutput))
		case value == "FILE", f.Name == "database":
			// The fallback is right.
		case strings.HasSuffix(f.Name, "-dir"):
			must(cmd.MarkFlagDirname(f.Name))
		default:
			must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions))
		}
	})

	for _, c := range cmd.Commands() {
		completeValues(c, choices)
	}
}

// completeOutput offers formats, and after FORMAT= files, which shells don't
// find behind another text.
func completeOutput(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	format, path, toFile := strings.Cut(word, "=")
	if !toFile {
		return report.Formats(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	folder, _ := filepath.Split(path)
	from := folder
	if from == "" {
		from = "."
	}

	entries, _ := os.ReadDir(from) // nothing to offer where it can't be read
	var words []string
	for _, e := range entries {
		name := format + "=" + folder + e.Name()
		if e.IsDir() {
			name += "/"
		}
		words = append(words, name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeArguments gives a command and those below it what the shell offers as
// arguments: files where they are files, which is the fallback, else nothing.
func completeArguments(cmd *cobra.Command) {
	switch {
	case cmd.CommandPath() == "prwarden rules explain":
		cmd.ValidArgsFunction = completeRule
	case len(cmd.ValidArgs) == 0 && !regexp.MustCompile(`\b(PATH|FILE|DIR|SAMPLE)\b`).MatchString(cmd.Use):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		completeArguments(c)
	}
}

// completeRule offers the identifiers of default rules.
func completeRule(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := defaults.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, r := range all {
		ids = append(ids, cobra.CompletionWithDesc(r.ID, r.Message))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// must is for what fails only when a command is put together wrongly.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
