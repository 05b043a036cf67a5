package rule

import (
	"slices"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// perLanguage is what a rule asks, as it is read in each of its languages. The zero value
// asks nothing.
type perLanguage[T any] struct {
	by    []reading[T] // one for each language
	first *T           // of the rule's first language
}

// reading is what a rule asks as it is read in a language.
type reading[T any] struct {
	language *syntax.Language
	read     *T
}

// readIn reads what a valid rule asks in its languages. read returns nil for what it can't
// read.
func readIn[T any](languages []string, read func(*syntax.Language) *T) perLanguage[T] {
	var all perLanguage[T]
	for _, name := range languages {
		canonical, _ := language.Canonical(name)
		l := syntax.Named(canonical)
		if l == nil || all.in(l) != nil {
			continue
		}
		all.add(l, read(l))
	}

	return all
}

// add adds what was read in a language, unless that is nil.
func (p *perLanguage[T]) add(l *syntax.Language, read *T) {
	if read == nil {
		return
	}
	p.by = append(p.by, reading[T]{l, read})
	if p.first == nil {
		p.first = read
	}
}

// of is what counts for a text: code in markup is read in the rule's first language.
func (p perLanguage[T]) of(l *syntax.Language) *T {
	if own := p.in(l); own != nil {
		return own
	}

	return p.first
}

// in is what was read in a language, nil for nothing.
func (p perLanguage[T]) in(l *syntax.Language) *T {
	for _, x := range p.by {
		if x.language == l {
			return x.read
		}
	}

	return nil
}

// neededWords are regular expressions, ascending, of which one matches in each text in which
// one of some finders finds something, and how often what they match is met.
func neededWords(finders []*structure.Finder, costs map[string]float64) (words []string, price float64) {
	for _, f := range finders {
		words = append(words, f.Needs(func(word string) float64 { return costOf(word, costs) })...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for _, word := range words {
		price += costOf(word, costs)
	}

	return words, price
}

// refuseOfRegex adds those fields of a rule of another type that only a regular expression
// has.
func (r Rule) refuseOfRegex(v *errs.Violations, why string) {
	r.refuse(v, why, []givenField{
		{"multiline", r.Multiline}, {"in", len(r.In) > 0}, {"entropy", r.Conditions.Entropy != nil},
		{"checksum", r.Conditions.Checksum != ""}, {"stopwords", len(r.Conditions.Stopwords) > 0},
		{"allow", len(r.Conditions.Allow) > 0},
	})
}

// givenField is a field of a rule, and whether the rule has it.
type givenField struct {
	name  string
	given bool
}

// refuse adds those of some fields that are given and that the type of the rule can't have.
func (r Rule) refuse(v *errs.Violations, why string, fields []givenField) {
	for _, f := range fields {
		if f.given {
			v.Add(f.name, "is not allowed with type %q, which %s", r.Type, why)
		}
	}
}
