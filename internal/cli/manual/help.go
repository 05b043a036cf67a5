package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// Columns is the width that help fits.
const Columns = 80

// Help writes what `--help` says: the description with its prose wrapped, and
// the usage. It is for cobra's SetHelpFunc.
func Help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	for _, p := range paragraphs(description(cmd)) {
		if p.literal {
			b.WriteString(p.text + "\n")
		} else {
			wrap(&b, "", p.text)
		}
		b.WriteString("\n")
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String(), cmd.UsageString())
}

// Usage writes what `--help` says below a command's description. It is for
// cobra's SetUsageFunc.
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	} else if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}

	for _, g := range cmd.Groups() {
		writeCommands(&b, cmd, g.ID, g.Title)
	}
	rest := "Commands:"
	if len(cmd.Groups()) > 0 {
		rest = "More commands:"
	}
	writeCommands(&b, cmd, "", rest)

	writeFlags(&b, "Flags:", cmd.LocalFlags())
	writeFlags(&b, "Flags of every command:", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n`%s COMMAND --help` says more about a command.\n", cmd.CommandPath())
	}

	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands lists the commands of a group.
func writeCommands(b *strings.Builder, cmd *cobra.Command, group, title string) {
	var members []*cobra.Command
	width := 0
	for _, c := range Commands(cmd) {
		if c.GroupID == group {
			members = append(members, c)
		}
		width = max(width, len(c.Name()))
	}
	if len(members) == 0 {
		return
	}

	fmt.Fprintf(b, "\n%s\n", title)
	for _, c := range members {
		fmt.Fprintf(b, "  %-*s  %s\n", width, c.Name(), c.Short)
	}
}

// writeFlags lists flags. What is said of a flag begins on a line of its own,
// because names with their values take half of the width.
func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}

	fmt.Fprintf(b, "\n%s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		text, note, _ := strings.Cut(usage, "\n[")
		if preset := preset(f); preset != "" {
			text += " (default " + preset + ")"
		}

		line := "      --" + f.Name + " " + value
		if f.Shorthand != "" {
			line = "  -" + f.Shorthand + ", --" + f.Name + " " + value
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
		const indent = "          "
		wrap(b, indent, text)
		if note != "" {
			wrap(b, indent, "["+note)
		}
	})
}

// preset is the default of a flag that help has to tell, "" for none.
func preset(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]", "<nil>":
		return ""
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf("%q", f.DefValue)
	}
	return f.DefValue
}

// wrap writes a text in lines, each indented and of at most Columns.
func wrap(b *strings.Builder, indent, text string) {
	for _, line := range terminal.Wrap(text, Columns-len(indent)) {
		b.WriteString(indent + line + "\n")
	}
}
