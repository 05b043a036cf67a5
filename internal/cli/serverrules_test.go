package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

// organization is a server with rules;
// a status other than 0 is its only answer.
type organization struct {
	*httptest.Server
	asked  atomic.Int32
	status atomic.Int32

	noPolicy bool // the key may not read it
}

func newOrganization(t *testing.T, noPolicy bool) *organization {
	t.Helper()
	o := &organization{noPolicy: noPolicy}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked.Add(1)
		switch {
		case o.status.Load() != 0:
			w.WriteHeader(int(o.status.Load()))
			_, _ = io.WriteString(w, `{"code": 16, "message": "No.", "details": []}`)
		case r.Header.Get("Authorization") != "Bearer prw_secretkey":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/rulesets/custom/rules":
			_, _ = io.WriteString(w, `{"rules": [
				{"id": "ours", "type": "regex", "pattern": "eval", "message": "Ours.", "severity": "low", "scope": "org",
					"enabled": true, "created_at": "2026-11-20T09:30:00Z", "later": 1},
				{"id": "off", "type": "regex", "pattern": "answer", "message": "Off.", "severity": "low", "scope": "org",
					"enabled": false, "created_at": "2026-11-20T09:30:00Z"}]}`)
		case r.URL.Path == "/v1/policy" && !o.noPolicy:
			_, _ = io.WriteString(w, `{"disable": ["security/no-eval"], "fail_on": "low", "etag": "x"}`)
		case r.URL.Path == "/v1/policy":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code": 7, "message": "No scope.", "details": []}`)
		case r.URL.Path == "/v1/rulesets/acme/web/rules":
			_, _ = io.WriteString(w, `{"rules": [
				{"id": "from-file", "type": "regex", "pattern": "answer", "message": "File.", "severity": "low"},
				{"id": "web", "type": "regex", "pattern": "answer", "message": "Web.", "severity": "low", "scope": "repo",
					"repo": "acme/web", "created_at": "2026-11-20T09:30:00Z"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code": 5, "message": "There is none.", "details": []}`)
		}
	}))
	t.Cleanup(o.Close)

	return o
}

const ourKey = "PRWARDEN_API_KEY=prw_secretkey"

func TestScanWithRulesOfTheOrganization(t *testing.T) {
	t.Parallel()
	o := newOrganization(t, true)
	cache := filepath.Join(t.TempDir(), "cache")
	root := project(t)
	from := func(change ...func(*cli.ScanInput)) cli.ScanInput {
		return all(root, append([]func(*cli.ScanInput){lines, func(in *cli.ScanInput) {
			in.Server = cli.ServerRules{Client: config.Client{Server: o.URL}, Known: true, Cache: cache}
		}}, change...)...)
	}
	repo := func(name string) func(*cli.ScanInput) { return func(in *cli.ScanInput) { in.Server.Repo = name } }
	offline := func(in *cli.ScanInput) { in.Server.Offline = true }
	leave := func(in *cli.ScanInput) { in.Server.Leave = true }

	r := scanLocally(t, from(offline), ourKey)
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), "nothing was fetched")
	assert.Zero(t, o.asked.Load())

	r = scanLocally(t, from(), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/ours")
	assert.Contains(t, r.out, "security/no-eval", "beside the others")
	assert.Contains(t, r.out, "custom/no-print")
	assert.NotContains(t, r.out, "Off.")
	assert.Contains(t, r.errOut, "applying 1 rule of "+o.URL)

	r = scanLocally(t, from(repo("acme/web")), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/web")
	assert.NotContains(t, r.out, "from-file", "the rules file is the one that is here")
	r = scanLocally(t, from(repo("acme/none"), noDefaults), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/ours")
	assert.NotContains(t, r.out, "security/no-eval")

	// What was fetched is the user's alone, and has no key in it.
	kept, err := filepath.Glob(filepath.Join(cache, "*"))
	require.NoError(t, err)
	assert.Len(t, kept, 3)
	for _, path := range append(kept, cache) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		if data, err := os.ReadFile(path); err == nil {
			assert.NotContains(t, string(data)+path, "secretkey")
		}
	}

	asked := o.asked.Load()
	r = scanLocally(t, from(offline), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/ours")
	assert.Regexp(t, `applying 1 rule of http\S+, fetched \d+s ago\n`, r.errOut)
	r = scanLocally(t, from(leave), ourKey)
	require.NoError(t, r.err)
	assert.NotContains(t, r.out, "custom/ours")
	assert.Equal(t, asked, o.asked.Load(), "neither asks the server")

	r = scanLocally(t, from(), "PRWARDEN_API_KEY=prw_another")
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), "a key that is refused: what another one fetched is not for it")
	o.status.Store(http.StatusForbidden)
	r = scanLocally(t, from(), ourKey)
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), "what is wrong for good is not hidden by the cache")
	assert.ErrorContains(t, r.err, "--no-server")

	o.status.Store(http.StatusInternalServerError)
	r = scanLocally(t, from(), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/ours")
	assert.Regexp(t, `applying 1 rule of http\S+, fetched \d+s ago: No\. \(HTTP 500\)\n`, r.errOut)

	for _, path := range kept {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, regexp.MustCompile(`eval`).ReplaceAll(data, []byte("evil")), 0o600))
	}
	r = scanLocally(t, from(), ourKey)
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err), "what was changed since doesn't count")
}

func TestScanAsksNobodyWithoutServerAndKey(t *testing.T) {
	t.Parallel()
	o := newOrganization(t, true)
	root := project(t)
	for name, s := range map[string]cli.ServerRules{
		"no key":      {Client: config.Client{Server: o.URL}, Known: true},
		"no server":   {Client: config.Client{Server: o.URL}},
		"left out":    {Client: config.Client{Server: o.URL}, Known: true, Leave: true},
		"none at all": {},
	} {
		var env []string
		if !strings.HasPrefix(name, "no key") {
			env = []string{ourKey}
		}
		r := scanLocally(t, all(root, lines, func(in *cli.ScanInput) { in.Server = s }), env...)
		require.NoError(t, r.err, name)
		assert.NotContains(t, r.out, "custom/ours", name)
		told := strings.Contains(r.errOut, "without the rules of the organization: PRWARDEN_API_KEY has no API key\n")
		assert.Equal(t, name == "no key", told, r.errOut)
	}
	assert.Zero(t, o.asked.Load())
}

func TestScanWithThePolicyOfTheOrganization(t *testing.T) {
	t.Parallel()
	o := newOrganization(t, false)
	server := cli.ServerRules{Client: config.Client{Server: o.URL}, Known: true, Cache: t.TempDir()}
	for _, offline := range []bool{false, true} {
		server.Offline = offline
		r := scanLocally(t, all(project(t), func(in *cli.ScanInput) {
			in.Server, in.Output.FailOn = server, "critical"
		}), ourKey)
		assert.Equal(t, cli.ExitFound, cli.ExitCode(r.err), "the stricter threshold holds: %v", r.err)
		assert.Contains(t, r.out, "custom/ours")
		assert.NotContains(t, r.out, "high      security/no-eval", "the organization has it off")
		assert.Contains(t, r.out, "by the organization: security/no-eval", "and that is told")
		assert.NotContains(t, r.errOut, "policy:read")
	}

	r := scanLocally(t, all(project(t), lines, func(in *cli.ScanInput) {
		in.Server = server
		in.Server.Offline = false
		in.Server.Client.Server = newOrganization(t, true).URL
	}), ourKey)
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "security/no-eval")
	assert.Contains(t, r.errOut, "applying the default policy: the API key has not the scope policy:read\n")
}
