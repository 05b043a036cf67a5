package rule

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// Place is a part of a file as its language has it.
type Place string

// The places. What is neither a comment nor in a string is code.
const (
	InCode    Place = "code"
	InComment Place = "comment"
	InString  Place = "string"
)

// MaxPlaces is how many places a rule may have.
const MaxPlaces = 3

var placeNames = []Place{InCode, InComment, InString} // as syntax.Class has them

// PlacesOf are places by their words, whether or not there are such; nil for none.
func PlacesOf(words []string) []Place {
	var all []Place
	for _, word := range words {
		all = append(all, Place(word))
	}

	return all
}

// WordsOf are places as words.
func WordsOf(in []Place) []string {
	var all []string
	for _, place := range in {
		all = append(all, string(place))
	}

	return all
}

// checkPlaces says what is wrong with the places of a rule.
func checkPlaces(v *errs.Violations, in []Place) {
	if len(in) > MaxPlaces {
		v.Add("in", "has %d entries; at most %d are allowed", len(in), MaxPlaces)
		return
	}
	for i, place := range in {
		switch {
		case !slices.Contains(placeNames, place):
			v.Add(fmt.Sprintf("in[%d]", i), "%s is not a place; use %s, %s or %s",
				strings.TrimSpace(shown(string(place), "this")), InCode, InComment, InString)
		case slices.Contains(in[:i], place):
			v.Add(fmt.Sprintf("in[%d]", i), "%s is there twice", place)
		}
	}
}

// Places say where rules match that look at more than bytes, by the indexes of the rules.
type Places struct {
	allowed    [][3]bool
	finders    []perLanguage[structure.Finder] // of structure rules
	byLanguage sync.Map                        // see findersOf
	taints     []perLanguage[taintFinders]     // of taint rules
	fixers     []*fixer                        // nil for rules without a fix
	costs      map[string]float64              // see costOf
}

// ToMatch is Rule.ToMatch of the rule with an index. It is called by one goroutine at a time.
func (p *Places) ToMatch(rules []Rule, i int) match.Rule {
	return rules[i].toMatch(p.finders[i], p.taints[i], p.costs)
}

// NewPlaces returns the places of rules.
func NewPlaces(rules []Rule) *Places {
	p := &Places{
		allowed: make([][3]bool, len(rules)),
		finders: make([]perLanguage[structure.Finder], len(rules)),
		taints:  make([]perLanguage[taintFinders], len(rules)),
		fixers:  make([]*fixer, len(rules)),
		costs:   map[string]float64{},
	}
	for i, r := range rules {
		p.finders[i], p.taints[i], p.fixers[i] = r.finders(), r.taints(), newFixer(r)
		for _, place := range r.In {
			if class := slices.Index(placeNames, place); class >= 0 {
				p.allowed[i][class] = true
			}
		}
	}

	return p
}

// Reader reads a text in the first of some languages that is known.
func (p *Places) Reader(languages []string) PlaceReader {
	l := syntax.Any
	for _, name := range languages {
		if canonical, ok := language.Canonical(name); ok && syntax.Named(canonical) != nil {
			l = syntax.Named(canonical)
			break
		}
	}
	var read *structure.File

	return p.ReaderOf(func(text []byte) *structure.File {
		if read == nil {
			read = structure.NewFile(syntax.Scan(l, text))
		}
		return read
	})
}

// ReaderOf reads texts as a function does.
func (p *Places) ReaderOf(read func(text []byte) *structure.File) PlaceReader {
	return PlaceReader{p, read, &memory{}}
}

// PlaceReader finds the places of rules in a file. It is for one goroutine at a time.
type PlaceReader struct {
	*Places
	read func(text []byte) *structure.File
	*memory
}

// memory is what rules found in a file, by rule.
type memory struct {
	flows   map[int]flows                 // what a taint rule found last
	kept    map[keptPlace]structure.Match // what structure rules with a fix found
	regexps map[int]*regexp.Regexp
	fixWork int // see maxFixWork

	language *syntax.Language   // that was asked for last
	asked    *structure.Finders // of it
}

// Allows implements match.Reader: the first byte of a match that is no blank decides.
func (r PlaceReader) Allows(text []byte, rule int, span match.Span) bool {
	at := span.Start
	if matched := text[span.Start:span.End]; len(bytes.TrimSpace(matched)) > 0 {
		at = span.End - len(bytes.TrimLeft(matched, " \t\r\n"))
	}

	return r.allowed[rule][r.read(text).Class(at)]
}
