// Command diffcheck compares what prwarden sees of pull requests with plain
// `git diff --find-renames base...head`.
//
//	diffcheck [-pulls 1-500] [-most 100] [-findings] REPOSITORY...
//
// With -findings it also scans them with the default ruleset, and compares the
// findings with every rule's regular expression tried on every added line.
//
// A REPOSITORY is a local bare repository with refs/pull/N/head. It prints one
// line for each, and every difference; it exits with 1 when there is any.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

func main() {
	pulls := flag.String("pulls", "1-2147483647", "range of pull request numbers")
	most := flag.Int("most", 100, "most pull requests of a repository, spread over the range")
	findings := flag.Bool("findings", false, "compare the findings of the default ruleset too")
	slow := flag.Duration("slow", 5*time.Second, "name pull requests that take longer to open")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok, err := check(ctx, options{pulls: *pulls, most: *most, slow: *slow, findings: *findings, repositories: flag.Args()})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "diffcheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct {
	pulls        string
	most         int
	slow         time.Duration
	findings     bool
	repositories []string
}

// totals are what is counted over pull requests.
type totals struct {
	pulls, files, lines, skipped, failures, broken, findings, stopped, differ int
	opened                                                                    time.Duration
}

func (t *totals) add(o totals) {
	t.pulls += o.pulls
	t.files += o.files
	t.lines += o.lines
	t.skipped += o.skipped
	t.failures += o.failures
	t.broken += o.broken
	t.findings += o.findings
	t.stopped += o.stopped
	t.differ += o.differ
	t.opened += o.opened
}

func (t totals) String() string {
	return fmt.Sprintf("pull requests %d, files %d, added lines %d, findings %d, agree %d, differ %d (failures that are right %d, objects missing for plain git too %d, files over 1 MiB %d, rules out of time %d) in %s",
		t.pulls, t.files, t.lines, t.findings, t.pulls-t.differ, t.differ, t.failures, t.broken, t.skipped, t.stopped, t.opened.Round(time.Millisecond))
}

func check(ctx context.Context, o options) (bool, error) {
	cache, err := os.MkdirTemp("", "diffcheck-")
	if err != nil {
		return false, err
	}
	defer removeAll(cache)
	store, err := git.New(git.Options{Dir: cache, Limits: git.DefaultLimits()})
	if err != nil {
		return false, err
	}
	var all totals
	for _, dir := range o.repositories {
		t, err := checkRepository(ctx, store, dir, o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", dir, err)
		}
		fmt.Printf("%s: %s\n", dir, t)
		all.add(t)
	}
	fmt.Printf("all: %s\n", all)
	return all.differ == 0, nil
}

func checkRepository(ctx context.Context, store *git.Store, dir string, o options) (t totals, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	numbers, err := pullNumbers(ctx, dir, o)
	if err != nil {
		return t, err
	}
	// {repo} must be there and name something: `/dir/owner/name` is `/dir/{repo}`.
	owner, name := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
	link, err := os.MkdirTemp("", "diffcheck-")
	if err != nil {
		return t, err
	}
	defer removeAll(link)
	owner = strings.ReplaceAll(owner, "+", ".") // as repositories' names allow
	if err := os.Mkdir(filepath.Join(link, owner), 0o700); err != nil {
		return t, err
	}
	if err := os.Symlink(dir, filepath.Join(link, owner, name)); err != nil {
		return t, err
	}
	hosts, err := codehost.New(store, map[string]codehost.Settings{"check": {Kind: codehost.KindGit, URL: "file://" + link + "/{repo}"}}, os.Getenv)
	if err != nil {
		return t, err
	}
	source := &timed{source: hosts}
	rules, err := loadRules()
	if err != nil {
		return t, err
	}
	for _, number := range numbers {
		source.took = 0
		r, err := difftest.Compare(ctx, source, dir, scan.Target{Organization: "check", Repo: owner + "/" + name, Number: number})
		if err != nil {
			return t, fmt.Errorf("pull request %d: %w", number, err)
		}
		if source.took > o.slow {
			fmt.Printf("%s: pull request %d opened in %s\n", dir, number, source.took.Round(time.Millisecond))
		}
		one := totals{pulls: 1, files: r.Files, lines: r.Lines, skipped: len(r.Skipped), opened: source.took}
		if o.findings && r.Failure == "" {
			found, err := rules.compare(ctx, hosts, dir, scan.Target{Organization: "check", Repo: owner + "/" + name, Number: number})
			if err != nil {
				return t, fmt.Errorf("pull request %d: %w", number, err)
			}
			one.findings, one.stopped = found.Findings, len(found.Stopped)
			r.Problems = append(r.Problems, found.Problems...)
		}
		if len(r.Problems) > 0 {
			one.differ = 1
		} else if r.Broken {
			one.broken = 1
		} else if r.Failure != "" {
			one.failures = 1
		}
		for _, problem := range r.Problems {
			fmt.Printf("%s: pull request %d: %s\n", dir, number, problem)
		}
		t.add(one)
	}
	return t, nil
}

// removeAll removes what this program made; what stays is in the temporary
// directory.
func removeAll(dir string) { _ = os.RemoveAll(dir) }

// ruleCheck compares findings of the default ruleset.
type ruleCheck struct {
	rules []rule.Rule
	plain *difftest.Rules
}

func loadRules() (*ruleCheck, error) {
	rules, err := defaults.Load()
	if err != nil {
		return nil, err
	}
	rules = append(rules, probes()...)
	plain, err := difftest.NewRules(rules)
	return &ruleCheck{rules: rules, plain: plain}, err
}

// probes are rules that fire often, because the default ruleset is quiet on
// good code and would leave little to compare.
func probes() []rule.Rule {
	var rules []rule.Rule
	for id, pattern := range map[string]string{
		"number": `\b[0-9]{2,}\b`, "call": `(?i)\bre[a-z]+\(`, "end": `[;,]$`, "begin": `^\s*(#|//)`, "space": `[ \t]+$`, "bytes": `[^\x00-\x7f]`,
	} {
		rules = append(rules, probe(id, pattern))
	}
	for id, pattern := range map[string]string{"block": `\{\n\s*\}`, "blank": `\n\n\n`, "pair": `(?m)^import .*\n^import `} {
		r := probe(id, pattern)
		r.Multiline = true
		rules = append(rules, r)
	}
	return rules
}

func probe(id, pattern string) rule.Rule {
	return rule.Rule{ID: "probe/" + id, Type: rule.TypeRegex, Pattern: pattern, Message: "Probe.", Severity: rule.Info, Scope: rule.ScopeOrg, Origin: rule.OriginDefault}
}

func (c *ruleCheck) compare(ctx context.Context, source scan.Source, dir string, target scan.Target) (*difftest.FindingsResult, error) {
	scanner := scan.NewScanner(source, scan.Options{})
	ruleset, err := scanner.AddRules(rule.Digest(c.rules), c.rules)
	if err != nil {
		return nil, err
	}
	return c.plain.CompareFindings(ctx, scanner, ruleset, dir, target)
}

// timed measures how long Open takes.
type timed struct {
	source scan.Source
	took   time.Duration
}

func (s *timed) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	start := time.Now()
	defer func() { s.took = time.Since(start) }()
	return s.source.Open(ctx, t)
}

// pullNumbers are the numbers to check, ascending.
func pullNumbers(ctx context.Context, dir string, o options) ([]int32, error) {
	first, last, _ := strings.Cut(o.pulls, "-")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("-pulls %s is no range such as 1-500", o.pulls)
	}
	out, err := exec.CommandContext(ctx, "git", "--git-dir", dir, "for-each-ref", "--format=%(refname)", "refs/pull/").Output()
	if err != nil {
		return nil, fmt.Errorf("git for-each-ref: %w", err)
	}
	var numbers []int32
	for name := range strings.FieldsSeq(string(out)) {
		middle, ok := strings.CutSuffix(strings.TrimPrefix(name, "refs/pull/"), "/head")
		n, err := strconv.ParseInt(middle, 10, 32)
		if ok && err == nil && int(n) >= from && int(n) <= to {
			numbers = append(numbers, int32(n))
		}
	}
	slices.Sort(numbers)
	if len(numbers) <= o.most {
		return numbers, nil
	}
	spread := make([]int32, o.most)
	for i := range spread {
		spread[i] = numbers[i*len(numbers)/o.most]
	}
	return spread, nil
}
