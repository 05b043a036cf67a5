package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/policy"
)

func TestPolicyIsShownAndApplied(t *testing.T) {
	t.Parallel()
	stored := policy.Default()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/policy", r.URL.Path)
		if r.Method == http.MethodPut {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Contains(t, string(body), `"etag":"`+stored.ETag()+`"`)
			stored, err = policy.FromJSON(body)
			assert.NoError(t, err)
		}
		body, err := json.Marshal(struct {
			policy.Policy
			ETag string `json:"etag"`
		}{stored, stored.ETag()})
		assert.NoError(t, err)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)

	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "policy.yml")
	require.NoError(t, os.WriteFile(key, []byte("prw_"+"x"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("fail_on: low\nlocked: {rules: [secrets/*]}\n"), 0o600))
	c := config.Client{Server: server.URL, KeyFile: key}
	var out bytes.Buffer
	st := cli.Streams{Out: &out, Err: io.Discard}

	const changes = "  fail_on: \"\" -> \"low\"\n  locked.rules: \"\" -> \"secrets/*\"\n"
	require.NoError(t, cli.ApplyPolicy(t.Context(), st, c, file, true))
	assert.Equal(t, "The policy would change:\n"+changes, out.String())
	assert.Empty(t, stored.FailOn)
	out.Reset()
	require.NoError(t, cli.ApplyPolicy(t.Context(), st, c, file, false))
	assert.Equal(t, "The policy was changed:\n"+changes, out.String())
	assert.Equal(t, "low", stored.FailOn)

	out.Reset()
	require.NoError(t, cli.ApplyPolicy(t.Context(), st, c, file, false))
	assert.Equal(t, "The policy is so already.\n", out.String())
	out.Reset()
	require.NoError(t, cli.ShowPolicy(t.Context(), st, c))
	shown, err := policy.Parse(out.Bytes())
	require.NoError(t, err)
	assert.True(t, stored.Equal(shown))

	require.NoError(t, os.WriteFile(file, []byte("fail_on: hgih\n"), 0o600))
	var usage *cli.UsageError
	require.ErrorAs(t, cli.ApplyPolicy(t.Context(), st, c, file, false), &usage)
	assert.Contains(t, usage.Error(), "line 1: fail_on: is not a severity")
	require.NoError(t, os.WriteFile(file, []byte("disable: [security/no-evil]\n"), 0o600))
	require.ErrorAs(t, cli.ApplyPolicy(t.Context(), st, c, file, true), &usage)
	assert.Contains(t, usage.Error(), "security/no-evil is not a rule of the default ruleset")
}
