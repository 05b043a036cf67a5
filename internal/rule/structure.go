package rule

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// workOfStep is the work, as match.Limit has it, of a step of matching structure.
const workOfStep = 16

// checkPattern says what is wrong with the pattern of a rule, and adds what is wrong
// with other fields for its type.
func (r Rule) checkPattern(v *errs.Violations) error {
	if r.Pattern == "" {
		return errRequired
	}
	if r.Type != TypeStructure {
		return match.CheckPattern(r.Pattern)
	}

	for _, x := range []struct {
		field string
		given bool
	}{
		{"multiline", r.Multiline}, {"redact", r.Redact}, {"in", len(r.In) > 0},
		{"entropy", r.Conditions.Entropy != nil}, {"stopwords", len(r.Conditions.Stopwords) > 0},
		{"allow", len(r.Conditions.Allow) > 0}, {"supersedes", len(r.Supersedes) > 0},
	} {
		if x.given {
			v.Add(x.field, "is not allowed with type %q, which matches code over lines", TypeStructure)
		}
	}
	if len(r.Languages) == 0 {
		v.Add("languages", "is required with type %q: the pattern is read in them", TypeStructure)
	}
	for i, name := range r.Languages {
		canonical, ok := language.Canonical(name)
		l := syntax.Named(canonical)
		switch {
		case !ok: // another error says so
		case l == nil || !l.IsStructured():
			v.Add(fmt.Sprintf("languages[%d]", i), "has no structure that is known; %s", structured())
		default:
			if _, err := structure.Compile(l, r.Pattern); err != nil {
				return fmt.Errorf("in %s: %w", l.Name, err)
			}
		}
	}

	return nil
}

func structured() string { return "known are " + strings.Join(syntax.Structured(), ", ") }

// patterns are those of a structure rule by the language that they are read in, and the
// first of them.
type patterns struct {
	by    map[*syntax.Language]*structure.Pattern
	first *structure.Pattern
}

// patterns reads the pattern of a structure rule, which is valid, in its languages.
func (r Rule) patterns() patterns {
	all := patterns{by: map[*syntax.Language]*structure.Pattern{}}
	if r.Type != TypeStructure {
		return all
	}
	for _, name := range r.Languages {
		canonical, _ := language.Canonical(name)
		l := syntax.Named(canonical)
		if l == nil || all.by[l] != nil {
			continue
		}
		p, err := structure.Compile(l, r.Pattern)
		if err != nil {
			continue
		}
		all.by[l] = p
		if all.first == nil {
			all.first = p
		}
	}

	return all
}

// of is the pattern for a text: code in markup is read in the rule's first language.
func (p patterns) of(l *syntax.Language) *structure.Pattern {
	if own := p.by[l]; own != nil {
		return own
	}

	return p.first
}

// ToMatch is the rule as the engine takes it, without its files and what it supersedes. A structure rule is
// looked for by its rarest word.
func (r Rule) ToMatch() match.Rule {
	if r.Type != TypeStructure {
		return match.Rule{
			Pattern: r.Pattern, Multiline: r.Multiline, Placed: len(r.In) > 0, Conditions: r.Conditions,
		}
	}

	best, least := "", -1.0
	fold := "(?i)" // patterns of several languages have the same words
	p := r.patterns()
	if p.first != nil {
		for _, word := range p.first.Literals() {
			pattern := fold + regexp.QuoteMeta(word)
			c, err := match.CostOf(pattern, true)
			price := c.Stops
			if c.Weak {
				price = 1e9
			}
			if err == nil && (least < 0 || price < least) {
				best, least = pattern, price
			}
		}
	}
	if best == "" {
		best = regexp.QuoteMeta(r.Pattern)
	}

	return match.Rule{Pattern: best, Multiline: true, Structured: true}
}

// Find implements match.Reader.
func (r placeReader) Find(text []byte, rule int, spend func(work int) bool, found func(match.Span)) {
	read := r.read(text)
	p := r.patterns[rule].of(read.Language)
	if p == nil {
		return
	}
	p.All(read, func(steps int) bool { return spend(steps * workOfStep) }, func(m structure.Match) {
		found(match.Span{Start: int(read.Tokens[m.From].Start), End: int(read.Tokens[m.To-1].End)})
	})
}
