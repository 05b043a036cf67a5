package manual

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Edition is what stands around every man page.
type Edition struct {
	Version string
	Date    time.Time
}

// WritePages writes a man page of section 1 into a folder, which must be there,
// for a command and for each below it that help shows. It changes the texts of
// the commands, so they are of no other use afterwards.
func WritePages(dir string, root *cobra.Command, e Edition) error {
	prepare(root)
	root.DisableAutoGenTag = true
	date := e.Date.UTC()

	return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Path: dir, CommandSeparator: "-",
		Header: &doc.GenManHeader{Section: "1", Date: &date, Source: "prwarden " + e.Version, Manual: "prwarden manual"},
	})
}

// exitStatus begins the paragraph of a description that says what exit codes
// mean. It is a section of its own in a man page.
const exitStatus = "Exit status:"

// prepare turns the texts of a command, and of those below it, into the Markdown
// from which the library makes pages.
func prepare(cmd *cobra.Command) {
	var text strings.Builder
	for _, p := range paragraphs(description(cmd)) {
		status, isStatus := strings.CutPrefix(p.text, exitStatus)
		switch {
		case isStatus:
			fmt.Fprintf(&text, "# EXIT STATUS\n%s\n\n", strings.TrimSpace(status))
		case p.literal:
			fmt.Fprintf(&text, "```\n%s\n```\n\n", p.text)
		default:
			text.WriteString(escape(p.text) + "\n\n")
		}
	}

	commands := Commands(cmd)
	if len(commands) > 0 {
		text.WriteString("# COMMANDS\n")
	}
	for _, c := range commands {
		fmt.Fprintf(&text, "**%s**(1)\n: %s.\n\n", strings.ReplaceAll(c.CommandPath(), " ", "-"), escape(c.Short))
		prepare(c)
	}

	cmd.Long = strings.TrimSpace(text.String())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Usage = escape(strings.Join(strings.Fields(f.Usage), " "))
	})
}

// escape makes the characters of a text that are markup in Markdown mean
// themselves. Backquotes stay: names stand between them.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "<", `\<`).Replace(text)
}
