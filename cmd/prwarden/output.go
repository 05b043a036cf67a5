package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report"
)

// bindOutput gives a command the flags of how findings are shown. alone is what
// there is to say of formats that it has beside those of all commands.
func bindOutput(cmd *cobra.Command, out *cli.Output, alone string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&out.Formats, "output", "o", nil, "How to show findings: `FORMAT[=FILE]` with "+
		strings.Join(report.Formats(), ", ")+". Give it again for more than one."+alone+" (default table)")
	flags.StringVar(&out.FailOn, "fail-on", "high",
		"Exit with 1 when a finding has this `SEVERITY` or a worse one; "+cli.FailNever+" for never.")
	flags.StringVar(&out.Suppressed, "suppressed", cli.SuppressedOmit, "What SARIF does with findings "+
		"that comments suppress, for which GitHub code scanning would open alerts: `include|omit`.")
	bindColor(cmd, &out.Color)
}

// bindColor gives a command the flag of when to use colours.
func bindColor(cmd *cobra.Command, color *string) {
	cmd.Flags().StringVar(color, "color", terminal.ColorAuto,
		"Use colours: `auto|always|never`; auto is on a terminal, without NO_COLOR.")
}
