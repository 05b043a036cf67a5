package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/kind"
)

// Columns of the table of trees, beside the names of the kinds of files.
const (
	allFindings = "findings"
	notByHand   = "these three"
	missing     = "files missing" // from an incomplete copy of the repository
)

var columns = []string{
	allFindings, "generated", "minified", "vendored", notByHand, "test", "documentation", missing,
}

// trees scans all files of repositories, and says in what kinds of files the findings are.
func trees(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	prwarden := flags.String("prwarden", "bin/prwarden", "the `program` that scans")

	return func(ctx context.Context, out io.Writer, repositories []string) error {
		if len(repositories) == 0 {
			return errors.New("trees needs repositories in folders named owner+name")
		}

		t, all := table{append([]string{"project"}, columns...)}, map[string]int{}
		for _, dir := range repositories {
			name, err := projectOf(dir)
			if err != nil {
				return err
			}
			counts, err := scanTree(ctx, *prwarden, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.addCounts(name, counts)
			for column, n := range counts {
				all[column] += n
			}
		}
		t.addCounts("all", all)
		t.print(out)
		return nil
	}
}

func (t *table) addCounts(name string, counts map[string]int) {
	row := []string{name}
	for _, column := range columns {
		if column == allFindings || column == missing {
			row = append(row, fmt.Sprint(counts[column]))
		} else {
			row = append(row, share(counts[column], counts[allFindings]))
		}
	}
	t.add(row...)
}

// scanTree scans the files of a repository's newest commit, and counts by columns.
func scanTree(ctx context.Context, program, dir string) (counts map[string]int, err error) {
	tmp, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	counts = map[string]int{}
	if counts[missing], err = checkOut(ctx, dir, tmp); err != nil {
		return nil, err
	}

	cmd := exec.CommandContext(ctx, program, "scan", "--all", filepath.Join(tmp, "tree"), "--ruleset", "default",
		"--no-server", "--fail-on", "none", "--allow-incomplete", "--output", "jsonl")
	cmd.Env = plainEnv()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	for line := range bytes.Lines(out) {
		var f struct {
			Path  string `json:"file"`
			Bytes []byte `json:"file_bytes"` // the path, where it is no UTF-8
		}
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, err
		}
		if f.Path == "" { // what was suppressed, observed, or not looked at
			continue
		}
		f.Path = cmp.Or(string(f.Bytes), f.Path)
		file := filepath.Join(tmp, "tree", filepath.FromSlash(f.Path))
		info, err := os.Lstat(file)
		if err != nil {
			return nil, err
		}
		var content []byte // of a link: none, since what it points to need not be there
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}

		counts[allFindings]++
		kinds := kind.Of(f.Path, content, kind.All)
		for _, one := range kinds.Each() {
			counts[one.String()]++
		}
		if kinds&(kind.Generated|kind.Minified|kind.Vendored) != 0 {
			counts[notByHand]++
		}
	}
	return counts, nil
}

// checkOut writes the files of a repository's newest commit to tmp/tree, and says how many the copy of the repository
// lacks. `git archive` would leave out what the repository says.
func checkOut(ctx context.Context, dir, tmp string) (lacking int, err error) {
	tree := filepath.Join(tmp, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return 0, err
	}
	for _, args := range [][]string{{"read-tree", "HEAD"}, {"checkout-index", "--all", "--prefix=" + tree + "/"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		cmd.Env = append(plainEnv(), "GIT_INDEX_FILE="+filepath.Join(tmp, "index"), "GIT_WORK_TREE="+tree, "GIT_DIR=.")
		out, err := cmd.CombinedOutput()
		lacking = strings.Count(string(out), "error: unable to read sha1 file of ")
		if err != nil && lacking != bytes.Count(out, []byte("\n")) {
			return 0, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return lacking, nil
}
