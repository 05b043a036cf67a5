package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// pulls compares pull requests with plain git.
type pulls struct {
	dir    string
	source scan.Source
	rules  []rule.Rule // nil when findings aren't compared
	plain  *difftest.Rules
}

func newPulls(ctx context.Context, dir string, findings bool) (*pulls, error) {
	p := &pulls{dir: dir}
	store, err := git.New(git.Options{Dir: filepath.Join(dir, "cache"), Limits: git.DefaultLimits()})
	if err != nil {
		return nil, err
	}
	host := organization.Host{Kind: organization.KindGit, URL: "file://" + dir + "/repos/{repo}.git"}
	p.source = gittest.AtHost{Source: codehost.New(store, gittest.NoToken), Host: host}
	if findings {
		if p.rules, err = difftest.LoadRules(ctx); err != nil {
			return nil, err
		}
		p.plain, err = difftest.NewRules(p.rules)
	}
	return p, err
}

func (p *pulls) close() error { return nil }

func (p *pulls) check(ctx context.Context, path, name string, most int) (totals, error) {
	if err := link(p.dir, name, path); err != nil {
		return nil, err
	}
	numbers, err := pullNumbers(ctx, path, most)
	if err != nil {
		return nil, err
	}
	t := totals{}
	for _, number := range numbers {
		problems, err := p.pull(ctx, path, scan.Target{Organization: "check", Repo: name, Number: number}, t)
		if err != nil {
			return nil, fmt.Errorf("pull request %d: %w", number, err)
		}
		t.differ(fmt.Sprintf("%s: pull request %d", path, number), problems)
	}
	return t, nil
}

// pull compares one pull request and adds to the totals.
func (p *pulls) pull(ctx context.Context, path string, target scan.Target, t totals) ([]string, error) {
	r, err := difftest.Compare(ctx, p.source, path, target)
	if err != nil {
		return nil, err
	}
	t["pull requests"]++
	t["files"] += r.Files
	t["added lines"] += r.Lines
	t["files over 1 MiB"] += len(r.Skipped)
	switch {
	case r.Broken:
		t["broken for plain git too"]++
		return r.Problems, nil
	case r.Failure != "":
		t["failures that are right"]++
		return r.Problems, nil
	case p.rules == nil:
		return r.Problems, nil
	}

	scanner := scan.NewScanner(p.source, scan.Options{})
	ruleset, err := scanner.AddRules(rule.Digest(p.rules), p.rules)
	if err != nil {
		return nil, err
	}
	found, err := p.plain.CompareFindings(ctx, scanner, ruleset, path, target)
	if err != nil {
		return nil, err
	}
	t["findings"] += found.Findings
	t["rules out of time"] += len(found.Stopped)
	return append(r.Problems, found.Problems...), nil
}

// pullNumbers are the numbers to check, ascending and spread over all.
func pullNumbers(ctx context.Context, dir string, most int) ([]int32, error) {
	cmd := exec.CommandContext(ctx, "git", "--git-dir", dir, "for-each-ref", "--format=%(refname)", "refs/pull/")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git for-each-ref: %w", err)
	}
	var numbers []int32
	for name := range strings.FieldsSeq(string(out)) {
		middle, ok := strings.CutSuffix(strings.TrimPrefix(name, "refs/pull/"), "/head")
		if n, err := strconv.ParseInt(middle, 10, 32); ok && err == nil && n > 0 {
			numbers = append(numbers, int32(n))
		}
	}
	slices.Sort(numbers)

	spread := make([]int32, min(most, len(numbers)))
	for i := range spread {
		spread[i] = numbers[i*len(numbers)/len(spread)]
	}
	return spread, nil
}
