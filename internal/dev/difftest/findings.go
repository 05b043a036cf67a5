package difftest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// Found is a finding: which rule fired where.
type Found struct {
	Path string
	Line int
	Rule string
}

// The limits of a scan, written down once more.
const (
	binaryProbe = 8_000
	longestLine = 16 << 10
)

// Rules are rules with their patterns compiled by regexp.
type Rules struct {
	rules    []rule.Rule
	patterns []*regexp.Regexp
}

// NewRules compiles rules.
func NewRules(rules []rule.Rule) (*Rules, error) {
	c := &Rules{rules: rules}
	for _, r := range rules {
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		c.patterns = append(c.patterns, re)
	}
	return c, nil
}

// FindingsResult is how the findings of a pull request compare.
type FindingsResult struct {
	Findings int
	Stopped  []string // rules that used up their time in the scan, whose findings may be missing
	Problems []string // the differences
}

// CompareFindings scans a pull request with the rules, which scanner has as
// ruleset, and compares the findings with every rule's regular expression
// tried on every line that plain git says was added.
func (c *Rules) CompareFindings(
	ctx context.Context, scanner *scan.Scanner, ruleset *scan.Ruleset, dir string, target scan.Target,
) (*FindingsResult, error) {
	const all = 1 << 30
	request := scan.Request{
		Target: target, Selection: scan.SelectDefault, Rules: ruleset, MaxFindings: all, MaxSize: all,
	}
	got, err := scanner.Scan(ctx, request, func(scan.Progress) {})
	if err != nil {
		return nil, err
	}
	lines, _, err := PlainDiff(ctx, dir, got.BaseSHA, got.HeadSHA)
	if err != nil {
		return nil, err
	}
	want := map[Found]bool{}
	for path, added := range lines {
		content, err := plainGit(ctx, dir, "cat-file", "blob", got.HeadSHA+":"+path)
		if err != nil { // a submodule's commit
			continue
		}
		for _, f := range c.file(path, string(content), added) {
			want[f] = true
		}
	}
	return differences(got.Result, want), nil
}

// differences compares the findings of a scan with those that there are, of
// which it leaves the ones that were not found.
func differences(got finding.Result, want map[Found]bool) *FindingsResult {
	r := &FindingsResult{Findings: len(got.Findings)}
	for _, skip := range got.Skips { // a rule is stopped once, for the files that follow too
		if skip.Reason == finding.SkipRuleTimeout {
			r.Stopped = append(r.Stopped, skip.RuleID)
		}
	}
	for _, f := range got.Findings {
		found := Found{f.File, f.Line, f.RuleID}
		if strings.HasPrefix(f.RuleID, "meta/") {
			continue
		}
		if !want[found] {
			r.Problems = append(r.Problems, fmt.Sprintf("%+v should not be found, or not twice", found))
		}
		delete(want, found)
	}
	for f := range want {
		if !slices.Contains(r.Stopped, f.Rule) {
			r.Problems = append(r.Problems, fmt.Sprintf("%+v was not found", f))
		}
	}
	slices.Sort(r.Problems)
	return r
}

// file tries every rule on the added lines of one file.
func (c *Rules) file(path, content string, added map[int]string) []Found {
	if len(content) > scan.MaxFileSize || strings.Contains(content[:min(len(content), binaryProbe)], "\x00") {
		return nil
	}
	texts := strings.Split(content, "\n")
	text := func(n int) string {
		if n == len(texts) { // without a line ending
			return texts[n-1]
		}
		return strings.TrimSuffix(texts[n-1], "\r")
	}
	looked := func(n int) bool {
		_, isAdded := added[n]
		return isAdded && len(text(n)) <= longestLine
	}
	var found []Found
	for i, r := range c.rules {
		if !applies(r.Paths, path) {
			continue
		}
		if r.Multiline {
			for _, at := range c.patterns[i].FindAllStringIndex(content, -1) {
				first := 1 + strings.Count(content[:at[0]], "\n")
				last := 1 + strings.Count(content[:at[1]-1], "\n")
				for n := first; n <= last; n++ {
					if looked(n) {
						found = append(found, Found{path, first, r.FullID()})
						break
					}
				}
			}
			continue
		}
		for n := range added {
			if looked(n) && c.patterns[i].MatchString(text(n)) {
				found = append(found, Found{path, n, r.FullID()})
			}
		}
	}
	return found
}

func applies(p rule.Paths, path string) bool {
	matches := func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) }
	return (len(p.Include) == 0 || slices.ContainsFunc(p.Include, matches)) && !slices.ContainsFunc(p.Exclude, matches)
}
