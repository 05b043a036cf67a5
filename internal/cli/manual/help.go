package manual

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Columns is the width that help fits.
const Columns = 80

// indent of what is said of a flag. That begins on a line of its own, because
// names with their values take half of the width.
const indent = "          "

// Help writes what `--help` says: the description with its prose wrapped, and
// the usage. It is for cobra's SetHelpFunc.
func Help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	for _, p := range paragraphs(description(cmd)) {
		if p.literal {
			b.WriteString(p.text + "\n\n")
			continue
		}
		wrap(&b, "", p.text)
		b.WriteString("\n")
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String(), cmd.UsageString())
}

// Usage writes what `--help` says below a command's description. It is for
// cobra's SetUsageFunc.
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
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
		width = max(width, utf8.RuneCountInString(c.Name()))
	}
	if len(members) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, c := range members {
		fmt.Fprintf(b, "  %-*s  %s\n", width, c.Name(), c.Short)
	}
}

func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	all := options(flags)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, o := range all {
		line := "      --" + o.name
		if o.short != "" {
			line = "  -" + o.short + ", --" + o.name
		}
		if o.value != "" {
			line += " " + o.value
		}
		fmt.Fprintln(b, line)
		wrap(b, indent, o.text)
		wrap(b, indent, o.note)
	}
}

// wrap writes a text in lines, each indented and of at most Columns as far as
// its words allow.
func wrap(b *strings.Builder, indent, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = indent + word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > Columns:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	if line != "" {
		b.WriteString(line + "\n")
	}
}
