package rule

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/match"
)

// Costly is the time for a MiB of code over which the author of a rule is
// advised. Of a thousand rules of an organization, six take more.
const Costly = 50 * time.Microsecond

// Cost is what matching a rule is expected to cost, and what can be done about
// it. It is an estimate from the pattern alone, the same on every machine.
type Cost struct {
	// PerMiB is the time for a MiB of the files that the rule looks at, on one
	// core of a machine of 2025.
	PerMiB time.Duration
	// Weak says that there is nothing that the rule could be looked for by, so
	// that it is tried everywhere.
	Weak bool
	// Ordinary is the number of ordinary rules that cost as much, rounded to two
	// digits: those that an organization has, on average.
	Ordinary int
	// Advice is sentences for people: why the rule is costly, and what to do.
	// It is empty unless the rule is weak or takes more than Costly.
	Advice string
}

// Cost estimates what matching the rule costs. That takes 0.1 ms mostly, and
// 20 ms at worst. It fails for a pattern that a rule can't have.
func (r Rule) Cost() (Cost, error) {
	c, err := match.CostOf(r.Pattern, r.Multiline)
	if err != nil {
		return Cost{}, err
	}
	cost := Cost{PerMiB: c.Time(), Weak: c.Weak, Ordinary: rounded(c.Ordinary())}
	if c.Weak || cost.PerMiB > Costly {
		cost.Advice = r.advice(c.By, cost)
	}
	return cost, nil
}

// advice is Cost.Advice for a rule that is looked for by a text, or by none.
func (r Rule) advice(by string, c Cost) string {
	var why string
	switch {
	case c.Weak && r.Multiline:
		why = "The pattern has no run of three or more known characters that is in every match and rare in code, so " +
			"it is tried on the whole of every file."
	case c.Weak:
		why = "The pattern has no run of three or more known characters that is in every match and rare in code, so " +
			"it is tried on every line."
	case by != "":
		why = fmt.Sprintf("The rule is looked for by %s, which is short or common in code.", strconv.Quote(by))
	default:
		why = "The characters that the rule is looked for by are few or common in code."
	}
	what := "Add a word to the pattern that every match has"
	if len(r.Paths.Include) == 0 {
		what += ", or restrict the rule with paths"
	}
	return fmt.Sprintf("%s That costs as much as about %s ordinary rules. %s.", why, grouped(c.Ordinary), what)
}

// rounded is a number rounded to two significant digits.
func rounded(x float64) int {
	n := int(math.Round(x))
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

// grouped is a number as people write it: 1,200.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
