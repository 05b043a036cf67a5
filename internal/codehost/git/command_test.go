package git

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckRef(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"HEAD", "refs/heads/main", "refs/pull/1/head", "refs/merge-requests/1/head", "refs/heads/a.b_c-d+e@f=g",
	} {
		assert.NoError(t, CheckRef(name), name)
	}
	for _, name := range []string{
		"", "main", "--upload-pack=evil", "refs/heads/a..b", "refs/heads/*", "refs/heads/a:b", "refs/heads/a b",
		"refs/heads/a\nb", "refs/heads//a", "refs/heads/", "refs/heads/.a", "refs/heads/a.lock", "refs/heads/a.",
		"refs/heads/a@{1}", "refs/heads/^a", "refs/heads/a~1", "refs/" + strings.Repeat("a", 250),
	} {
		assert.Error(t, CheckRef(name), name)
	}
}

func TestCommandTakesNoOptionsFromOutside(t *testing.T) {
	t.Parallel()
	assert.Error(t, newCommand("merge-base").oids("--evil").err)
	assert.Error(t, newCommand("merge-base").oids("HEAD").err)
	assert.Error(t, newCommand("rev-list").not("--evil").err)
	remote := Remote{URL: "https://example.com/x.git"}
	assert.Error(t, newFetch(remote, true).refs("--upload-pack=evil").err)
	assert.Error(t, newFetch(Remote{URL: "https://exa mple\n/"}, true).err)

	g := &git{path: "/nonexistent"}
	_, err := g.start(t.Context(), t.TempDir(), newCommand("merge-base").oids("--evil"))
	assert.ErrorContains(t, err, "no object name")
}

func TestCommandForARemote(t *testing.T) {
	t.Parallel()
	remote := Remote{URL: "https://example.com:8443/owner/name.git", Username: "user", Token: "s3cr3t"}
	c := newCommand("fetch", "--quiet").from(remote, true).refs("HEAD", "refs/pull/1/head")
	require.NoError(t, c.err)
	assert.Equal(t, []string{"fetch", "--quiet", "--end-of-options", "origin",
		"+HEAD*:refs/prwarden/in/0/ref*", "+refs/pull/1/head*:refs/prwarden/in/1/ref*"}, c.args())
	env := strings.Join(c.env(), "\n")
	assert.Contains(t, env, "GIT_ALLOW_PROTOCOL=https")
	assert.Contains(t, env, "=http.https://example.com:8443/.extraHeader")
	assert.Contains(t, env, "Authorization: Basic dXNlcjpzM2NyM3Q=")
	assert.Equal(t, "a *** b *** c", c.scrub("a s3cr3t b dXNlcjpzM2NyM3Q= c"))

	local := newCommand("merge-base").oids(OID(strings.Repeat("a", oidSize)))
	assert.Contains(t, local.env(), "GIT_ALLOW_PROTOCOL=none")
	assert.Contains(t, local.env(), "GIT_CONFIG_COUNT=0")

	file := newFetch(Remote{URL: "file:///x", Token: "s3cr3t"}, false)
	assert.NotContains(t, strings.Join(file.env(), "\n"), "Authorization")
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	var kept tail
	for range 10 {
		n, err := kept.Write([]byte(strings.Repeat("x", tailSize-10)))
		require.NoError(t, err)
		require.Equal(t, tailSize-10, n)
	}
	_, err := kept.Write([]byte("\nthe end\n"))
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(kept.String(), "; the end"))
	assert.LessOrEqual(t, len(kept.String()), tailSize+2)
}
