package difftest

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// found is a finding: which rule fired where.
type found struct {
	Path string
	Line int
	Rule string
}

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

// CompareFindings scans a pull request with the rules, and compares the findings with every rule's regular expression
// tried on every line that plain git says was added.
func (c *Rules) CompareFindings(ctx context.Context, source scan.Source, dir string, target scan.Target) (*Result,
	error) {
	scanner := scan.NewScanner(source, scan.Options{})
	ruleset, err := scanner.AddRules(ctx, "", rule.Digest(c.rules), c.rules)
	if err != nil {
		return nil, err
	}

	const all = 1 << 30
	request := scan.Request{
		Target: target, Ruleset: rule.RulesetDefault, Rules: ruleset, MaxFindings: all, MaxSize: all,
	}
	got, err := scanner.Scan(ctx, request, func(scan.Progress) {})
	if err != nil {
		return nil, err
	}
	lines, removed, paths, err := plainDiff(ctx, dir, got.BaseSHA, got.HeadSHA)
	if err != nil {
		return nil, err
	}
	before, err := plainBefore(ctx, dir, got.BaseSHA, got.HeadSHA)
	if err != nil {
		return nil, err
	}

	want := map[found]bool{}
	for _, path := range paths {
		content, err := plainGit(ctx, dir, "cat-file", "blob", got.HeadSHA+":"+path)
		if err != nil { // a submodule's commit
			continue
		}
		was := before[path]
		to, err := plainLink(ctx, dir, got.HeadSHA, path)
		if err == nil && to != "" {
			content, err = plainGit(ctx, dir, "cat-file", "blob", got.HeadSHA+":"+to)
			was, lines[path], removed[path] = earlier{to, content}, nil, nil
		}
		if err != nil {
			return nil, err
		}
		if strings.Contains(content+was.content, "\x00") { // encodings have tests of their own
			isHere := func(f finding.Finding) bool { return f.File == path }
			got.Findings = slices.DeleteFunc(got.Findings, isHere)
			continue
		}
		for _, f := range c.file(path, content, lines[path], removed[path], was) {
			want[f] = true
		}
	}

	return differences(got.Result, want), nil
}

// differences compares the findings of a scan with those that there are, of which it leaves the ones that were not
// found.
func differences(got finding.Result, want map[found]bool) *Result {
	r := &Result{Counts: map[string]int{"findings": len(got.Findings)}}
	stopped := map[[2]string]bool{}
	for _, skip := range got.Skips {
		if skip.Reason == finding.SkipRuleStopped {
			stopped[[2]string{skip.File, skip.RuleID}] = true
			r.Counts["rules stopped"]++
		}
	}

	for _, f := range got.Findings {
		if strings.HasPrefix(f.RuleID, "meta/") {
			continue
		}
		one := found{f.File, f.Line, f.RuleID}
		if !want[one] {
			r.problem("%+v should not be found, or not twice", one)
		}
		delete(want, one)
	}

	for f := range want {
		if !stopped[[2]string{f.Path, f.Rule}] {
			r.problem("%+v was not found", f)
		}
	}

	return r
}

// file tries every rule on the added lines of one file.
func (c *Rules) file(
	path, content string, onlyAdded map[int]string, removed map[int]int, was earlier,
) []found {
	if content == "" || len(content) > scan.MaxFileSize {
		return nil
	}
	texts := strings.Split(content, "\n")
	text := func(n int) string {
		if n == len(texts) { // without a line ending
			return texts[n-1]
		}
		return strings.TrimSuffix(texts[n-1], "\r")
	}

	every := map[int]string{}
	for n := range texts {
		every[n+1] = ""
	}
	if texts[len(texts)-1] == "" {
		delete(every, len(texts))
	}
	added := onlyAdded
	looked := func(n int) bool {
		_, isAdded := added[n]
		return isAdded
	}
	var all []found
	for i, r := range c.rules {
		if !applies(r, path, content) {
			continue
		}
		added = onlyAdded
		if was.path != "" && !applies(r, was.path, was.content) {
			added = every // the rule has seen none of it
		}
		if r.Multiline {
			for _, at := range c.patterns[i].FindAllStringIndex(content, -1) {
				first := 1 + strings.Count(content[:at[0]], "\n")
				last := 1 + strings.Count(content[:at[1]-1], "\n")
				isTouched := joined(c.patterns[i], first, last, onlyAdded, removed, was)
				for n := first; n <= last; n++ {
					isTouched = isTouched || looked(n)
				}
				if isTouched {
					all = append(all, found{path, first, r.FullID()})
				}
			}
			continue
		}
		for n := range added {
			if looked(n) && c.patterns[i].MatchString(text(n)) {
				all = append(all, found{path, n, r.FullID()})
			}
		}
	}

	return all
}

// joined says whether a match on lines of which none was added comes from lines that were removed within it: no match
// began on its first line before.
func joined(
	pattern *regexp.Regexp, first, last int, added map[int]string, removed map[int]int, was earlier,
) (isJoined bool) {
	old := first
	for n := range last {
		if _, isAdded := added[n+1]; isAdded && n+1 < first {
			old--
		}
		if n+1 <= first {
			old += removed[n+1]
		} else {
			isJoined = isJoined || removed[n+1] > 0
		}
	}
	began := func(at []int) bool { return 1+strings.Count(was.content[:at[0]], "\n") == old }

	return isJoined && !slices.ContainsFunc(pattern.FindAllStringIndex(was.content, -1), began)
}

func applies(r rule.Rule, path, content string) bool {
	firstLine, _, _ := strings.Cut(content, "\n")
	p, has := r.Paths, language.Of(path, []byte(firstLine))
	has = append(has, language.Inside(has, []byte(content))...)
	isSpoken := func(name string) bool { name, _ = language.Canonical(name); return slices.Contains(has, name) }
	if len(r.Languages) > 0 && !slices.ContainsFunc(r.Languages, isSpoken) {
		return false
	}
	matches := func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) }
	chosen := func(glob string) bool {
		return matches(glob) || doublestar.MatchUnvalidated(strings.ToLower(glob), strings.ToLower(path))
	}

	if kind.Of(path, []byte(content), kind.SetOf(r.Skip)) != 0 {
		return false
	}

	return (len(p.Include) == 0 || slices.ContainsFunc(p.Include, chosen)) && !slices.ContainsFunc(p.Exclude, matches)
}

// probes is a rules file with rules that fire often: the default ruleset is quiet on good code, and would leave little
// to compare.
//
//go:embed probes.yml
var probes []byte

// LoadRules compiles the default ruleset and the probes.
func LoadRules(ctx context.Context) (*Rules, error) {
	rules, err := defaults.Load()
	if err != nil {
		return nil, err
	}
	file, err := rule.ParseLocalFile(ctx, probes)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Rules {
		r.Scope, r.Origin = rule.ScopeOrg, rule.OriginDefault
		rules = append(rules, r)
	}
	return NewRules(rules)
}
