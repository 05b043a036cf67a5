// Package rules is what the subcommands of `prwarden rules` do: they check,
// test, try and explain rules, for people who write them.
package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// The formats of what commands print.
const (
	OutputText = "text"
	OutputJSON = "json"
)

func checkOutput(output string) error {
	if output != OutputText && output != OutputJSON {
		return cli.Usagef("--output: %q is not a format; use %s or %s", output, OutputText, OutputJSON)
	}
	return nil
}

// show prints lines so that nothing in them drives a terminal or is a command to
// a CI service.
func show(w io.Writer, text string) error {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		b.WriteString(terminal.GuardLine(terminal.Safe(strings.TrimRight(line, "\r\n"))) + "\n")
	}

	_, err := io.WriteString(w, b.String())
	return err
}

// showJSON prints a value for programs, safe to print.
func showJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, terminal.SafeJSON(data))
	return err
}

// load reads the default ruleset and a rules file. The path is "" for the one of
// the folder, which there may be none of. A file called as a repository calls it
// is read as a repository's: with tighter bounds, and not behind a symbolic link.
// A file with mistakes is a *folder.RulesError.
func load(ctx context.Context, path string) (*folder.Loaded, error) {
	from := folder.Sources{Root: ".", File: path}
	if clean := filepath.Clean(path); strings.HasSuffix("/"+filepath.ToSlash(clean), "/"+rule.FilePath) {
		from = folder.Sources{Root: filepath.Dir(filepath.Dir(clean))}
	}

	l, err := folder.Load(ctx, from)
	var mistakes *folder.RulesError
	switch {
	case errors.As(err, &mistakes):
		return nil, err
	case err != nil:
		return nil, &cli.UsageError{Err: err}
	case l.Irregular:
		return nil, cli.Usagef("the rules file can't be read: %s is no regular file, or behind a symbolic link",
			filepath.Join(from.Root, filepath.FromSlash(rule.FilePath)))
	case path != "" && l.Path == "":
		return nil, cli.Usagef("the rules file can't be read: there is no %s", terminal.Safe(path))
	}

	return l, nil
}

// errNoFile says that a command needs a rules file.
func errNoFile() error {
	return cli.Usagef("there is no %s here; name the rules file", rule.FilePath)
}

// ListInput is what `rules list` was asked for.
type ListInput struct {
	File     string // a rules file; "" for the folder's, if there is one
	Severity string // rules that are as severe or more; "" for all
	Category string // "" for all
	Output   string // OutputText or OutputJSON
}

// ExplainInput is what `rules explain` was asked for.
type ExplainInput struct {
	ID     string
	In     string // a file of which to say whether the rule looks at it; "" for none
	File   string // a rules file; "" for the folder's, if there is one
	Output string // OutputText or OutputJSON
}

// known is a rule as it applies here, as JSON has it.
type known struct {
	ID         string                `json:"id"`      // full
	Ruleset    string                `json:"ruleset"` // default, or the path of the rules file
	Type       string                `json:"type"`
	Severity   string                `json:"severity"` // that findings have
	Confidence string                `json:"confidence"`
	Message    string                `json:"message"`
	Pattern    string                `json:"pattern"`
	Conditions json.RawMessage       `json:"conditions,omitempty"` // of a structure rule
	Multiline  bool                  `json:"multiline"`
	Redact     bool                  `json:"redact"`
	Include    []string              `json:"include,omitempty"`
	Exclude    []string              `json:"exclude,omitempty"`
	Languages  []string              `json:"languages,omitempty"`
	In         []rule.Place          `json:"in,omitempty"`
	Skip       []string              `json:"skip,omitempty"`
	Entropy    *rule.EntropyDocument `json:"entropy,omitempty"`
	Checksum   string                `json:"checksum,omitempty"`
	Stopwords  []string              `json:"stopwords,omitempty"`
	Allow      []string              `json:"allow,omitempty"`
	Supersedes []string              `json:"supersedes,omitempty"`
	Fix        *string               `json:"fix,omitempty"`
	rule.Taint
	Words      map[string]string `json:"words,omitempty"` // of a spelling rule, beside the common ones
	Match      []string          `json:"match,omitempty"`
	NoMatch    []string          `json:"no_match,omitempty"`
	References []string          `json:"references,omitempty"`
	Disabled   bool              `json:"disabled"`
	Overridden bool              `json:"overridden"`
	Cost       *cost             `json:"cost,omitempty"`
	File       *inFile           `json:"file,omitempty"` // how the rule looks at it

	rule          rule.Rule
	excludedFiles []string // by the rules file, from all rules
}

// cost is what a rule costs, as JSON has it.
type cost struct {
	Microseconds float64 `json:"microseconds_per_mib"`
	Weak         bool    `json:"weak"`
	Advice       string  `json:"advice,omitempty"`
}

func newKnown(r rule.Rule, ruleset string) known {
	var conditions json.RawMessage
	if len(r.Structure.Fields()) > 0 {
		conditions = rule.CompactJSON(r.Structure)
	}

	return known{
		ID: r.FullID(), Ruleset: ruleset, Type: r.Type, Severity: r.Severity.String(),
		Confidence: string(r.Sureness()), Message: r.Message, Pattern: r.Pattern, Multiline: r.Multiline,
		Redact: r.Redact, Disabled: r.Disabled, Checksum: r.Conditions.Checksum,
		Include: r.Paths.Include, Exclude: r.Paths.Exclude, Match: r.Cases.Match, NoMatch: r.Cases.NoMatch,
		References: r.References, Languages: r.Languages, In: r.In, Skip: r.Skip, rule: r,
		Entropy: r.Document().Entropy, Stopwords: r.Conditions.Stopwords, Allow: r.Conditions.Allow,
		Supersedes: r.Supersedes, Fix: r.Fix, Taint: r.Taint, Words: r.Words, Conditions: conditions,
	}
}

// loadKnown returns the default rules and those of a rules file, by id.
func loadKnown(ctx context.Context, path string) ([]known, error) {
	l, err := load(ctx, path)
	var mistakes *folder.RulesError
	if errors.As(err, &mistakes) {
		return nil, cli.Usagef("the rules file has mistakes, which `prwarden rules check` names all: %s",
			terminal.Safe(err.Error()))
	}

	if err != nil {
		return nil, err
	}
	return knownOf(l), nil
}

func knownOf(l *folder.Loaded) []known {
	off := map[string]bool{}
	for _, d := range l.File.Disable {
		off[rule.FullID(d.ID)] = true
	}
	changes := map[string]rule.Override{}
	for _, o := range l.File.Overrides {
		changes[rule.FullID(o.ID)] = o
	}

	var list []known
	for _, r := range l.Defaults {
		o, changed := changes[r.FullID()]
		r.Severity = cmp.Or(o.Severity, r.Severity)
		r.Paths.Exclude = slices.Concat(r.Paths.Exclude, o.Exclude)
		k := newKnown(r, rule.RulesetDefault)
		k.Disabled, k.Overridden = off[k.ID], changed
		list = append(list, k)
	}

	for _, r := range l.File.Rules {
		list = append(list, newKnown(r, l.Path))
	}
	for i := range list {
		list[i].excludedFiles = l.File.Exclude
	}
	slices.SortStableFunc(list, func(a, b known) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// List shows the rules that apply in a folder.
func List(ctx context.Context, st cli.Streams, in ListInput) error {
	if err := checkOutput(in.Output); err != nil {
		return err
	}
	least, ok := rule.ParseSeverity(cmp.Or(in.Severity, rule.Info.String()))
	if !ok {
		return cli.Usagef("--severity: %q is not a severity; use one of %s", in.Severity, rule.SeverityList())
	}
	all, err := loadKnown(ctx, in.File)
	if err != nil {
		return err
	}

	var list []known
	categories := map[string]bool{}
	for _, k := range all {
		category, _, _ := strings.Cut(k.ID, "/")
		categories[category] = true
		if (in.Category == "" || category == in.Category) && k.rule.Severity.AtLeast(least) {
			list = append(list, k)
		}
	}

	if in.Category != "" && !categories[in.Category] {
		return cli.Usagef("--category: no rule is in %q; use one of %s", in.Category,
			strings.Join(slices.Sorted(maps.Keys(categories)), ", "))
	}

	if in.Output == OutputJSON {
		return showJSON(st.Out, map[string]any{"rules": list})
	}
	return show(st.Out, listText(list, terminal.Width(st.Out, st.Lookup("COLUMNS"))))
}

// listText is a table of rules, as wide as the page.
func listText(list []known, width int) string {
	longest, off := 0, 0
	for _, k := range list {
		longest = max(longest, len(k.ID))
		if k.Disabled {
			off++
		}
	}

	var b strings.Builder
	for _, k := range list {
		message := strings.Join(strings.Fields(k.Message), " ")
		if k.Disabled {
			message = "(off) " + message
		}
		line := fmt.Sprintf("%-8s  %-6s  %-*s  %s", k.Severity, k.Confidence, longest, k.ID, terminal.Safe(message))
		b.WriteString(terminal.Cut(line, width) + "\n")
	}

	fmt.Fprintf(&b, "\n%s", terminal.Count(len(list), "rule"))
	if off > 0 {
		fmt.Fprintf(&b, ", %d of them off", off)
	}
	return b.String() + ".\n"
}

// Explain shows everything about a rule.
func Explain(ctx context.Context, st cli.Streams, in ExplainInput) error {
	if err := checkOutput(in.Output); err != nil {
		return err
	}
	all, err := loadKnown(ctx, in.File)
	if err != nil {
		return err
	}

	i := slices.IndexFunc(all, func(k known) bool { return k.ID == rule.FullID(in.ID) })
	if i < 0 {
		ids := make([]string, len(all))
		for i, k := range all {
			ids[i] = k.ID
		}
		if near := rule.NearestID(in.ID, ids); near != "" {
			return cli.Usagef("there is no rule %q; did you mean %s?", in.ID, near)
		}
		return cli.Usagef("there is no rule %q; `prwarden rules list` shows the rules", in.ID)
	}

	k := all[i]
	estimate, err := k.rule.Cost()
	if err != nil {
		return err
	}
	if in.In != "" {
		if k.File, err = k.in(in.In); err != nil {
			return err
		}
	}
	if in.Output == OutputJSON {
		micros := float64(estimate.PerMiB) / float64(time.Microsecond)
		k.Cost = &cost{micros, estimate.Weak, estimate.Advice}
		return showJSON(st.Out, k)
	}

	text := k.text(price(estimate))
	if k.File != nil {
		text += "\n" + k.File.text()
	}

	return show(st.Out, text)
}

// text shows the rule to people.
func (k known) text(price string) string {
	var b strings.Builder
	ruleset := "a rule of " + k.Ruleset
	if k.Ruleset == rule.RulesetDefault {
		ruleset = "a rule of the default ruleset"
	}
	fmt.Fprintf(&b, "%s  %s  %s\n", k.ID, k.Severity, ruleset)
	if k.Disabled {
		b.WriteString("The rules file disables it.\n")
	}
	if k.Overridden {
		b.WriteString("The rules file changes it.\n")
	}

	b.WriteString("\n")
	row := func(label string, texts ...string) {
		for _, text := range texts {
			for line := range strings.Lines(strings.TrimRight(text, "\n")) {
				fmt.Fprintf(&b, "%-11s%s\n", label, strings.TrimRight(line, "\r\n"))
				label = ""
			}
		}
	}

	row("Message", k.Message)
	row("Pattern", k.Pattern)
	row("Sources", conditions(k.Sources)...)
	row("Sinks", conditions(k.Sinks)...)
	row("Sanitizers", conditions(k.Sanitizers)...)
	row("Confidence", sureness[k.rule.Sureness()])
	row("Conditions", string(k.Conditions))
	row("Matched on", matchedOn(k.rule))
	row("Only in", strings.Join(rule.WordsOf(k.In), "  "))
	if len(k.Include) > 0 || len(k.Languages) == 0 {
		row("Files", cmp.Or(strings.Join(k.Include, "  "), "all"))
	}
	row("Languages", strings.Join(k.Languages, "  "))
	row("But not", strings.Join(k.Exclude, "  "))
	row("Skips", strings.Join(k.Skip, "  "))
	if k.Redact {
		row("Masked", "what it matches is shown nowhere: it is a secret")
	}
	if e := k.Entropy; e != nil {
		row("Only if", "its text looks random"+about(*e))
	}
	if k.Checksum != "" {
		row("Checksum", "its text ends in the right one, as a token of "+k.Checksum+" does")
	}
	row("Unless", strings.Join(k.Stopwords, "  "))
	row("Nor if", k.Allow...)
	row("Instead of", strings.Join(k.Supersedes, "  "))
	if k.rule.Type == rule.TypeSpelling {
		row("Words", fmt.Sprintf("common misspellings, and %d of the rule's own", len(k.Words)))
		row("Fix", "the word as it is spelt")
	}
	if k.Fix != nil {
		row("Fix", cmp.Or(*k.Fix, "what it matches is removed"))
	}
	row("Price", price)
	row("Finds", k.Match...)
	row("Leaves", k.NoMatch...)
	row("Read more", k.References...)

	b.WriteString("\n")
	if k.Ruleset == rule.RulesetDefault {
		fmt.Fprintf(&b, "To switch it off in this repository, write into %s:\n  disable: [%s]\n", rule.FilePath, k.ID)
	}
	fmt.Fprintf(&b, "To accept one finding, write on the line, or the one before, in a comment:\n"+
		"  prwarden:ignore %s -- why it is fine here\n", k.ID)
	return b.String()
}
