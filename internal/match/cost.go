package match

import (
	"time"

	"github.com/prwarden/prwarden/internal/match/choose"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/ngram"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// Cost is what a rule is expected to cost on code of all kinds, from how often
// the bytes occur in it that the rule is found by. It does not depend on the
// machine.
type Cost struct {
	// Stops is how often the engine stops for the rule in a MiB of code to look
	// closer. A word of eight letters costs about ten, three letters a thousand.
	Stops float64
	// Weak says that the rule has nothing that the engine could look for, so
	// that it is tried on every line, or on every file when it is multiline.
	Weak bool
	// By is the text that the rule is found by or, when there are several, that
	// which is met more often than all others: at most 40 characters of printable
	// ASCII, letters in lower case where either case is looked for. It is empty
	// when there is no such text: the rule is weak, found by many, or by classes,
	// as `[0-9]{4}` is.
	By string
}

// stopTime is what a stop costs about, measured.
const stopTime = 40 * time.Nanosecond

// weakTime is what a weak rule costs about in a MiB, measured.
const weakTime = 3 * time.Millisecond

// ordinaryStops is about what an ordinary rule costs: the mean of
// testdata/rules-1000.tsv, which a test holds it to.
const ordinaryStops = 50

// Time is about how long the rule takes for a MiB of code, on one core of a
// machine of 2025.
func (c Cost) Time() time.Duration {
	if c.Weak {
		return weakTime
	}
	return time.Duration(c.Stops * float64(stopTime))
}

// Ordinary is the number of ordinary rules that cost as much: those that an
// organization writes, a few costly ones among them, on average.
func (c Cost) Ordinary() float64 {
	return float64(c.Time()) / (ordinaryStops * float64(stopTime))
}

// CostOf estimates what a pattern costs that is valid by CheckPattern. It takes
// as long as compiling the rule: mostly 0.1 ms, and 20 ms for the worst patterns
// known.
func CostOf(pattern string, multiline bool) (Cost, error) {
	p, err := parse.Parse(pattern, multiline)
	if err != nil || p.Never {
		return Cost{}, err
	}
	c := choose.Best(extract.Extract(p.Tree, choose.Cost).Clauses)
	return Cost{Stops: c.Price, Weak: c.Windows == nil, By: foundBy(c.Windows)}, nil
}

// Cost is what CostOf says of the rule with an index, but for By. It was found
// out when the rule was compiled, so it takes no time.
func (m *Matcher) Cost(rule int) Cost {
	price := m.prices[rule]
	return Cost{Stops: price, Weak: price >= choose.Weak}
}

// maxBy bounds Cost.By, in bytes: it is for people.
const maxBy = 40

// foundBy is Cost.By.
func foundBy(windows []choose.Window) string {
	rates := map[string]float64{} // by text; of classes by ""
	all := 0.0
	for _, w := range windows {
		sets := w.Sets() // those of a run are too many to rate, and all alike
		rate := ngram.Rate(sets[:min(len(sets), 4)])
		rates[textAround(w)] += rate
		all += rate
	}
	for text, rate := range rates {
		if rate > all/2 {
			return text
		}
	}
	return ""
}

// textAround is the text that a window stands for, with what is known before
// and behind it; empty when it has a class.
func textAround(w choose.Window) string {
	seq, from, to := w.Alt.Seq, w.At, w.At+w.Len
	// A window may reach beyond the text, which is too short for it.
	for from < to && seq[from] == choose.AnyByte {
		from++
	}
	for from < to && seq[to-1] == choose.AnyByte {
		to--
	}
	if len(known(seq[from:to])) < to-from {
		return ""
	}
	before := from
	for before > 0 && to-before < maxBy && len(known(seq[before-1:before])) > 0 {
		before--
	}
	return known(seq[before:min(len(seq), before+maxBy)])
}

// known is the text that a sequence is sure to begin with, as far as it is
// printable ASCII. A letter of which either case may stand there is in lower
// case.
func known(seq extract.Seq) string {
	var text []byte
	for _, set := range seq {
		if set.Len() > 1 {
			set = set.Fold()
		}
		var b byte
		set.Each(func(x byte) { b = x })
		if set.Len() != 1 || b < ' ' || b > '~' {
			break
		}
		text = append(text, b)
	}
	return string(text)
}
