package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
)

// ExplainInput is what `rules explain` was asked for.
type ExplainInput struct {
	ID   string
	File string // a rules file; "" for the folder's, if there is one
	Look Look
}

// Explain shows everything about a rule.
func Explain(ctx context.Context, st cli.Streams, in ExplainInput) error {
	if err := in.Look.check(); err != nil {
		return err
	}
	all, err := loadKnown(ctx, st, in.File)
	if err != nil {
		return err
	}

	i := slices.IndexFunc(all, func(k known) bool { return k.FullID() == rule.FullID(in.ID) })
	if category, _, _ := strings.Cut(in.ID, "/"); category == rule.CategoryMeta {
		return cli.Usagef("%s is no rule: findings of %s/ are about the rules file and about comments "+
			"that suppress findings; docs/rules.md says what each means", in.ID, category)
	}

	if i < 0 {
		ids := make([]string, len(all))
		for i, k := range all {
			ids[i] = k.FullID()
		}
		if near := rule.NearestID(in.ID, ids); near != "" {
			return cli.Usagef("there is no rule %q; did you mean %s?", in.ID, near)
		}
		return cli.Usagef("there is no rule %q; `prwarden rules list` shows the rules", in.ID)
	}

	if in.Look.Output == OutputJSON {
		return writeJSON(st.Out, all[i].describe())
	}
	p := newPage(st, in.Look)
	all[i].explain(p)
	return p.end()
}

// label is the width of the words on the left.
const label = 11

// item prints lines of text beside a word, each wrapped.
func (p page) item(word string, lines ...string) {
	lead := p.paint.Text(terminal.Strong, terminal.Pad(word, label))
	for _, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range terminal.Wrap(terminal.Safe(line), p.width-label-len(indent)) {
			p.printf("%s%s%s\n", lead, indent, part)
			lead = strings.Repeat(" ", label)
		}
	}
}

// code prints texts beside a word as they are, made safe.
func (p page) code(word string, texts ...string) {
	lead := p.paint.Text(terminal.Strong, terminal.Pad(word, label))
	for _, text := range texts {
		for line := range strings.Lines(strings.TrimRight(text, "\n")) {
			visible := terminal.Safe(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
			p.printf("%s%s\n", lead, p.paint.Text(terminal.Cyan, visible))
			lead = strings.Repeat(" ", label)
		}
	}
}

// explain prints everything about the rule.
func (k known) explain(p page) {
	from := "a rule of the default ruleset"
	if k.Origin != rule.OriginDefault {
		from = fmt.Sprintf("a rule of %s, line %d", terminal.Safe(k.file), k.line)
	}
	p.printf("%s  %s  %s\n\n", p.paint.Text(terminal.Strong, k.FullID()),
		p.severity(k.severity(), k.severity().String()), from)
	p.item("Message", k.Message)
	if k.off {
		p.item("Off", fmt.Sprintf("%s disables it in line %d", k.file, k.line))
	}

	if o := k.override; o != nil {
		p.item("Changed", fmt.Sprintf("by %s in line %d; the default severity is %s", k.file, k.line, k.Severity))
	}
	p.code("Pattern", k.Pattern)
	p.item("", outline(k.Pattern, k.Multiline)...)
	on := "each added line on its own"
	if k.Multiline {
		on = "the whole file, when it touches an added line"
	}

	p.item("Matched on", on)
	switch {
	case len(k.Paths.Include) > 0:
		p.item("Files", strings.Join(k.Paths.Include, "  "))
	default:
		p.item("Files", "all")
	}

	if exclude := k.exclude(); len(exclude) > 0 {
		p.item("", "but not "+strings.Join(exclude, "  "))
	}
	if k.Redact {
		p.item("Masked", "what it matches is shown nowhere: it is a secret")
	}

	if cost, err := k.Cost(); err == nil {
		p.item("Price", strings.TrimPrefix(priceText(k.Rule, cost), "It costs "))
		if cost.Advice != "" {
			p.item("", cost.Advice)
		}
	}

	if len(k.Cases.Match) > 0 {
		p.code("Finds", k.Cases.Match...)
	}
	if len(k.Cases.NoMatch) > 0 {
		p.code("Leaves", k.Cases.NoMatch...)
	}

	if len(k.References) > 0 {
		p.item("Read more", k.References...)
	}
	p.printf("\n")
	if k.Origin == rule.OriginDefault {
		p.printf("In the rules file, %s:\n", rule.FilePath)
		p.printf("  disable: [%s]    # off in this repository\n", k.FullID())
		p.printf("  override:\n    %s: {severity: low, exclude: [\"docs/**\"]}\n", k.FullID())
	}
	p.printf("In the code, in a comment on the line or on the line before:\n")
	p.printf("  prwarden:ignore %s -- why it is fine here\n", k.ID)
}
