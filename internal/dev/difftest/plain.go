// Package difftest checks what a scan sees of a pull request against
// `git diff --find-renames base...head`, run the plain way in the repository
// itself and read by a parser that shares nothing with the scanner's.
package difftest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Lines are added lines: their text by path and line number.
type Lines map[string]map[int]string

// plainGit runs git in the repository at dir, as anyone would.
func plainGit(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// PlainDiff returns the added lines of `git diff --find-renames base...head`,
// and the paths of all changed files that are there at head, in git's order.
func PlainDiff(ctx context.Context, dir, base, head string) (Lines, []string, error) {
	span := base + "..." + head
	patch, err := plainGit(ctx, dir, "diff", "--text", "--find-renames", "--no-ext-diff", "--no-textconv", span)
	if err != nil {
		return nil, nil, err
	}
	names, err := plainGit(ctx, dir, "diff", "--find-renames", "--name-status", "-z", span)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	fields := strings.Split(string(names), "\x00")
	for len(fields) > 1 {
		status, path, used := fields[0], fields[1], 2
		if status[0] == 'R' || status[0] == 'C' {
			path, used = fields[2], 3
		}
		if status[0] != 'D' {
			paths = append(paths, path)
		}
		fields = fields[used:]
	}
	lines, err := parsePlain(string(patch))
	return lines, paths, err
}

// parsePlain reads a patch as a person does: by what each line begins with,
// and the counts of each hunk.
func parsePlain(patch string) (Lines, error) {
	lines := make(Lines)
	var path string
	var left, right, at int // lines of the hunk still to come, and the next line's number
	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case left > 0 && strings.HasPrefix(text, "-"):
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
			return nil, fmt.Errorf("in %s: unexpected %q in a hunk", path, text)
		case strings.HasPrefix(text, "+++ "):
			name, err := plainName(text[len("+++ "):])
			if err != nil {
				return nil, err
			}
			path = strings.TrimPrefix(name, "b/")
		case strings.HasPrefix(text, "@@ "):
			var ok bool
			if left, right, at, ok = plainHunk(text); !ok {
				return nil, fmt.Errorf("in %s: hunk %q", path, text)
			}
		}
	}
	return lines, nil
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

func plainHunk(s string) (left, right, at int, ok bool) {
	fields := strings.Fields(s)
	if len(fields) < 4 {
		return 0, 0, 0, false
	}
	_, left = plainSpan(fields[1])
	at, right = plainSpan(fields[2])
	return left, right, at, true
}

func plainSpan(s string) (first, count int) {
	a, b, two := strings.Cut(s[1:], ",")
	first, _ = strconv.Atoi(a)
	if !two {
		return first, 1
	}
	count, _ = strconv.Atoi(b)
	return first, count
}
