// Package manual writes what the command line says of itself: the help of a
// command, which fits 80 columns, and man pages. Both are made from the same
// commands and flags.
package manual

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// option is a flag as people read it.
type option struct {
	short string // letter, "" for none
	name  string
	value string // what stands for the value, "" for a switch
	text  string // what it is for, in one line
	note  string // where else it can be set, and its default; "" for nothing
}

// options are the flags that are shown, in alphabetical order.
func options(flags *pflag.FlagSet) []option {
	var all []option
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		text, note, _ := strings.Cut(usage, "\n[")
		o := option{name: f.Name, value: value, text: strings.Join(strings.Fields(text), " ")}
		if note != "" {
			o.note = "[" + note
		}
		if f.ShorthandDeprecated == "" {
			o.short = f.Shorthand
		}
		if preset := preset(f); preset != "" {
			o.text += " (default " + preset + ")"
		}
		all = append(all, o)
	})
	return all
}

// preset is the default of a flag that help has to tell, "" for none.
func preset(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]", "<nil>":
		return ""
	}
	if f.Value.Type() == "string" {
		return strconv.Quote(f.DefValue)
	}
	return f.DefValue
}

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
		all = append(all, paragraph{text: part, literal: strings.HasPrefix(part, " ") || strings.Contains(part, "\n  ")})
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
