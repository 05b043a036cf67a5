package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// pulls compares pull requests with plain git.
type pulls struct {
	dir    string
	host   organization.Host
	source scan.Source
	rules  *difftest.Rules
}

func newPulls(ctx context.Context, dir string) (*pulls, error) {
	p := &pulls{
		dir: dir, host: organization.Host{Kind: organization.KindGit, URL: "file://" + dir + "/repos/{repo}.git"},
	}
	store, err := git.New(git.Options{Dir: filepath.Join(dir, "cache"), Limits: git.DefaultLimits()})
	if err != nil {
		return nil, err
	}
	p.source = codehost.New(store, nil) // the host names no token
	rules, err := difftest.LoadRules(ctx)
	if err != nil {
		return nil, err
	}
	p.rules, err = difftest.NewRules(rules)
	return p, err
}

func (p *pulls) check(ctx context.Context, path, name string, most int, t totals) error {
	if err := link(p.dir, name, path); err != nil {
		return err
	}
	numbers, err := pullNumbers(ctx, path, most)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		target := scan.Target{Organization: "check", Host: p.host, Repo: name, Number: number}
		problems, err := p.pull(ctx, path, target, t)
		if err != nil {
			return fmt.Errorf("pull request %d: %w", number, err)
		}
		t.differ(fmt.Sprintf("%s: pull request %d", path, number), problems)
	}

	return nil
}

// pull compares one pull request and adds to the totals.
func (p *pulls) pull(ctx context.Context, path string, target scan.Target, t totals) ([]string, error) {
	r, err := difftest.Compare(ctx, p.source, path, target)
	if err != nil {
		return nil, err
	}
	t.add(r.Counts)
	if r.Failed {
		return r.Problems, nil
	}
	found, err := p.rules.CompareFindings(ctx, p.source, path, target)
	if err != nil {
		return nil, err
	}
	t.add(found.Counts)
	return append(r.Problems, found.Problems...), nil
}

// pullNumbers are the numbers to check, ascending and spread over all.
func pullNumbers(ctx context.Context, dir string, most int) ([]int32, error) {
	out, err := program.Git(ctx, dir, "", "for-each-ref", "--format=%(refname)", "refs/pull/")
	if err != nil {
		return nil, err
	}
	var numbers []int32
	for name := range strings.FieldsSeq(out) {
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
