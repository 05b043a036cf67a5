package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repository is the name of the repository at the code host that a benchmark has its reviews of.
const repository = "bench/repository"

// makePulls makes a bare repository below dir. The pull request with number i+1 has findings[i] findings of the default
// ruleset.
func makePulls(ctx context.Context, dir string, findings []int) error {
	var stream strings.Builder
	commit := func(ref, from, text string) {
		fmt.Fprintf(&stream, "commit %s\ncommitter Bench <bench@example.com> 1750000000 +0000\ndata 1\nm\n%s", ref, from)
		fmt.Fprintf(&stream, "M 644 inline app/main.js\ndata %d\n%s\n", len(text), text)
	}
	commit("refs/heads/main", "", "start();\n")
	for i, n := range findings {
		text := "start();\n"
		for line := range n {
			text += fmt.Sprintf("const result%d = eval(request.body.expression%d);\n", line, line)
		}
		commit(fmt.Sprintf("refs/pull/%d/head", i+1), "from refs/heads/main\n", text+"stop();\n")
	}

	bare := filepath.Join(dir, repository+".git")
	if _, err := git(ctx, dir, "", "init", "--quiet", "--bare", "--initial-branch=main", bare); err != nil {
		return err
	}
	if _, err := git(ctx, bare, stream.String(), "fast-import", "--quiet"); err != nil {
		return err
	}
	return serveObjects(ctx, bare)
}

// clonePulls makes a bare repository below dir that shares the objects of the one at source. Each range BASE...HEAD
// becomes a pull request; the first one has number 1.
func clonePulls(ctx context.Context, dir, source string, ranges []string) error {
	bare := filepath.Join(dir, repository+".git")
	if _, err := git(ctx, source, "", "clone", "--quiet", "--bare", "--shared", source, bare); err != nil {
		return err
	}

	for i, span := range ranges {
		base, head, ok := strings.Cut(span, "...")
		if !ok {
			return fmt.Errorf("-range %s is not BASE...HEAD", span)
		}
		for _, name := range []*string{&base, &head} {
			id, err := git(ctx, source, "", "rev-parse", "--verify", "--end-of-options", *name+"^{commit}")
			if err != nil {
				return err
			}
			*name = id
		}

		// The trial merge of a code host says what the base is.
		merge, err := git(ctx, bare, "", "commit-tree", head+"^{tree}", "-p", base, "-p", head, "-m", "Merge")
		if err != nil {
			return err
		}
		for name, id := range map[string]string{"head": head, "merge": merge} {
			if _, err := git(ctx, bare, "", "update-ref", fmt.Sprintf("refs/pull/%d/%s", i+1, name), id); err != nil {
				return err
			}
		}
	}
	return serveObjects(ctx, bare)
}

// serveObjects lets a repository give out partial histories and single objects, as code hosts do.
func serveObjects(ctx context.Context, bare string) error {
	for _, setting := range []string{"uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"} {
		if _, err := git(ctx, bare, "", "config", setting, "true"); err != nil {
			return err
		}
	}
	return nil
}

func git(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com")
	cmd.Stdin = strings.NewReader(stdin)

	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errors.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
