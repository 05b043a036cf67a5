package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Change is what a pull request of a made repository adds.
type Change struct {
	Findings int // lines that the default ruleset has a finding for
	Lines    int // others, in a file of their own
}

// Finding is the line number n of the lines with findings that a pull request adds to app/main.js, behind the first
// line.
func Finding(repo string, pull, n int) string {
	return fmt.Sprintf("const value%d = eval(settings[%q]);", n, fmt.Sprintf("%s#%d", repo, pull))
}

// MakePulls makes the bare repository dir/REPO.git, whose pull request number i+1 is changes[i].
func MakePulls(ctx context.Context, dir, repo string, changes []Change) error {
	var stream strings.Builder
	file := func(path, text string) {
		fmt.Fprintf(&stream, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	const commit = "commit %s\ncommitter Dev <dev@example.com> 1750000000 +0000\ndata 1\nm\n%s"
	fmt.Fprintf(&stream, commit, "refs/heads/main", "")
	file("app/main.js", "start();\nstop();\n")

	for i, change := range changes {
		fmt.Fprintf(&stream, commit, fmt.Sprintf("refs/pull/%d/head", i+1), "from refs/heads/main\n")
		text := "start();\n"
		for n := range change.Findings {
			text += Finding(repo, i+1, n) + "\n"
		}
		file("app/main.js", text+"stop();\n")
		if change.Lines > 0 {
			file("app/more.js", strings.Repeat("next(step, order, result, another);\n", change.Lines))
		}
	}
	return MakeRepository(ctx, filepath.Join(dir, repo+".git"), stream.String())
}

// MakeRepository makes a bare repository from a stream for git fast-import.
func MakeRepository(ctx context.Context, dir, stream string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := Git(ctx, dir, "", "init", "--quiet", "--bare", "--initial-branch=main", "."); err != nil {
		return err
	}
	if _, err := Git(ctx, dir, stream, "fast-import", "--quiet"); err != nil {
		return err
	}
	return ServeObjects(ctx, dir)
}

// ServeObjects lets a repository give out partial histories and single objects, as code hosts do.
func ServeObjects(ctx context.Context, dir string) error {
	for _, setting := range []string{"uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"} {
		if _, err := Git(ctx, dir, "", "config", setting, "true"); err != nil {
			return err
		}
	}
	return nil
}

// Git runs git in a folder, without anything of the user's configuration, and returns what it prints.
func Git(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	env := append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com",
		"GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com")
	return output(ctx, env, stdin, "git", append([]string{"-C", dir}, args...)...)
}
