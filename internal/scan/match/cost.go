package match

import (
	"time"

	"github.com/prwarden/prwarden/internal/scan/match/internal/choose"
	"github.com/prwarden/prwarden/internal/scan/match/internal/extract"
	"github.com/prwarden/prwarden/internal/scan/match/internal/parse"
)

// Cost is what a rule is expected to cost on code of all kinds, from how often
// the bytes occur in it that the rule is found by. It does not depend on the
// machine.
type Cost struct {
	// Stops is how often the engine stops for the rule in a MiB of code to look
	// closer. A word of eight letters costs about ten, three letters a thousand.
	Stops float64
	// Weak says that the rule has nothing that the engine could look for, so
	// that it is tried on every line.
	Weak bool
}

// stopTime is what a stop costs about, measured.
const stopTime = 40 * time.Nanosecond

// weakTime is what a weak rule costs about in a MiB, measured.
const weakTime = 3 * time.Millisecond

// Time is about how long the rule takes for a MiB of code, on one core of a
// machine of 2025.
func (c Cost) Time() time.Duration {
	if c.Weak {
		return weakTime
	}
	return time.Duration(c.Stops * float64(stopTime))
}

// CostOf estimates what a pattern costs that is valid by CheckPattern.
func CostOf(pattern string, multiline bool) (Cost, error) {
	p, err := parse.Parse(pattern, multiline)
	if err != nil || p.Never {
		return Cost{}, err
	}
	c := choose.Best(extract.Extract(p.Tree, choose.Cost).Clauses)
	return Cost{Stops: c.Price, Weak: c.Windows == nil}, nil
}
