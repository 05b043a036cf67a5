package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/prwarden/prwarden/internal/kind"
)

// trees scans all files of repositories, and says in what kinds of files the findings are.
func trees(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	prwarden := flags.String("prwarden", "bin/prwarden", "the `program` that scans")

	return func(ctx context.Context, out io.Writer, repositories []string) error {
		if len(repositories) == 0 {
			return errors.New("trees needs repositories in folders named owner+name")
		}
		program, err := filepath.Abs(*prwarden)
		if err != nil {
			return err
		}

		var t table
		t.add("project", "findings", "generated", "minified", "vendored", "one of these", "test", "documentation")
		var all inKinds
		for _, dir := range repositories {
			name, err := projectOf(dir)
			if err != nil {
				return err
			}
			found, err := scanTree(ctx, program, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.add(found.row(name)...)
			all.add(found)
		}
		t.add(all.row("all")...)
		t.print(out)
		return nil
	}
}

// notByHand are the kinds of files that nobody mends by hand.
const notByHand = kind.Generated | kind.Minified | kind.Vendored

// inKinds counts findings by the kinds of their files.
type inKinds struct {
	all, notByHand int
	kinds          [5]int // in the order of kind.All
}

func (n *inKinds) count(of kind.Set) {
	n.all++
	if of&notByHand != 0 {
		n.notByHand++
	}
	for i, one := range kind.All.Each() {
		if of&one != 0 {
			n.kinds[i]++
		}
	}
}

func (n *inKinds) add(o inKinds) {
	n.all, n.notByHand = n.all+o.all, n.notByHand+o.notByHand
	for i := range n.kinds {
		n.kinds[i] += o.kinds[i]
	}
}

func (n *inKinds) row(name string) []string {
	k := func(i int) string { return share(n.kinds[i], n.all) }
	return []string{name, fmt.Sprint(n.all), k(0), k(1), k(2), share(n.notByHand, n.all), k(3), k(4)}
}

// scanTree scans the files of a repository's newest commit.
func scanTree(ctx context.Context, program, dir string) (n inKinds, err error) {
	tmp, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	tree := filepath.Join(tmp, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return n, err
	}
	// Not `git archive`, which leaves out what the repository says.
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"checkout-index", "--all", "--prefix=" + tree + "/"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		cmd.Env = append(plainEnv(), "GIT_INDEX_FILE="+filepath.Join(tmp, "index"), "GIT_WORK_TREE="+tree, "GIT_DIR=.")
		if out, err := cmd.CombinedOutput(); err != nil {
			return n, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}

	cmd := exec.CommandContext(ctx, program, "scan", "--all", tree, "--ruleset", "default", "--no-server",
		"--fail-on", "none", "--allow-incomplete", "--output", "jsonl")
	cmd.Env = plainEnv()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return n, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	for line := range bytes.Lines(out) {
		var f struct {
			Path       string `json:"file"`
			Confidence string `json:"confidence"`
		}
		if err := json.Unmarshal(line, &f); err != nil {
			return n, err
		}
		if f.Confidence == "low" { // hidden
			continue
		}
		content, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(f.Path)))
		if err != nil {
			return n, err
		}
		n.count(kind.Of(f.Path, content, kind.All))
	}
	return n, nil
}
