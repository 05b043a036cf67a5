// Package ruleset has the sets of rules that a benchmark compares engines with,
// and writes them in the forms that other programs read.
package ruleset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
)

// Rule is one pattern. ID is unique in its set.
type Rule struct {
	ID      string
	Pattern string
}

// ParseTSV reads a set: a line for each rule, its id, a tab and its pattern.
func ParseTSV(r io.Reader) ([]Rule, error) {
	var rules []Rule
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		id, pattern, ok := strings.Cut(lines.Text(), "\t")
		if !ok || id == "" {
			return nil, fmt.Errorf("line %d: no id and pattern with a tab between them", n)
		}
		if err := match.CheckPattern(pattern); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rules = append(rules, Rule{ID: id, Pattern: pattern})
	}
	return rules, lines.Err()
}

// FormatTSV is what ParseTSV reads.
func FormatTSV(rules []Rule) []byte {
	var b bytes.Buffer
	for _, r := range rules {
		fmt.Fprintf(&b, "%s\t%s\n", r.ID, r.Pattern)
	}
	return b.Bytes()
}

// Sample returns n rules of a set, evenly spread over it, in its order.
func Sample(rules []Rule, n int) []Rule {
	if n >= len(rules) {
		return rules
	}
	out := make([]Rule, n)
	for i := range out {
		out[i] = rules[i*len(rules)/n]
	}
	return out
}
