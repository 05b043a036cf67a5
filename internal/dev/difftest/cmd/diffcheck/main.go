// Command diffcheck compares what prwarden finds in real repositories with what
// is there.
//
//	diffcheck [-most 100] [-findings] REPOSITORY...
//
// compares the added lines of pull requests with plain
// `git diff --find-renames base...head`; with -findings it also compares the
// findings with every rule's regular expression tried on every added line. A
// REPOSITORY is a local bare one with refs/pull/N/head.
//
//	diffcheck -server [-most 100] REPOSITORY...
//
// compares what `prwarden scan --base` finds with what a server finds in the same
// commits, as JSON. A REPOSITORY is any local one, whose last merges are taken for
// pull requests. The program prwarden must be beside this one.
//
// It prints one line for each repository, and every difference; it exits with 1
// when there is any.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	most := flag.Int("most", 100, "most pull requests of a repository")
	findings := flag.Bool("findings", false, "compare findings too, not only added lines")
	server := flag.Bool("server", false, "compare local scans with the reviews of a server")
	flag.Parse()
	runtime.LockOSThread() // the server is told to end with the thread that started it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	same, err := run(ctx, *server, *findings, *most, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "diffcheck:", err)
		os.Exit(2)
	}
	if !same {
		os.Exit(1)
	}
}

// checker compares something in repositories, in a folder of its own.
type checker interface {
	// check compares at most so many changes of the repository at path, and
	// counts what it saw. The name is unique among those of a run.
	check(ctx context.Context, path, name string, most int) (totals, error)
	close() error
}

// totals are what was counted, by what it is.
type totals map[string]int

func (t totals) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, t[name]))
	}
	return strings.Join(parts, ", ")
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

func run(ctx context.Context, server, findings bool, most int, paths []string) (same bool, err error) {
	dir, err := os.MkdirTemp("", "diffcheck-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var c checker
	if server {
		c, err = newMerges(ctx, dir)
	} else {
		c, err = newPulls(ctx, dir, findings)
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.close()) }()

	all := totals{"differ": 0}
	for i, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return false, err
		}
		found, err := c.check(ctx, path, fmt.Sprintf("acme/r%d", i), most)
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		fmt.Printf("%s: %s\n", path, found)
		for name, n := range found {
			all[name] += n
		}
	}
	fmt.Printf("all: %s\n", all)
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
