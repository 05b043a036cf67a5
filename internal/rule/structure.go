package rule

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/spelling"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// MaxStructure is how many bytes what a structure rule asks has as JSON.
const MaxStructure = 8 << 10

// The types of rules.
const (
	TypeRegex     = "regex"     // an RE2 regular expression
	TypeStructure = "structure" // code as internal/structure has it
	TypeTaint     = "taint"     // values as internal/taint follows them
	TypeSpelling  = "spelling"  // misspelt words as internal/spelling knows them
)

// workOfStep is the work, as match.Limit has it, of a step of matching structure.
const workOfStep = 16

// asked is what a document asks beside its pattern.
func (d Document) asked() structure.Condition {
	return structure.Condition{
		Any: d.Any, All: d.All, Not: d.Not, Inside: d.Inside, NotInside: d.NotInside, Has: d.Has, Depth: d.Depth,
		Where: d.Where, Focus: d.Focus,
	}
}

// ask has a document ask what a rule asks beside its pattern.
func (d *Document) ask(c structure.Condition) {
	d.Any, d.All, d.Not, d.Inside, d.NotInside = c.Any, c.All, c.Not, c.Inside, c.NotInside
	d.Has, d.Depth, d.Where, d.Focus = c.Has, c.Depth, c.Where, c.Focus
}

// condition is what a structure rule looks for.
func (r Rule) condition() structure.Condition {
	c := r.Structure
	c.Pattern = r.Pattern

	return c
}

// checkPattern says what is wrong with the pattern of a rule, and adds what is wrong
// with other fields for its type.
func (r Rule) checkPattern(v *errs.Violations) error {
	r.checkTaint(v)
	r.checkSpelling(v)
	if r.Type != TypeStructure {
		for _, field := range r.Structure.Fields() {
			v.Add(field, "is for rules of type %q", TypeStructure)
		}
		if r.Type == TypeTaint || r.Type == TypeSpelling {
			return nil
		}
		if r.Pattern == "" {
			return errRequired
		}
		return match.CheckPattern(r.Pattern)
	}

	r.refuseOfRegex(v, "matches code over lines; see `where`")
	if len(r.Languages) == 0 {
		v.Add("languages", "is required with type %q: the pattern is read in them", TypeStructure)
	}
	if n := len(CompactJSON(r.Structure)); n > MaxStructure {
		v.Add("pattern", "has conditions of %d bytes beside it; at most %d are allowed", n, MaxStructure)
		return nil
	}

	return r.checkStructure(v)
}

// validStructure is what a structure rule asks, and its finders.
type validStructure struct {
	condition structure.Condition
	languages []string
	finders   perLanguage[structure.Finder]
}

// checkStructure reads what the rule asks in its languages.
func (r Rule) checkStructure(v *errs.Violations) error {
	var known perLanguage[structure.Finder]
	for i, name := range r.Languages {
		canonical, ok := language.Canonical(name)
		l := syntax.Named(canonical)
		switch {
		case !ok, known.in(l) != nil: // another error says so, or it is the same once more
			continue
		case l == nil || !l.IsStructured():
			v.Add(fmt.Sprintf("languages[%d]", i), "has no structure that is known; %s", structured())
			continue
		}

		finder, err := structure.Compile(l, r.condition())
		known.add(l, finder)
		var mistake *structure.Error
		switch {
		case !errors.As(err, &mistake):
		case mistake.Field == "" || mistake.Field == "pattern":
			return errors.New(mistake.Text + inLanguage(r, l))
		default:
			v.Add(mistake.Field, "%s", mistake.Text+inLanguage(r, l))
			return nil
		}
	}
	if r.valid != nil {
		*r.valid = validStructure{r.condition(), r.Languages, known}
	}

	return nil
}

// inLanguage names the language in which something is wrong, where there are several.
func inLanguage(r Rule, l *syntax.Language) string {
	if len(r.Languages) < 2 {
		return ""
	}

	return ", as " + l.Name + " is read"
}

func structured() string { return "known are " + strings.Join(syntax.Structured(), ", ") }

// finders reads what a structure rule asks in its languages.
func (r Rule) finders() (none perLanguage[structure.Finder]) {
	if r.Type != TypeStructure {
		return none
	}
	if x := r.valid; x != nil && slices.Equal(x.languages, r.Languages) &&
		reflect.DeepEqual(x.condition, r.condition()) {
		return x.finders
	}

	return readIn(r.Languages, func(l *syntax.Language) *structure.Finder {
		f, err := structure.Compile(l, r.condition())
		if err != nil {
			return nil
		}
		return f
	})
}

// ToMatch is the rule as the engine takes it, without its files and what it supersedes. A
// structure rule is looked for by the rarest words that its matches have.
func (r Rule) ToMatch() match.Rule { return r.toMatch(r.finders(), r.taints(), map[string]float64{}) }

func (r Rule) toMatch(
	own perLanguage[structure.Finder], t perLanguage[taintFinders], costs map[string]float64,
) match.Rule {
	switch r.Type {
	case TypeStructure, TypeTaint:
	case TypeSpelling:
		return match.Rule{
			Finder: spelling.NewList(r.Words), Placed: len(r.In) > 0, Conditions: r.Conditions,
		}
	default:
		return match.Rule{
			Pattern: r.Pattern, Multiline: r.Multiline, Placed: len(r.In) > 0, Conditions: r.Conditions,
		}
	}

	var sources, sinks []*structure.Finder
	for _, f := range t.by {
		sources, sinks = append(sources, f.read.sources...), append(sinks, f.read.sinks...)
	}
	for _, f := range own.by {
		sinks = append(sinks, f.read)
	}
	words, price := neededWords(sinks, costs)
	if others, less := neededWords(sources, costs); len(others) > 0 && less < price {
		words = others // a flow needs both ends
	}
	if len(words) == 0 {
		words = []string{`\b\B`} // of a rule that is not valid; it matches nowhere
	}

	return match.Rule{Pattern: strings.Join(words, "|"), Multiline: true, Structured: true}
}

// costOf is how often what a pattern matches is met.
func costOf(pattern string, known map[string]float64) float64 {
	cost, ok := known[pattern]
	if !ok {
		c, err := match.CostOf(pattern, true)
		if cost = c.Stops; err != nil || c.Weak {
			cost = 1e9
		}
		known[pattern] = cost
	}

	return cost
}

// MayFind implements match.Reader.
func (r PlaceReader) MayFind(text []byte, rule int) bool {
	if r.taints[rule].first != nil {
		return true
	}
	file := r.read(text)
	if r.asked == nil || r.language != file.Language {
		r.language, r.asked = file.Language, r.findersOf(file.Language)
	}

	return r.asked.MayFind(file, rule)
}

// findersOf are those of structure rules, by rule, for texts in a language.
func (p *Places) findersOf(l *syntax.Language) *structure.Finders {
	known, ok := p.byLanguage.Load(l)
	if !ok {
		all := make([]*structure.Finder, len(p.finders))
		for i := range all {
			all[i] = p.finders[i].of(l)
		}
		known, _ = p.byLanguage.LoadOrStore(l, structure.NewFinders(l, all))
	}

	return known.(*structure.Finders)
}

// Find implements match.Reader.
func (r PlaceReader) Find(
	text []byte, rule int, spend func(work int) bool, found func(match match.Span, also ...match.Span),
) {
	if r.taints[rule].first != nil {
		r.findFlows(text, rule, spend, found)
		return
	}
	file := r.read(text)
	finder := r.finders[rule].of(file.Language)
	if finder == nil {
		return
	}
	finder.All(file, func(steps int) bool { return spend(steps * workOfStep) }, func(m structure.Match) {
		if m.Focus.From < m.Focus.To {
			r.keep(rule, file, m)
			found(match.Span{Start: int(file.Tokens[m.Focus.From].Start), End: int(file.Tokens[m.Focus.To-1].End)})
		}
	})
}

// structure adds the readers of what a structure rule asks to those of a rule.
func (d *decoder) structure(r *Rule, known map[string]reader) {
	for name, read := range d.condition(&r.Structure) {
		if name != "pattern" {
			known[name] = read
		}
	}
}

// conditionOf reads a condition: a text, which is its pattern, or a mapping.
func (d *decoder) conditionOf(c *structure.Condition) reader {
	return func(n *yaml.Node, place string) {
		if n.Kind == yaml.ScalarNode {
			d.text(&c.Pattern)(n, place)
			return
		}
		d.mapping(n, place, d.condition(c))
	}
}

// condition are the readers of the fields of a condition.
func (d *decoder) condition(c *structure.Condition) map[string]reader {
	one := func(into **structure.Condition) reader {
		return func(n *yaml.Node, place string) {
			*into = &structure.Condition{}
			d.conditionOf(*into)(n, place)
		}
	}
	list := func(into *[]structure.Condition) reader {
		return func(n *yaml.Node, place string) {
			d.list(n, place, structure.MaxConditions, func(item *yaml.Node, place string) {
				var c structure.Condition
				d.conditionOf(&c)(item, place)
				*into = append(*into, c)
			})
		}
	}

	return map[string]reader{
		"pattern": d.text(&c.Pattern), "any": list(&c.Any), "all": list(&c.All), "not": one(&c.Not),
		"inside": one(&c.Inside), "not_inside": one(&c.NotInside), "has": one(&c.Has), "depth": d.text(&c.Depth),
		"where": d.where(&c.Where), "focus": d.text(&c.Focus),
	}
}

func (d *decoder) where(into *map[string]structure.Test) reader {
	return func(n *yaml.Node, place string) {
		known := map[string]reader{}
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			name := n.Content[i].Value
			known[name] = func(n *yaml.Node, place string) {
				var t structure.Test
				d.test(&t)(n, place)
				(*into)[name] = t
			}
		}
		*into = map[string]structure.Test{}
		d.mapping(n, place, known)
	}
}

func (d *decoder) test(t *structure.Test) reader {
	return func(n *yaml.Node, place string) {
		d.mapping(n, place, map[string]reader{
			"regex": d.text(&t.Regex), "is": d.text(&t.Is), "depth": d.text(&t.Depth),
			"any": func(n *yaml.Node, place string) {
				d.list(n, place, structure.MaxConditions, func(item *yaml.Node, place string) {
					var sub structure.Test
					d.test(&sub)(item, place)
					t.Any = append(t.Any, sub)
				})
			},
			"not": func(n *yaml.Node, place string) {
				t.Not = &structure.Test{}
				d.test(t.Not)(n, place)
			},
			"has": func(n *yaml.Node, place string) {
				t.Has = &structure.Condition{}
				d.conditionOf(t.Has)(n, place)
			},
			"entropy": func(n *yaml.Node, place string) {
				t.Entropy = &structure.Entropy{}
				d.mapping(n, place, map[string]reader{"min": d.fraction(&t.Entropy.Min)})
			},
		})
	}
}
