package rule

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/match"
)

// Advise returns what is allowed in a rules file and probably not meant, or
// costly, by place. defaults are the rules of the default ruleset. The file may
// be one with mistakes that ReadFile returned.
func (f *File) Advise(defaults []Rule) []Mistake {
	a := adviser{file: f, d: decoder{source: f.source, thorough: true}}
	a.ids(defaults)
	a.size()
	for i, glob := range f.Exclude {
		a.glob(indexed("exclude", i), glob)
		if glob == "**" || glob == "**/*" {
			a.top(
				indexed("exclude", i), "remove it, or name the files that are to be left out",
				"exclude: leaves out every file, so no rule looks at anything",
			)
		}
	}
	for _, o := range f.Overrides {
		for i, glob := range o.Exclude {
			a.glob(indexed("override "+o.ID+": exclude", i), glob)
		}
	}
	for i, r := range f.Rules {
		a.rule(i, r)
	}
	return byPlace(a.d.mistakes)
}

// adviser collects advice on one file.
type adviser struct {
	file *File
	d    decoder
}

// top advises on something outside of rules, by its name in mistakes.
func (a *adviser) top(name, hint, format string, args ...any) {
	if n, ok := a.file.nodes[name]; ok {
		a.d.failAt(n, hint, format, args...)
	}
}

// field advises on a field of the rule with index i.
func (a *adviser) field(i int, field, hint, format string, args ...any) {
	if n := a.file.fields[i].node(field); n != nil {
		a.d.failAt(n, hint, "rules[%d].%s: %s", i, field, fmt.Sprintf(format, args...))
	}
}

// ids advises on ids that are to be those of default rules.
func (a *adviser) ids(defaults []Rule) {
	known := map[string]bool{}
	ids := make([]string, len(defaults))
	for i, r := range defaults {
		ids[i] = r.FullID()
		known[ids[i]] = true
	}
	hint := func(id string) string {
		if near := NearestID(id, ids); near != "" {
			return "did you mean `" + near + "`?"
		}
		return "correct the id, or remove it; `prwarden rules list` shows the default rules"
	}
	off := map[string]bool{}
	for i, x := range a.file.Disable {
		off[FullID(x.ID)] = true
		if !known[FullID(x.ID)] {
			a.top(
				indexed("disable", i), hint(x.ID),
				"disable[%d]: %s is not a rule of the default ruleset, so it can't be disabled", i, x.ID,
			)
		}
	}
	for _, x := range a.file.Overrides {
		switch {
		case !known[FullID(x.ID)]:
			a.top("override "+x.ID, hint(x.ID), "override: %s is not a rule of the default ruleset, so nothing changes", x.ID)
		case off[FullID(x.ID)]:
			a.top("override "+x.ID, "remove it under `disable` or here", "override: %s is disabled, so nothing changes", x.ID)
		}
	}
}

// NearestID returns the one of full ids that a mistyped id was meant to be, or
// "": also one with the same name in another category.
func NearestID(id string, ids []string) string {
	_, name, _ := strings.Cut(FullID(id), "/")
	for _, other := range ids {
		if _, its, _ := strings.Cut(other, "/"); its == name {
			return other
		}
	}
	if near := nearest(FullID(id), ids); near != "" {
		return near
	}
	names := make([]string, len(ids))
	for i, other := range ids {
		_, names[i], _ = strings.Cut(other, "/")
	}
	if near := nearest(name, names); near != "" {
		for i, n := range names {
			if n == near {
				return ids[i]
			}
		}
	}
	return ""
}

// size advises on files that are too large for a repository.
func (a *adviser) size() {
	if n := len(a.file.source.text); n > MaxFileSize {
		a.d.fail(1, "the file has %d bytes; as the rules file of a repository it may have %d", n, MaxFileSize)
	}
	if n := len(a.file.Rules); n > MaxFileRules {
		a.d.add(Mistake{
			Line:    a.file.lines[MaxFileRules],
			Message: fmt.Sprintf("the file has %d rules; as the rules file of a repository it may have %d", n, MaxFileRules),
		})
	}
}

// globAdvice says what is probably not meant by a glob.
func globAdvice(glob string) (advice, hint string) {
	switch {
	case regexp.MustCompile(`\\[A-Za-z0-9*]`).MatchString(glob):
		return "a backslash takes away the meaning of the next character", "write `" + strings.ReplaceAll(glob, `\`,
			"/") + "`, with `/` between folders"
	case strings.HasPrefix(glob, "!"):
		return "matches only paths that begin with `!`", "list what is left out under `exclude`"
	case !strings.Contains(glob, "/") && strings.ContainsAny(glob, "*?") && strings.Trim(glob, "*") != "":
		return "matches files in the root folder only", "write `**/" + glob + "` for all folders"
	}
	return "", ""
}

func (a *adviser) glob(name, glob string) {
	if advice, hint := globAdvice(glob); advice != "" {
		a.top(name, hint, "%s: %s", name, advice)
	}
}

// rule advises on the rule with index i.
func (a *adviser) rule(i int, r Rule) {
	for _, list := range []struct {
		field string
		globs []string
	}{{"paths.include", r.Paths.Include}, {"paths.exclude", r.Paths.Exclude}} {
		for k, glob := range list.globs {
			if advice, hint := globAdvice(glob); advice != "" {
				a.field(i, indexed(list.field, k), hint, "%s", advice)
			}
		}
	}
	if category, _, _ := strings.Cut(r.FullID(), "/"); category == "secrets" && !r.Redact {
		a.field(i, "id", "add `redact: true`", "a rule of secrets/ without `redact` shows the secret in every report")
	}
	if match.CheckPattern(r.Pattern) != nil {
		return
	}
	if len(r.Cases.Match) == 0 && regexp.MustCompile(`\\\\[.()\[\]{}dswb]`).MatchString(r.Pattern) {
		a.field(
			i, "pattern",
			"in single quotes of YAML, and without quotes, write one; or add a case under `cases: {match: […]}`",
			"two backslashes match one backslash in the text",
		)
	}
	if re, err := syntax.Parse(r.Pattern, syntax.Perl); err == nil && !r.Multiline && needsNewline(re) {
		a.field(
			i, "pattern", "add `multiline: true`",
			"can never match, because it has \\n and lines are matched without their ends",
		)
	} else if cost, err := r.Cost(); err == nil && cost.Advice != "" {
		// The last sentence says what to do.
		why, what := cost.Advice, ""
		if end := strings.LastIndex(strings.TrimSuffix(why, "."), ". "); end > 0 {
			why, what = why[:end], strings.TrimSuffix(why[end+2:], ".")
			what = strings.ToLower(what[:1]) + what[1:]
		}
		a.field(i, "pattern", what, "costs %v for a MiB of code. %s", cost.PerMiB.Round(time.Microsecond), why)
	}
}

// needsNewline says whether every match of a pattern has a "\n".
func needsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			if needsNewline(sub) {
				return true
			}
		}
	case syntax.OpRepeat:
		return re.Min > 0 && needsNewline(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsNewline(sub) {
				return false
			}
		}
		return true
	}
	return false
}
