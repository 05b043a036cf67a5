// Package choose is the third stage of the engine: of all that a match is sure
// to have it picks what is cheapest to look for.
//
// To find one of a clause's sequences, the filter looks for a window of it, up
// to four bytes long. Which one matters more than anything else in the engine:
// of "\bgetRequestHeader\(", the window "estH" is expected three times in a MiB
// of code, and "uest" two hundred times. So each window has a price, the
// expected number of places at which the filter will stop for it in a MiB of
// code, taken from the frequencies of package ngram; the price of a clause is
// that of the best windows of its alternatives; and the cheapest clause is what
// the rule is found by.
//
// There are three kinds of windows, for three ways of looking:
//
//	Grams  four bytes (the first or last of them any, if there are but three),
//	       small sets multiplied out: "SK[0-9a-f]{32}" is found by S K [0-9a-f]
//	       [0-9a-f], which is 256 grams, and by any S K [0-9a-f], 2,048
//	Pair   two bytes, when that is all there is: "${"
//	Run    a long run of one set, as in "[A-Za-z0-9+/]{94,}", of which it is
//	       enough to look at every 94th byte
//
// A rule that has none of these at a tolerable price is weak: it has to be
// tried on every line.
package choose

import (
	"math"
	"slices"

	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/filter"
	"github.com/prwarden/prwarden/internal/match/ngram"
)

// Window is a part of an alternative that the filter looks for.
type Window struct {
	Kind filter.Kind
	Alt  extract.Alternative
	At   int // offset in Alt.Seq of its first byte
	Len  int // bytes
}

// Choice is what a rule is found by.
type Choice struct {
	Windows []Window // none: nothing is cheap enough, the rule is weak
	Price   float64  // places to stop at, per MiB of code
}

const (
	gramLen  = 4
	maxGrams = 6000
	maxPairs = 4096
	minRun   = 12
	// gramPrice is what each gram costs beside its own places: about one place
	// in a MiB looks like it.
	gramPrice = 1
	// pairPrice is what the pass over the text costs that pairs need.
	pairPrice = 9000
	// rareByte is what it costs to look at a place of a rare byte.
	rareByte = 0.2
	// runLook and runByte are the price of looking for a run at one place, and of
	// each byte that this takes.
	runLook = 0.3
	runByte = 0.05
	// wholeLine is how many times as much a place costs when the whole line has
	// to be tried, as the begin of the match is not known.
	wholeLine = 3
	// Weak is the price over which a rule is tried on every line instead.
	Weak = 1 << 20 / 12
)

// AnyByte is what stands at places of a window of which nothing is known.
var AnyByte = extract.Range(0, 0xFF)

// Best picks the cheapest clause and its windows.
func Best(clauses []extract.Clause) Choice {
	best := Choice{Price: Weak}
	for _, c := range clauses {
		if windows, price := windowsOf(c, best.Price); price < best.Price {
			best = Choice{Windows: windows, Price: price}
		}
	}

	return best
}

// Cost is the price of a clause, for package extract.
func Cost(c extract.Clause) float64 {
	_, price := windowsOf(c, 1<<30)
	return price
}

// windowsOf picks a window of each alternative, all of one kind, so that no
// place is found in two ways; or gives up when they cost as much as limit.
func windowsOf(c extract.Clause, limit float64) (windows []Window, price float64) {
	stop := 1.0
	if slices.ContainsFunc(c, func(a extract.Alternative) bool { return a.Start == extract.Unknown }) {
		stop = wholeLine
	}

	for _, kind := range []filter.Kind{filter.Grams, filter.Pair, filter.Run} {
		if list, p := windowsOfKind(c, kind, stop, limit); p < limit {
			windows, limit = list, p
		}
	}

	return windows, limit
}

func windowsOfKind(c extract.Clause, kind filter.Kind, stop, limit float64) (windows []Window, price float64) {
	if kind == filter.Run {
		stop = wholeLine
	}
	for _, alt := range c {
		list, costs := windowsOfAlternative(alt, kind)
		for i, w := range list {
			if i := slices.IndexFunc(windows, w.same); i >= 0 {
				windows[i] = union(windows[i], w) // one look finds both
				continue
			}
			if price += costs[i].look + costs[i].stops*stop; price >= limit {
				return nil, limit
			}
			if kind == filter.Run && len(windows) > 0 && w.Sets()[0] != windows[0].Sets()[0] {
				return nil, limit // each set is looked for by itself
			}
			windows = append(windows, w)
		}
	}

	return windows, price
}

// cost is what a window costs in a MiB of code: to look for it, and how often
// the filter stops for it.
type cost struct{ look, stops float64 }

func (c cost) sum() float64 { return c.look + c.stops }

// none is the cost of what can't be looked for.
var none = cost{look: 1 << 30}

// windowsOfAlternative picks the cheapest windows of a sequence.
func windowsOfAlternative(alt extract.Alternative, kind filter.Kind) ([]Window, []cost) {
	switch kind {
	case filter.Grams:
		return gramsOf(alt)
	case filter.Pair:
		w, c := pairOf(alt)
		return []Window{w}, []cost{c}
	}
	w, c := runOf(alt)

	return []Window{w}, []cost{c}
}

// aBitMore is the price of a window for which it is not worth while to look for
// others that are hardly ever better.
const aBitMore = 200

// gramsOf picks two windows, the best at an even and the best at an odd offset:
// the filter looks at every other place only. Each is met half of the time.
func gramsOf(alt extract.Alternative) ([]Window, []cost) {
	best, costs := [2]Window{}, [2]cost{none, none}
	offer := func(parity int, w Window) {
		sets := w.Sets()
		grams := count(sets)
		if grams > maxGrams {
			return
		}
		if c := (cost{look: gramPrice * float64(grams), stops: ngram.Rate(sets) / 2}); c.sum() < costs[parity].sum() {
			best[parity], costs[parity] = w, c
		}
	}
	seq := alt.Seq

	for i := 0; i+gramLen-1 <= len(seq); i++ {
		offer(i&1, Window{Kind: filter.Grams, Alt: alt, At: i, Len: min(len(seq)-i, gramLen)})
	}
	if len(seq) >= gramLen-1 && costs[1].sum() > aBitMore {
		// Any byte before the first three is at an odd offset too.
		longer := extract.Alternative{Seq: append(extract.Seq{AnyByte}, seq...), Start: alt.Start}
		if alt.Start != extract.Unknown {
			longer.Start--
		}
		offer(1, Window{Kind: filter.Grams, Alt: longer, Len: gramLen})
	}

	return best[:], costs[:]
}

// pairOf picks a pair. One that begins with a rare byte is looked for by that
// byte, others need a pass over the text of their own.
func pairOf(alt extract.Alternative) (Window, cost) {
	best, least := Window{}, none
	for i := 0; i+2 <= len(alt.Seq); i++ {
		w := Window{Kind: filter.Pair, Alt: alt, At: i, Len: 2}
		if alt.Seq[i].Len()*alt.Seq[i+1].Len() > maxPairs {
			continue
		}
		c := cost{look: pairPrice, stops: ngram.Rate(w.Sets())}
		if filter.IsRare(alt.Seq[i]) {
			c.look = rareByte * ngram.Rate(alt.Seq[i:i+1])
		}
		if c.sum() < least.sum() {
			best, least = w, c
		}
	}

	return best, least
}

func runOf(alt extract.Alternative) (Window, cost) {
	best, least := Window{}, none
	seq := alt.Seq
	for i, n := 0, 0; i < len(seq); i += n {
		for n = 1; i+n < len(seq) && seq[i+n] == seq[i]; n++ {
		}
		if n < minRun {
			continue
		}
		// A run of the set is as likely as if its bytes were drawn one by one.
		p := share(seq[i])
		c := cost{look: 1 << 20 / float64(n) * (runLook + runByte/(1.05-p)), stops: 1 << 20 * math.Pow(p, float64(n))}
		if c.sum() < least.sum() {
			best, least = Window{Kind: filter.Run, Alt: alt, At: i, Len: n}, c
		}
	}

	return best, least
}

// share is the part of the bytes of code that is in a set.
func share(set extract.Set) float64 { return ngram.Rate(extract.Seq{set}) / (1 << 20) }

// Grams is the number of grams that a choice has the filter look for.
func (c Choice) Grams() int {
	n := 0
	for _, w := range c.Windows {
		if w.Kind == filter.Grams {
			n += count(w.Sets())
		}
	}

	return n
}

// count is the number of grams that a window stands for. A byte of which
// nothing is known has 128 values, as the filter folds them.
func count(window extract.Seq) int {
	grams := 1
	for _, s := range window {
		grams *= min(s.Fold().Len(), 128)
	}
	if len(window) < gramLen {
		grams *= 128
	}

	return grams
}

// same says whether two windows are found at the same places and lead to the
// same begin of a match.
func (w Window) same(v Window) bool {
	return w.Kind == v.Kind && w.Len == v.Len && w.begin() == v.begin() &&
		slices.Equal(w.Sets(), v.Sets())
}

// Sets is the window's bytes.
func (w Window) Sets() extract.Seq { return w.Alt.Seq[w.At : w.At+w.Len] }

// begin is where the match begins, before the window, or extract.Unknown.
func (w Window) begin() int {
	if w.Alt.Start == extract.Unknown {
		return extract.Unknown
	}

	return w.Alt.Start + w.At
}

// union is a window that is found where two are that are the same. Around it,
// the sequence is what either has, as far as both go.
func union(a, b Window) Window {
	before := min(a.At, b.At)
	behind := min(len(a.Alt.Seq)-a.At, len(b.Alt.Seq)-b.At)
	seq := make(extract.Seq, before+behind)
	for i := range seq {
		seq[i] = a.Alt.Seq[a.At-before+i].Union(b.Alt.Seq[b.At-before+i])
	}
	start := a.begin()
	if start != extract.Unknown {
		start -= before
	}

	return Window{Kind: a.Kind, Alt: extract.Alternative{Seq: seq, Start: start}, At: before, Len: a.Len}
}
