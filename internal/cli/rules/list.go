package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
)

// ListInput is what `rules list` was asked for.
type ListInput struct {
	File     string // a rules file; "" for the folder's, if there is one
	Severity string // rules that are as severe or more; "" for all
	Category string // "" for all
	Look     Look
}

// List shows the rules that apply in a folder.
func List(ctx context.Context, st cli.Streams, in ListInput) error {
	if err := in.Look.check(); err != nil {
		return err
	}
	least := rule.Info
	if in.Severity != "" {
		var ok bool
		if least, ok = rule.ParseSeverity(in.Severity); !ok {
			return cli.Usagef("--severity: %q is not a severity; use one of %s", in.Severity, rule.SeverityList())
		}
	}

	all, err := loadKnown(ctx, st, in.File)
	if err != nil {
		return err
	}
	var list []known
	categories := map[string]bool{}
	for _, k := range all {
		category, _, _ := strings.Cut(k.FullID(), "/")
		categories[category] = true
		if (in.Category == "" || category == in.Category) && k.severity().AtLeast(least) {
			list = append(list, k)
		}
	}

	if in.Category != "" && !categories[in.Category] {
		known := slices.Sorted(maps.Keys(categories))
		return cli.Usagef("--category: no rule is in %q; use one of %s", in.Category, strings.Join(known, ", "))
	}
	if in.Look.Output == OutputJSON {
		described := make([]description, len(list))
		for i, k := range list {
			described[i] = k.describe()
		}
		return writeJSON(st.Out, map[string]any{"rules": described})
	}

	p := newPage(st, in.Look)
	printList(p, list)
	return p.end()
}

// minMessage is the least of a message that is shown beside the rule.
const minMessage = 20

func printList(p page, list []known) {
	longest, off := 0, 0
	for _, k := range list {
		longest = max(longest, len(k.FullID()))
		if k.off {
			off++
		}
	}

	for _, k := range list {
		severity := terminal.Pad(k.severity().String(), len(rule.Critical.String()))
		message := k.Message
		if k.off {
			message = "(off) " + message
		}
		text := terminal.Safe(strings.Join(strings.Fields(message), " "))
		severity = p.severity(k.severity(), severity)
		if room := p.width - longest - 12; room >= minMessage {
			p.printf("%s  %s  %s\n", severity, terminal.Pad(k.FullID(), longest), terminal.Cut(text, room))
		} else {
			p.printf("%s  %s\n%10s%s\n", severity, k.FullID(), "", terminal.Cut(text, p.width-10))
		}
	}

	text := terminal.Count(len(list), "rule")
	if off > 0 {
		text += fmt.Sprintf(", %d of them off", off)
	}
	p.printf("\n%s.\n", text)
}

// severity paints a text in the colour of a severity.
func (p page) severity(s rule.Severity, text string) string {
	switch {
	case s.AtLeast(rule.High):
		return p.paint.Text(terminal.Red, text)
	case s.AtLeast(rule.Warning):
		return p.paint.Text(terminal.Yellow, text)
	}
	return p.paint.Text(terminal.Cyan, text)
}
