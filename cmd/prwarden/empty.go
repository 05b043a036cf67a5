package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
)

// mayBeEmpty are the flags whose empty value is that of one that is not given,
// by the command's name and theirs. The action passes its inputs on as they are.
func mayBeEmpty() []string { return []string{"review ruleset"} }

// refuseEmpty says which flag or argument was given with nothing in it, as it is
// when a variable of a CI job is not set. Taken as one that was left out, --base
// would make a gate of something else that finds nothing.
func refuseEmpty(cmd *cobra.Command, args []string) error {
	if cmd.Name() == cobra.ShellCompRequestCmd { // where it is a word that is not begun yet
		return nil
	}
	if i := slices.Index(args, ""); i >= 0 {
		return cli.Usagef("argument %d is empty, as it is when a variable is not set; give it a value", i+1)
	}

	var empty string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if isEmpty(f.Value) && !slices.Contains(mayBeEmpty(), cmd.Name()+" "+f.Name) {
			empty = f.Name
		}
	})

	if empty != "" {
		return cli.Usagef("--%s is empty, as it is when a variable is not set; give it a value, or leave it out", empty)
	}
	return nil
}

func isEmpty(v pflag.Value) bool {
	if list, ok := v.(pflag.SliceValue); ok {
		values := list.GetSlice()
		return len(values) == 0 || slices.Contains(values, "")
	}
	return v.String() == ""
}
