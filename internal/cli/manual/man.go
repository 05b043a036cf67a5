package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Edition is what stands around every man page.
type Edition struct {
	Version string
	Date    time.Time
}

// WritePages writes a man page of section 1 into a folder for a command and
// for each below it that help shows. The folder must be there.
func WritePages(dir string, root *cobra.Command, e Edition) error {
	var page strings.Builder
	if err := Page(&page, root, e); err != nil {
		return err
	}
	name := pageName(root) + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(page.String()), 0o644); err != nil {
		return err
	}
	for _, c := range Commands(root) {
		if err := WritePages(dir, c, e); err != nil {
			return err
		}
	}
	return nil
}

// Page writes the man page of a command.
func Page(w io.Writer, cmd *cobra.Command, e Edition) error {
	cmd.InitDefaultHelpFlag()
	p := &roff{}
	// The date without escapes, by which programs read it. Neither hyphens nor
	// spread lines: the text has names that people copy.
	fmt.Fprintf(&p.text, ".TH \"%s\" \"1\" \"%s\" \"%s\" \"prwarden manual\"\n.nh\n.ad l\n",
		escape(strings.ToUpper(pageName(cmd))), e.Date.UTC().Format(time.DateOnly), escape("prwarden "+e.Version))

	p.section("NAME")
	p.line(pageName(cmd) + ` \- ` + escape(cmd.Short))
	p.section("SYNOPSIS")
	p.synopsis(cmd)

	p.section("DESCRIPTION")
	var status []paragraph
	for _, par := range paragraphs(description(cmd)) {
		if strings.HasPrefix(par.text, exitStatus) {
			status = append(status, par)
			continue
		}
		p.paragraph(par)
	}
	if commands := Commands(cmd); len(commands) > 0 {
		p.section("COMMANDS")
		for _, c := range commands {
			p.tagged(`\fB`+escape(pageName(c))+`\fR(1)`, c.Short+".")
		}
	}
	if cmd.HasAvailableFlags() {
		p.section("OPTIONS")
		for _, o := range append(options(cmd.LocalFlags()), options(cmd.InheritedFlags())...) {
			p.option(o)
		}
	}
	if len(status) > 0 {
		p.section("EXIT STATUS")
		for _, par := range status {
			p.paragraph(paragraph{text: strings.TrimLeft(strings.TrimPrefix(par.text, exitStatus), " \n"), literal: par.literal})
		}
	}
	if cmd.HasExample() {
		p.section("EXAMPLES")
		p.literal(cmd.Example)
	}
	p.seeAlso(cmd)
	_, err := io.WriteString(w, p.text.String())
	return err
}

// exitStatus begins the paragraph of a description that says what exit codes
// mean. It is a section of its own in a man page.
const exitStatus = "Exit status:"

// pageName is the name of a command's page, as git's commands have theirs.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// roff is a man page as it is written.
type roff struct {
	text  strings.Builder
	fresh bool // nothing is in the section yet
}

// request writes a request or macro with its arguments.
func (r *roff) request(name string, args ...string) {
	r.text.WriteString("." + name)
	for _, a := range args {
		r.text.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	r.text.WriteString("\n")
}

// line writes a line of text that is escaped already. Empty ones would be
// vertical space.
func (r *roff) line(text string) {
	if text == "" {
		return
	}
	if text[0] == '.' || text[0] == '\'' {
		text = `\&` + text
	}
	r.text.WriteString(text + "\n")
}

func (r *roff) section(name string) {
	r.request("SH", name)
	r.fresh = true
}

// gap parts a paragraph from what is before it in the section.
func (r *roff) gap() {
	if !r.fresh {
		r.request("PP")
	}
	r.fresh = false
}

func (r *roff) synopsis(cmd *cobra.Command) {
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		rest := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
		r.line(`\fB` + escape(cmd.CommandPath()) + `\fR` + escape(rest))
		return
	}
	r.line(`\fB` + escape(cmd.CommandPath()) + `\fR \fICOMMAND\fR`)
}

func (r *roff) paragraph(p paragraph) {
	if p.literal {
		r.literal(p.text)
		return
	}
	r.gap()
	for line := range strings.SplitSeq(p.text, "\n") {
		r.line(escape(line))
	}
}

// literal writes lines as they are.
func (r *roff) literal(text string) {
	r.gap()
	r.request("nf")
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			r.request("sp")
			continue
		}
		r.line(escape(line))
	}
	r.request("fi")
}

// tagged writes a term that is escaped already, and what is said of it.
func (r *roff) tagged(term, text string) {
	r.request("TP")
	r.line(term)
	r.line(escape(text))
}

func (r *roff) option(o option) {
	term := `\fB` + escape("--"+o.name) + `\fR`
	if o.short != "" {
		term = `\fB` + escape("-"+o.short) + `\fR, ` + term
	}
	if o.value != "" {
		term += ` \fI` + escape(o.value) + `\fR`
	}
	r.tagged(term, o.text)
	if o.note != "" {
		r.request("br")
		r.line(escape(o.note))
	}
}

// seeAlso names the pages around this one.
func (r *roff) seeAlso(cmd *cobra.Command) {
	if !cmd.HasParent() {
		return
	}
	names := []string{pageName(cmd.Parent())}
	for _, c := range Commands(cmd.Parent()) {
		if c != cmd {
			names = append(names, pageName(c))
		}
	}
	r.section("SEE ALSO")
	for i, name := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		r.line(fmt.Sprintf(`\fB%s\fR(1)%s`, escape(name), comma))
	}
}

// escape makes text mean itself. Quotes, circumflex and tilde would become
// typographic ones and hyphens others than those that people type.
func escape(text string) string {
	return strings.NewReplacer(
		`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`,
	).Replace(text)
}
