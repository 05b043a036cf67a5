// Package taint follows values inside the functions of a text: from where they come in,
// the sources, over assignments, to where they do harm, the sinks, unless a sanitizer is
// between. It knows no grammar: functions and statements are found by words, brackets
// and indentation.
//
// Statements count in the order of the text. An assignment from an expression that has a
// source or a tainted name taints what it assigns to, another one clears it; branches
// join by union. Find takes time in proportion to the text and to the places, and
// memory likewise.
package taint

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// MaxSteps is how many steps a flow has at most. Of a longer one the first and the last
// are kept.
const MaxSteps = 20

// Place is where a source, a sink or a sanitizer is.
type Place struct {
	structure.Range                 // of the match
	Focus           structure.Range // what counts of it; From is -1 for all of it
}

// Whole is a place of which all counts.
func Whole(r structure.Range) Place { return Place{Range: r, Focus: structure.Range{From: -1}} }

// PlaceOf is the place of a match.
func PlaceOf(m structure.Match) Place {
	if m.Focus == m.Range {
		return Whole(m.Range)
	}

	return Place{Range: m.Range, Focus: m.Focus}
}

func (p Place) counts() structure.Range {
	if p.Focus.From >= 0 {
		return p.Focus
	}

	return p.Range
}

// Places are where the sources, sinks and sanitizers of a rule are in a text.
type Places struct{ Sources, Sinks, Sanitizers []Place }

// Kind is what a step of a flow is.
type Kind uint8

// The kinds.
const (
	Source     Kind = iota // where the value comes in
	Assignment             // a name that gets it
	Sink                   // where it arrives
)

// Step is a place that a value passes, as tokens of the text.
type Step struct {
	structure.Range
	Kind Kind
}

// Flow is a way from a source to a sink.
type Flow struct {
	Source, Sink structure.Range
	from         int32 // the node whose value arrives
}

// Result is the flows in a text by where their sinks begin, one for each sink.
type Result struct {
	Flows []Flow
	nodes []node
}

// Find returns the flows in a text. It ends when spend, which counts steps, says stop.
func Find(text *syntax.Text, places Places, spend structure.Spend) Result {
	if len(places.Sources) == 0 || len(places.Sinks) == 0 {
		return Result{}
	}
	w := newWalker(text, places, spend)
	w.walk()
	slices.SortStableFunc(w.flows, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(a.Sink.From, b.Sink.From), cmp.Compare(a.Sink.To, b.Sink.To))
	})

	return Result{Flows: w.flows, nodes: w.nodes}
}

// Steps are those of a flow, from its source to its sink.
func (r Result) Steps(f Flow) []Step {
	steps := []Step{{f.Sink, Sink}}
	source := r.nodes[f.from].source
	for n := f.from; n != source && len(steps) < MaxSteps-1; n = r.nodes[n].parent {
		steps = append(steps, Step{r.nodes[n].Range, Assignment})
	}
	steps = append(steps, Step{f.Source, Source})
	slices.Reverse(steps)

	return steps
}

// node is a source, or an assignment of a value that comes from parent. The first one is
// none.
type node struct {
	structure.Range
	parent, source int32
}

// hit is a place in an expression that has a tainted value.
type hit struct {
	at        int32 // token
	sanitizer int32 // where the innermost sanitizer around it begins; -1 for none
	node      int32
}

// addNode adds an assignment, or a source when it has no parent.
func (w *walker) addNode(r structure.Range, parent int32) int32 {
	id := int32(len(w.nodes))
	n := node{Range: r, parent: parent, source: id}
	if parent != 0 {
		n.source = w.nodes[parent].source
	}
	w.nodes = append(w.nodes, n)

	return id
}

// hit adds a hit. One that others hide for each expression that has both is dropped: all
// questions are about the tokens from some place up to now.
func (w *walker) hit(at int, node int32) {
	h := hit{int32(at), w.sanitizer(at), node}
	f := w.function()
	if k := len(w.hits) - 1; k >= f.hits && w.hits[k].at == h.at {
		return // a source that begins with a tainted name
	}
	for len(w.hits) > f.hits && w.hits[len(w.hits)-1].sanitizer >= h.sanitizer && w.step(1) {
		w.hits = w.hits[:len(w.hits)-1]
	}
	w.hits = append(w.hits, h)
}

// tainted returns the node of a value in the tokens from a place up to now; 0 for none.
func (w *walker) tainted(from int) int32 {
	hits := w.hits[w.function().hits:]
	i, _ := slices.BinarySearchFunc(hits, int32(from), func(h hit, at int32) int { return cmp.Compare(h.at, at) })
	if i < len(hits) && hits[i].sanitizer < int32(from) {
		return hits[i].node
	}

	return 0
}

// sanitizer is where the innermost sanitizer around a token begins, or -1. Tokens are
// asked for in order.
func (w *walker) sanitizer(at int) int32 {
	for len(w.cleaners) > 0 && w.cleaners[len(w.cleaners)-1].To <= at {
		w.cleaners = w.cleaners[:len(w.cleaners)-1]
	}
	if k := len(w.cleaners) - 1; k >= 0 {
		return int32(w.cleaners[k].From)
	}

	return -1
}
