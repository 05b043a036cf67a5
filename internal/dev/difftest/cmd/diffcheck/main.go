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

// differ counts the differences of one change and prints them.
func (t totals) differ(where string, problems []string) {
	for _, problem := range problems {
		fmt.Printf("%s: %s\n", where, problem)
	}
	if len(problems) > 0 {
		t["differ"]++
	}
}

func run(ctx context.Context, most int, paths []string) (same bool, err error) {
	dir, err := os.MkdirTemp("", "diffcheck-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	p, err := newPulls(ctx, dir)
	if err != nil {
		return false, err
	}

	all := totals{"differ": 0}
	for i, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return false, err
		}
		found := totals{}
		if err := p.check(ctx, path, fmt.Sprintf("acme/r%d", i), most, found); err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		fmt.Println(path, found)
		all.add(found)
	}

	fmt.Println("all", all)
	return all["differ"] == 0, nil
}

// link makes the repository with these objects known as dir/repos/NAME.git.
func link(dir, name, objects string) error {
	path := filepath.Join(dir, "repos", filepath.FromSlash(name)+".git")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Symlink(objects, path)
}
