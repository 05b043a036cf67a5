package pulls_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// TestFindingsAreOfAddedLines holds every finding to what git itself shows of
// the change, which is another way to the same lines.
func TestFindingsAreOfAddedLines(t *testing.T) {
	t.Parallel()
	s, err := pulls.Make(t.Context(), filepath.Join(t.TempDir(), "hosts"), pulls.Options{
		Organizations: []string{"a", "b"}, Repos: 2, Pulls: 60, Seed: 7,
	})
	require.NoError(t, err)
	require.Len(t, s.Pulls, 2*2*60)
	require.Len(t, s.Repos(), 4)
	kinds := map[string]int{}
	for _, p := range s.Pulls {
		if p.Want.Failure != "" {
			assert.Empty(t, p.Want.Findings)
			kinds[p.Want.Failure]++
			continue
		}
		dir := filepath.Join(s.Dir, p.Repo+".git")
		head := "refs/pull/" + strconv.Itoa(int(p.Number)) + "/head"
		added := strings.Split(git(t, dir, "diff", "--unified=0", "main..."+head), "\n")
		for i, f := range p.Want.Findings {
			assert.Contains(t, added, "+"+f.Snippet, "%s#%d", p.Repo, p.Number)
			if i > 0 {
				assert.Negative(t, pulls.Compare(p.Want.Findings[i-1], f), "findings are in order and differ")
			}
			kinds[f.RuleID]++
		}
		if len(p.Want.Findings) > 0 {
			f := p.Want.Findings[0]
			lines := strings.Split(git(t, dir, "show", head+":"+f.File), "\n")
			assert.Equal(t, f.Snippet, lines[f.Line-1])
		}
	}
	for _, kind := range []string{"pull_request_not_found", "no_merge_base", "chaos/org-marker", "chaos/repo-marker", "security/no-eval"} {
		assert.NotZero(t, kinds[kind], kind)
	}
	p, ok := s.Find("a/repo1", 3)
	require.True(t, ok)
	assert.Equal(t, int32(3), p.Number)
	_, ok = s.Find("a/repo1", 61)
	assert.False(t, ok)
	require.NoError(t, s.Remove())
	assert.NoDirExists(t, s.Dir)
}

func TestSameSeedSamePulls(t *testing.T) {
	t.Parallel()
	o := pulls.Options{Organizations: []string{"a"}, Repos: 2, Pulls: 30, Seed: 11}
	first, err := pulls.Make(t.Context(), t.TempDir(), o)
	require.NoError(t, err)
	second, err := pulls.Make(t.Context(), t.TempDir(), o)
	require.NoError(t, err)
	assert.Equal(t, first.Pulls, second.Pulls)
	o.Seed++
	third, err := pulls.Make(t.Context(), t.TempDir(), o)
	require.NoError(t, err)
	assert.NotEqual(t, first.Pulls, third.Pulls)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*", "--git-dir", dir}, args...)...).Output()
	require.NoError(t, err)
	return string(out)
}
