package difftest

import (
	"context"
	"errors"
	"os/exec"
	"sort"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Ends are a pull request's two ends, or the code of the failure there must be
// instead.
type Ends struct{ Head, Base, Failure string }

// PlainEnds finds the ends of a pull request by the rules for the host kind
// git, asking one simple question at a time.
func PlainEnds(ctx context.Context, dir string, number int32) (Ends, error) {
	one := func(args ...string) (string, error) {
		out, err := plainGit(ctx, dir, args...)
		return strings.TrimSpace(string(out)), err
	}
	pull := "refs/pull/" + ref(number)
	head, err := one("rev-parse", "--verify", "--quiet", pull+"/head^{commit}")
	if err != nil {
		return Ends{Failure: scan.CodePullRequestNotFound}, nil
	}
	if second, err := one("rev-parse", "--verify", "--quiet", pull+"/merge^2"); err == nil && second == head {
		base, err := one("rev-parse", "--verify", pull+"/merge^1")
		return related(ctx, dir, Ends{Head: head, Base: base}, err)
	}
	branch, err := one("rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return Ends{}, err
	}
	contains := func(commit string) bool {
		_, err := plainGit(ctx, dir, "merge-base", "--is-ancestor", head, commit)
		return err == nil
	}
	if !contains(branch) {
		return related(ctx, dir, Ends{Head: head, Base: branch}, nil)
	}
	list, err := one("rev-list", "--first-parent", branch)
	if err != nil {
		return Ends{}, err
	}
	line := strings.Fields(list) // newest first: those with the head come before those without
	first := sort.Search(len(line), func(i int) bool { return !contains(line[i]) }) - 1
	if line[first] == head || first+1 == len(line) {
		return Ends{Head: head, Failure: scan.CodeBaseUnknown}, nil
	}
	return related(ctx, dir, Ends{Head: head, Base: line[first+1]}, nil)
}

// related says whether the two ends have common history.
func related(ctx context.Context, dir string, e Ends, err error) (Ends, error) {
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
