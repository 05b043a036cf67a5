// Package difftest checks what a scan sees of a pull request against `git diff --find-renames base...head`, run the
// plain way in the repository itself and read by a parser that shares nothing with the scanner's.
package difftest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Lines are added lines: their text by path and line number.
type Lines map[string]map[int]string

// Removed are how many lines were removed, by path and the number of the line before which they stood.
type Removed map[string]map[int]int

// plainGit runs git in the repository at dir, as anyone would.
func plainGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", dir}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), err
}

// plainDiff returns the added and removed lines of `git diff --find-renames base...head`, and the paths of all changed
// files that are there at head, in git's order.
func plainDiff(ctx context.Context, dir, base, head string) (Lines, Removed, []string, error) {
	span := base + "..." + head
	patch, err := plainGit(ctx, dir, "diff", "--text", "--find-renames", "--no-ext-diff", "--no-textconv", span)
	if err != nil {
		return nil, nil, nil, err
	}
	names, err := plainGit(ctx, dir, "diff", "--find-renames", "--diff-filter=d", "--name-only", "-z", span)
	if err != nil {
		return nil, nil, nil, err
	}

	paths := strings.Split(names, "\x00")
	lines, removed, err := parsePlain(patch)
	return lines, removed, paths[:len(paths)-1], err
}

// earlier is a file as it was before; the zero value when there was none.
type earlier struct{ path, content string }

// plainBefore returns what the files of `git diff --find-renames base...head` were, by their paths at head.
func plainBefore(ctx context.Context, dir, base, head string) (map[string]earlier, error) {
	names, err := plainGit(ctx, dir, "diff", "--find-renames", "--diff-filter=MRT", "--name-status", "-z", base+"..."+head)
	if err != nil {
		return nil, err
	}
	fork, err := plainGit(ctx, dir, "merge-base", base, head)
	if err != nil {
		return nil, err
	}

	before := map[string]earlier{}
	fields := strings.Split(names, "\x00")
	for i := 0; i+1 < len(fields); {
		path := fields[i+1]
		now := path
		if i += 2; strings.HasPrefix(fields[i-2], "R") {
			now = fields[i]
			i++
		}
		content, err := plainGit(ctx, dir, "cat-file", "blob", strings.TrimSpace(fork)+":"+path)
		if err == nil { // else it is a submodule's commit
			before[now] = earlier{path, content}
		}
	}

	return before, nil
}

// plainLink returns the file of a commit that a link leads to; "" for none, and for what is no link.
func plainLink(ctx context.Context, dir, commit, link string) (string, error) {
	mode, err := plainGit(ctx, dir, "ls-tree", commit, "--", ":(literal)"+link)
	if err != nil || !strings.HasPrefix(mode, "120000 ") {
		return "", err
	}
	to, err := plainGit(ctx, dir, "cat-file", "blob", commit+":"+link)
	if err != nil {
		return "", err
	}

	there := path.Join(path.Dir(link), to)
	if to == "" || path.IsAbs(to) || there == "." || strings.HasPrefix(there, "..") {
		return "", nil
	}
	if mode, err = plainGit(ctx, dir, "ls-tree", commit, "--", ":(literal)"+there); !strings.HasPrefix(mode, "100") {
		there = ""
	}
	return there, err
}

var plainHunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parsePlain reads a patch as a person does: by what each line begins with, and the counts of each hunk.
func parsePlain(patch string) (Lines, Removed, error) {
	lines, removed := make(Lines), make(Removed)
	var path string
	var left, right, at int // lines of the hunk still to come, and the next line's number

	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case left > 0 && strings.HasPrefix(text, "-"):
			if removed[path] == nil {
				removed[path] = make(map[int]int)
			}
			removed[path][at]++
			left--
		case right > 0 && strings.HasPrefix(text, "+"):
			if lines[path] == nil {
				lines[path] = make(map[int]string)
			}
			lines[path][at] = text[1:]
			right--
			at++
		case left > 0 && right > 0 && strings.HasPrefix(text, " "):
			left, right, at = left-1, right-1, at+1
		case strings.HasPrefix(text, `\`):
		case left > 0 || right > 0:
			return nil, nil, fmt.Errorf("in %s: unexpected %q in a hunk", path, text)
		case strings.HasPrefix(text, "+++ "):
			name, err := plainName(text[len("+++ "):])
			if err != nil {
				return nil, nil, err
			}
			path = strings.TrimPrefix(name, "b/")
		case strings.HasPrefix(text, "@@ "):
			hunk := plainHunk.FindStringSubmatch(text)
			if hunk == nil {
				return nil, nil, fmt.Errorf("in %s: hunk %q", path, text)
			}
			left, _ = strconv.Atoi(cmp.Or(hunk[1], "1")) // digits; git leaves out a 1
			right, _ = strconv.Atoi(cmp.Or(hunk[3], "1"))
			at, _ = strconv.Atoi(hunk[2])
		}
	}

	return lines, removed, nil
}

// plainName undoes git's quoting, and the tab that follows a name with spaces.
func plainName(s string) (string, error) {
	s = strings.TrimSuffix(s, "\t")
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	name, err := strconv.Unquote(s) // octal and letter escapes are Go's
	if err != nil {
		return "", fmt.Errorf("name %s: %w", s, err)
	}
	return name, nil
}

// ends are a pull request's two ends, or the code of the failure there must be instead.
type ends struct{ Head, Base, Failure string }

// plainEnds finds the ends of a pull request by the rules for the host kind git, asking one simple question at a time.
func plainEnds(ctx context.Context, dir string, number int32) (ends, error) {
	one := func(args ...string) (string, error) {
		out, err := plainGit(ctx, dir, args...)
		return strings.TrimSpace(out), err
	}
	pull := "refs/pull/" + strconv.Itoa(int(number))
	head, err := one("rev-parse", "--verify", "--quiet", pull+"/head^{commit}")
	if err != nil {
		return ends{Failure: scan.CodePullRequestNotFound}, nil
	}
	if second, err := one("rev-parse", "--verify", "--quiet", pull+"/merge^2"); err == nil && second == head {
		base, err := one("rev-parse", "--verify", pull+"/merge^1")
		return related(ctx, dir, ends{Head: head, Base: base}, err)
	}
	branch, err := one("rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return ends{}, err
	}
	contains := func(commit string) bool {
		_, err := plainGit(ctx, dir, "merge-base", "--is-ancestor", head, commit)
		return err == nil
	}
	if !contains(branch) {
		return related(ctx, dir, ends{Head: head, Base: branch}, nil)
	}
	list, err := one("rev-list", "--first-parent", branch)
	if err != nil {
		return ends{}, err
	}
	line := strings.Fields(list) // newest first: those with the head come before those without
	first := sort.Search(len(line), func(i int) bool { return !contains(line[i]) }) - 1
	if line[first] == head || first+1 == len(line) {
		return ends{Head: head, Failure: scan.CodeBaseUnknown}, nil
	}
	return related(ctx, dir, ends{Head: head, Base: line[first+1]}, nil)
}

// related says whether the two ends have common history.
func related(ctx context.Context, dir string, e ends, err error) (ends, error) {
	if err != nil {
		return e, err
	}
	_, err = plainGit(ctx, dir, "merge-base", e.Base, e.Head)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		e.Failure = scan.CodeNoMergeBase
		return e, nil
	}
	return e, err
}
