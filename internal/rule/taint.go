package rule

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
	"github.com/prwarden/prwarden/internal/taint"
)

// Bounds of a taint rule.
const (
	MaxPlacesOfTaint = 50       // in each list of Taint
	MaxTaint         = 16 << 10 // bytes of all lists, as JSON
)

// Taint is where values of a taint rule come in, where they must not arrive, and what
// makes them harmless.
type Taint struct {
	Sources    []structure.Condition `json:"sources,omitempty" yaml:"sources,omitempty"`
	Sinks      []structure.Condition `json:"sinks,omitempty" yaml:"sinks,omitempty"`
	Sanitizers []structure.Condition `json:"sanitizers,omitempty" yaml:"sanitizers,omitempty"`
}

// lists are those of a taint rule by the names of their fields.
func (t *Taint) lists() []taintList {
	return []taintList{{"sources", &t.Sources}, {"sinks", &t.Sinks}, {"sanitizers", &t.Sanitizers}}
}

type taintList struct {
	field string
	list  *[]structure.Condition
}

// IsZero says whether nothing was given.
func (t Taint) IsZero() bool { return len(t.Sources)+len(t.Sinks)+len(t.Sanitizers) == 0 }

// checkTaint adds what is wrong with what a taint rule asks.
func (r Rule) checkTaint(v *errs.Violations) {
	if r.Type != TypeTaint {
		for _, x := range r.Taint.lists() {
			if len(*x.list) > 0 {
				v.Add(x.field, "is for rules of type %q", TypeTaint)
			}
		}
		return
	}
	if r.Pattern != "" {
		v.Add("pattern", "is not allowed with type %q, which has `sources` and `sinks`", TypeTaint)
	}
	const why = "follows values through code"
	r.refuseOfRegex(v, why)
	if r.Redact {
		v.Add("redact", "is not allowed with type %q, which %s", TypeTaint, why)
	}
	for _, x := range r.Taint.lists() {
		switch n := len(*x.list); {
		case n == 0 && x.field != "sanitizers":
			v.Add(x.field, "is required with type %q", TypeTaint)
		case n > MaxPlacesOfTaint:
			v.Add(x.field, "has %d entries; at most %d are allowed", n, MaxPlacesOfTaint)
			return
		}
	}
	if n := len(CompactJSON(r.Taint)); n > MaxTaint {
		v.Add("sources", "has with sinks and sanitizers %d bytes; at most %d are allowed", n, MaxTaint)
		return
	}
	r.checkTaintIn(v)
}

// checkTaintIn reads what a taint rule asks in its languages.
func (r Rule) checkTaintIn(v *errs.Violations) {
	if len(r.Languages) == 0 {
		v.Add("languages", "is required with type %q: the patterns are read in them", TypeTaint)
	}
	for i, name := range r.Languages {
		canonical, ok := language.Canonical(name)
		if !ok {
			continue // another error says so
		}
		l := syntax.Named(canonical)
		if l == nil || !taint.Knows(l) {
			v.Add(fmt.Sprintf("languages[%d]", i), "has no functions that are known; known are %s",
				strings.Join(taint.Languages(), ", "))
			continue
		}
		before := len(*v)
		for _, x := range r.Taint.lists() {
			for k, c := range *x.list {
				if _, err := structure.Compile(l, c); err != nil {
					addMistake(v, fmt.Sprintf("%s[%d]", x.field, k), err, inLanguage(r, l))
				}
			}
		}
		if len(*v) > before {
			return
		}
	}
}

// addMistake adds what is wrong with a condition.
func addMistake(v *errs.Violations, field string, err error, where string) {
	text := err.Error()
	if mistake := new(structure.Error); errors.As(err, &mistake) {
		text = mistake.Text
		if mistake.Field != "" {
			field += "." + mistake.Field
		}
	}
	v.Add(field, "%s", text+where)
}

// taint adds the readers of what a taint rule asks to those of a rule.
func (d *decoder) taint(r *Rule, known map[string]reader) {
	for _, x := range r.Taint.lists() {
		known[x.field] = func(n *yaml.Node, place string) {
			d.list(n, place, MaxPlacesOfTaint, func(item *yaml.Node, place string) {
				var c structure.Condition
				d.conditionOf(&c)(item, place)
				*x.list = append(*x.list, c)
			})
		}
	}
}

// taintFinders find the places of a taint rule in a language.
type taintFinders struct{ sources, sinks, sanitizers []*structure.Finder }

// taints reads what a taint rule asks in its languages.
func (r Rule) taints() (none perLanguage[taintFinders]) {
	if r.Type != TypeTaint {
		return none
	}

	return readIn(r.Languages, func(l *syntax.Language) *taintFinders {
		read := func(list []structure.Condition) (finders []*structure.Finder) {
			for _, c := range list {
				if finder, err := structure.Compile(l, c); err == nil {
					finders = append(finders, finder)
				}
			}
			return finders
		}
		return &taintFinders{read(r.Taint.Sources), read(r.Taint.Sinks), read(r.Taint.Sanitizers)}
	})
}

// TaintStep is a place that a value passes in a text.
type TaintStep struct {
	Kind taint.Kind
	match.Span
}

// flows are what a taint rule found in a text.
type flows struct {
	text   *syntax.Text
	result taint.Result
}

// findFlows finds the sinks at which values of a taint rule arrive.
func (r PlaceReader) findFlows(
	text []byte, rule int, spend func(work int) bool, found func(match match.Span, also ...match.Span),
) {
	file := r.read(text)
	finders := r.taints[rule].of(file.Language)
	if finders == nil {
		return
	}
	step := func(steps int) bool { return spend(steps * workOfStep) }
	places := func(list []*structure.Finder) (all []taint.Place) {
		for _, finder := range list {
			finder.All(file, step, func(m structure.Match) { all = append(all, taint.PlaceOf(m)) })
		}
		return all
	}
	var p taint.Places
	if p.Sinks = places(finders.sinks); len(p.Sinks) == 0 {
		return
	}
	if p.Sources = places(finders.sources); len(p.Sources) == 0 {
		return
	}
	p.Sanitizers = places(finders.sanitizers)

	result := taint.Find(file.Text, p, step)
	if r.flows == nil {
		r.flows = map[int]flows{}
	}
	r.flows[rule] = flows{file.Text, result}
	for _, f := range result.Flows {
		found(spanOf(file.Text, f.Sink), spanOf(file.Text, f.Source))
	}
}

func spanOf(t *syntax.Text, r structure.Range) match.Span {
	return match.Span{Start: int(t.Tokens[r.From].Start), End: int(t.Tokens[r.To-1].End)}
}

// maxSinksAround bounds how many sinks are looked at that begin before a place.
const maxSinksAround = 100

// Steps are those of the value that a taint rule found last at a place of a text: the one
// whose sink has it; nil for none.
func (r PlaceReader) Steps(text []byte, rule, at int) (steps []TaintStep) {
	known, ok := r.flows[rule]
	if !ok || !known.text.IsOf(text) {
		return nil
	}
	all := known.result.Flows
	behind := sort.Search(len(all), func(i int) bool { return spanOf(known.text, all[i].Sink).Start > at })
	for k := behind - 1; k >= max(0, behind-maxSinksAround); k-- {
		if spanOf(known.text, all[k].Sink).End <= at {
			continue
		}
		for _, s := range known.result.Steps(all[k]) {
			steps = append(steps, TaintStep{s.Kind, spanOf(known.text, s.Range)})
		}
		break
	}

	return steps
}
