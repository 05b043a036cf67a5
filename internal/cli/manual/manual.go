// Package manual writes what the command line says of itself: the help of a
// command, which fits 80 columns, and man pages. Both are made from the same
// commands and flags.
package manual

import (
	"strings"

	"github.com/spf13/cobra"
)

// Commands are those below a command that are shown, in alphabetical order.
func Commands(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c)
		}
	}
	return all
}

// paragraph is a run of lines without an empty one.
type paragraph struct {
	text    string
	literal bool // lines stay as they are: a list or something to type
}

func paragraphs(text string) []paragraph {
	var all []paragraph
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		part = strings.Trim(part, "\n")
		literal := strings.HasPrefix(part, " ") || strings.Contains(part, "\n  ")
		all = append(all, paragraph{text: part, literal: literal})
	}
	return all
}

// description is the text of a command.
func description(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}
