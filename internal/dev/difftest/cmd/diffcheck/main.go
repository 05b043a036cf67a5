// Command diffcheck compares what prwarden finds in real repositories with what is there.
//
//	diffcheck [-most 100] REPOSITORY...
//
// compares the added lines of pull requests with plain `git diff --find-renames base...head`, and the findings with
// every rule's regular expression tried on every added line. A REPOSITORY is a local bare one with refs/pull/N/head.
//
// It prints one line for each repository, and every difference; it exits with 1 when there is any.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

func main() {
	most := flag.Int("most", 100, "most pull requests of a repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	same, err := run(ctx, *most, flag.Args())
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "diffcheck:", err)
		os.Exit(2)
	}
	if !same {
		os.Exit(1)
	}
}

// totals are what was counted, by what it is.
type totals map[string]int

func (t totals) add(counts map[string]int) {
	for name, n := range counts {
		t[name] += n
	}
}

func run(ctx context.Context, most int, paths []string) (same bool, err error) {
	cache, err := os.MkdirTemp("", "diffcheck-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	store, err := git.New(git.Options{Dir: cache, Limits: git.DefaultLimits()})
	if err != nil {
		return false, err
	}
	rules, err := difftest.LoadRules(ctx)
	if err != nil {
		return false, err
	}

	source := store
	all := totals{"differ": 0}
	for i, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return false, err
		}
		found, err := check(ctx, source, rules, path, fmt.Sprintf("acme/r%d", i), most)
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		fmt.Println(path, found)
		all.add(found)
	}

	fmt.Println("all", all)
	return all["differ"] == 0, nil
}

// check compares pull requests of the repository at path, prints where they differ, and counts.
func check(
	ctx context.Context, source scan.Source, rules *difftest.Rules, path, name string, most int,
) (found totals, err error) {
	numbers, err := pullNumbers(ctx, path, most)
	if err != nil {
		return nil, err
	}

	host := organization.Host{Kind: organization.KindGit, URL: "file://" + path}
	found = totals{}
	for _, number := range numbers {
		target := scan.Target{Organization: "check", Host: host, Repo: name, Number: number}
		r, err := difftest.Compare(ctx, source, path, target)
		if err != nil {
			return nil, fmt.Errorf("pull request %d: %w", number, err)
		}
		found.add(r.Counts)
		problems := r.Problems
		if !r.Failed {
			if r, err = rules.CompareFindings(ctx, source, path, target); err != nil {
				return nil, fmt.Errorf("pull request %d: %w", number, err)
			}
			found.add(r.Counts)
			problems = append(problems, r.Problems...)
		}

		for _, problem := range problems {
			fmt.Printf("%s: pull request %d: %s\n", path, number, problem)
		}
		if len(problems) > 0 {
			found["differ"]++
		}
	}

	return found, nil
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
