package rules

import (
	"cmp"
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// known is a rule and what a rules file does to it.
type known struct {
	rule.Rule
	file     string // the rules file that it is in, or that changes it; "" for neither
	line     int    // there
	off      bool   // disabled by the file
	override *rule.Override
}

// loadKnown returns the default rules and those of a rules file, by id. path is
// "" for the folder's file, if there is one.
func loadKnown(ctx context.Context, st cli.Streams, path string) ([]known, error) {
	builtIn, err := defaults.Load()
	if err != nil {
		return nil, err
	}
	var list []known
	for _, r := range builtIn {
		list = append(list, known{Rule: r})
	}

	if path == "" {
		if !hasLocalFile() {
			return list, nil
		}
		path = localFile()
	}

	data, err := read(path)
	if err != nil {
		return nil, err
	}
	c, file, err := check(ctx, path, data, builtIn, rule.Reading{NoCases: true})
	if err != nil {
		return nil, err
	}

	if !c.Valid {
		page{w: &cli.Checked{To: st.Err}}.printf("%s has mistakes, so some of it may be missing here; "+
			"`prwarden rules check` names them\n", terminal.Safe(path))
	}
	if file == nil {
		return list, nil
	}

	for i := range list {
		k := &list[i]
		for _, d := range file.Disable {
			if rule.FullID(d.ID) == k.FullID() {
				k.file, k.line, k.off = path, d.Line, true
			}
		}
		for n, o := range file.Overrides {
			if rule.FullID(o.ID) == k.FullID() {
				k.file, k.line, k.override = path, o.Line, &file.Overrides[n]
			}
		}
	}

	for i, r := range file.Rules {
		list = append(list, known{Rule: r, file: path, line: file.RuleLine(i)})
	}
	slices.SortStableFunc(list, func(a, b known) int { return cmp.Compare(a.FullID(), b.FullID()) })
	return list, nil
}

// severity is the one that findings have.
func (k known) severity() rule.Severity {
	if k.override != nil && k.override.Severity != 0 {
		return k.override.Severity
	}
	return k.Severity
}

// exclude are all globs of files that the rule does not look at.
func (k known) exclude() []string {
	if k.override == nil {
		return k.Paths.Exclude
	}
	return slices.Concat(k.Paths.Exclude, k.override.Exclude)
}

// ruleset names where the rule comes from.
func (k known) ruleset() string {
	if k.Origin == rule.OriginDefault {
		return rule.RulesetDefault
	}
	return k.file
}

// description is a rule as JSON has it: with the keys of a rules file, and what
// follows from it.
type description struct {
	ID         string   `json:"id"`
	Ruleset    string   `json:"ruleset"` // default, or the path of the rules file
	Type       string   `json:"type"`
	Severity   string   `json:"severity"`
	Message    string   `json:"message"`
	Pattern    string   `json:"pattern"`
	Multiline  bool     `json:"multiline"`
	Redact     bool     `json:"redact"`
	Include    []string `json:"include"`
	Exclude    []string `json:"exclude"`
	Match      []string `json:"match"`
	NoMatch    []string `json:"no_match"`
	References []string `json:"references"`
	Disabled   bool     `json:"disabled"`
	Overridden bool     `json:"overridden"`
	Cost       *price   `json:"cost,omitempty"`
}

func (k known) describe() description {
	filled := func(list []string) []string { return append([]string{}, list...) }
	d := description{
		ID: k.FullID(), Ruleset: k.ruleset(), Type: k.Type, Severity: k.severity().String(),
		Message: k.Message, Pattern: k.Pattern, Multiline: k.Multiline, Redact: k.Redact,
		Include: filled(k.Paths.Include), Exclude: filled(k.exclude()),
		Match: filled(k.Cases.Match), NoMatch: filled(k.Cases.NoMatch), References: filled(k.References),
		Disabled: k.off, Overridden: k.override != nil,
	}
	if cost, err := k.Cost(); err == nil {
		p := newPrice(cost)
		d.Cost = &p
	}
	return d
}
