package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckBranch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"main", "release/1.2", "feature/ü(x)#1", "a@b", "x{y}", "a.b_c-d+e@f=g", strings.Repeat("a", 250),
	} {
		assert.NoError(t, checkBranch(name), name)
		assert.NoError(t, exec.CommandContext(t.Context(), "git", "check-ref-format", "refs/heads/"+name).Run(), "%q", name)
	}

	for _, name := range []string{
		"", "-x", "--upload-pack=evil", "a..b", "a@{1}", "a b", "a\nb", "a\x7fb", "a~1", "a^", "a:b", "a?", "a*", "a[b",
		`a\b`, strings.Repeat("a", 251),
	} {
		assert.Error(t, checkBranch(name), name)
	}
}

func TestCommandTakesNoOptionsFromOutside(t *testing.T) {
	t.Parallel()
	remote := Remote{URL: "https://example.com/x.git"}

	for name, c := range map[string]*command{
		"option for an object":  newCommand("merge-base").oids("--evil"),
		"name for an object":    newCommand("merge-base").oids("HEAD"),
		"option for a ref":      newFetch(remote).refspec("--upload-pack=evil", headRef, anyEnd),
		"branch for a ref":      newFetch(remote).refspec("main", headRef, ""),
		"pattern in a ref":      newFetch(remote).refspec("refs/heads/*", headRef, anyEnd),
		"two refs for a branch": newFetch(remote).refspec("refs/heads/main:refs/heads/x", namedBase, ""),
		"URL that is no such":   newFetch(Remote{URL: "https://exa mple\n/"}),
	} {
		g := &git{path: "/nonexistent"}
		_, err := g.start(t.Context(), c)
		assert.Equal(t, c.err, err, name)
		assert.Error(t, err, name)
	}
}

func TestCommandForARemote(t *testing.T) {
	t.Parallel()
	remote := Remote{URL: "https://example.com:8443/owner/name.git", Username: "user", Token: "s3cr3t"}
	c := newFetch(remote).refspec("HEAD", defaultRef, anyEnd).refspec("refs/pull/1/head", headRef, anyEnd)
	require.NoError(t, c.err)
	assert.Equal(t, []string{"--end-of-options", "origin",
		"+HEAD*:refs/prwarden/default/ref*", "+refs/pull/1/head*:refs/prwarden/head/ref*"}, c.args()[7:])
	env := strings.Join(c.env(), "\n")
	assert.Contains(t, env, "GIT_ALLOW_PROTOCOL=https")
	assert.Contains(t, env, "=http.https://example.com:8443/.extraHeader")
	assert.Contains(t, env, "Authorization: Basic dXNlcjpzM2NyM3Q=")
	assert.Equal(t, "a *** b *** c", c.scrub("a s3cr3t b dXNlcjpzM2NyM3Q= c"))

	local := newCommand("merge-base").oids(OID(strings.Repeat("a", oidSize)))
	assert.Contains(t, local.env(), "GIT_ALLOW_PROTOCOL=none")
	assert.Contains(t, local.env(), "GIT_CONFIG_COUNT=0")
	file := newFetch(Remote{URL: "file:///x", Token: "s3cr3t"})
	assert.NotContains(t, strings.Join(file.env(), "\n"), "Authorization")
}

// With what it needs there already, New writes nothing, so that a scanner can
// start on a full disk.
func TestWriteConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := writeConfig(dir, DefaultLimits())
	require.NoError(t, err)
	before, err := os.Stat(path)
	require.NoError(t, err)
	_, err = writeConfig(dir, DefaultLimits())
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "cache")
	s, err := New(Options{Dir: cache, Limits: DefaultLimits()})
	require.NoError(t, err)
	before, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.NoError(t, s.Check(t.Context()))
	after, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Len(t, after, len(before), "nothing is left behind")

	require.NoError(t, os.RemoveAll(cache))
	require.ErrorIs(t, s.Check(t.Context()), os.ErrNotExist)
	require.NoError(t, os.WriteFile(cache, nil, 0o600)) // no directory, for root too
	require.Error(t, s.Check(t.Context()))
}

func TestNewNeedsGit(t *testing.T) {
	for says, wrong := range map[string]string{
		"git version 2.35.9\n":               "2.36 or newer",
		"git version 1.9.1\n":                "2.36 or newer",
		"git version 2.36.0\n":               "",
		"git version 2.51.0 (Apple Git-1)\n": "",
		"git version 3.0\n":                  "",
		"something else\n":                   "for its version",
	} {
		err := checkVersion(says)
		if wrong == "" {
			assert.NoError(t, err, says)
			continue
		}
		assert.ErrorContains(t, err, wrong)
	}

	t.Setenv("PATH", "/nonexistent")
	_, err := New(Options{Dir: t.TempDir(), Limits: DefaultLimits()})
	assert.ErrorIs(t, err, ErrNoGit)
}
