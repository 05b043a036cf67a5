package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// pull is a merged pull request, or a commit of a project that has none.
type pull struct {
	number       int // 0 for a commit
	base, commit string
}

const (
	stylePulls   = "pull requests"
	styleCommits = "commits of the default branch, whose messages name no pull requests"
)

// projectOf is the owner/name of a repository at owner+name/repo, or at owner+name.
func projectOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, name := range []string{filepath.Base(dir), filepath.Base(filepath.Dir(dir)),
		filepath.Base(filepath.Dir(filepath.Dir(dir)))} { // some are clones, with a folder .git
		if owner, name, ok := strings.Cut(name, "+"); ok {
			return owner + "/" + name, nil
		}
	}
	return "", fmt.Errorf("%s: the folder must be named owner+name/repo", dir)
}

// gitOutput runs git in a repository, whatever is configured on this machine.
func gitOutput(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = plainEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: git %s: %w: %s", dir, args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, err
}

// plainEnv is an environment without settings, those of prwarden included.
func plainEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
	}
}

// merged says which pull request a commit merged: by GitHub's messages of merges and squashes, and those of bors.
var merged = regexp.MustCompile(`^Merge (?:pull request )?#(\d+)\b|\(#(\d+)\)$`)

// pullsOf are the newest pull requests that were merged into the default branch, each once. Where no commit names one
// they are the newest commits.
func pullsOf(ctx context.Context, dir string, most int) (pulls []pull, style string, err error) {
	log, err := gitOutput(ctx, dir, "log", "--first-parent", "--format=%H%x09%P%x09%s", "HEAD")
	if err != nil {
		return nil, "", err
	}

	var commits []pull
	seen := map[int]bool{}
	for line := range strings.Lines(string(log)) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		base, _, _ := strings.Cut(fields[1], " ")
		if base == "" || len(pulls) == most { // the first commit has no parent
			continue
		}
		if len(commits) < most {
			commits = append(commits, pull{base: base, commit: fields[0]})
		}
		if found := merged.FindStringSubmatch(strings.TrimSpace(fields[2])); found != nil {
			number, _ := strconv.Atoi(found[1] + found[2]) // digits
			if number > 0 && !seen[number] {
				seen[number] = true
				pulls = append(pulls, pull{number, base, fields[0]})
			}
		}
	}

	if len(pulls) == 0 {
		return commits, styleCommits, nil
	}
	return pulls, stylePulls, nil
}
