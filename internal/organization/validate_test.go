package organization_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/organization"
)

func TestValidateHost(t *testing.T) {
	t.Parallel()
	valid := func(change func(*organization.Host)) organization.Host {
		s := organization.Host{Kind: organization.KindGit, URL: "https://example.com/{repo}.git"}
		change(&s)
		return s
	}
	tests := map[string]struct {
		host  organization.Host
		wrong string // "" for nothing
	}{
		"default": {organization.NewDefault().Host, ""},
		"file":    {valid(func(s *organization.Host) { s.URL = "file:///srv/git/{owner}/{name}" }), ""},
		"token":   {valid(func(s *organization.Host) { s.TokenEnv = "TOKEN" }), ""},
		"token to loopback": {valid(func(s *organization.Host) {
			s.URL, s.TokenEnv = "http://127.0.0.1:8/{repo}", "TOKEN"
		}), ""},
		"gitlab":            {valid(func(s *organization.Host) { s.HeadRef = "refs/merge-requests/{number}/head" }), ""},
		"kind":              {valid(func(s *organization.Host) { s.Kind = "svn" }), "host.kind:"},
		"no placeholder":    {valid(func(s *organization.Host) { s.URL = "https://example.com/x.git" }), "it needs {repo}"},
		"other placeholder": {valid(func(s *organization.Host) { s.URL = "https://example.com/{repo}/{x}" }), "host.url"},
		"placeholder in host": {valid(func(s *organization.Host) {
			s.URL = "https://{name}.example.com/{repo}"
		}), "must name its host in full"},
		"ssh":    {valid(func(s *organization.Host) { s.URL = "ssh://git@example.com/{repo}" }), "host.url:"},
		"ext":    {valid(func(s *organization.Host) { s.URL = "ext::sh -c {repo}" }), "host.url:"},
		"scp":    {valid(func(s *organization.Host) { s.URL = "git@example.com:{repo}" }), "host.url:"},
		"path":   {valid(func(s *organization.Host) { s.URL = "/srv/git/{repo}" }), "host.url"},
		"option": {valid(func(s *organization.Host) { s.URL = "--upload-pack={repo}" }), "host.url"},
		"credentials": {valid(func(s *organization.Host) {
			s.URL = "https://u:p@example.com/{repo}"
		}), "token_env and username"},
		"query":            {valid(func(s *organization.Host) { s.URL = "https://example.com/{repo}?x=1" }), "host.url"},
		"file with a host": {valid(func(s *organization.Host) { s.URL = "file://host/{repo}" }), "file:///"},
		"token in the clear": {valid(func(s *organization.Host) {
			s.URL, s.TokenEnv = "http://example.com/{repo}", "TOKEN"
		}), "https only"},
		"head without number": {valid(func(s *organization.Host) { s.HeadRef = "refs/pull/head" }), "head_ref"},
		"merge is an option":  {valid(func(s *organization.Host) { s.MergeRef = "--evil={number}" }), "merge_ref"},
		"glob":                {valid(func(s *organization.Host) { s.HeadRef = "refs/*/{number}" }), "head_ref"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := test.host.WithDefaults().Validate([]string{"acme/*"})
			if test.wrong == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			text := problems[0].Field + ": " + problems[0].Description
			assert.Contains(t, text, test.wrong)
			assert.NotContains(t, text, "u:p")
		})
	}
}

// The JSON of an organization is what databases hold.
func TestStoredOrganization(t *testing.T) {
	t.Parallel()
	o := organization.NewDefault()
	o.MaxScans, o.MaxQueued, o.Declared = 3, 7, true
	stored, err := json.Marshal(o)
	require.NoError(t, err)
	assert.JSONEq(t, `{"repositories":["*/*"],"host":{"kind":"git","url":"https://github.com/{repo}.git",
		"head_ref":"refs/pull/{number}/head","merge_ref":"refs/pull/{number}/merge"},
		"max_scans":3,"max_queued":7}`, string(stored))
}

// Groups within groups are repositories too.
func TestRepositories(t *testing.T) {
	t.Parallel()
	const wrong = ""
	for glob, repo := range map[string]string{
		"a/b/*": "a/b/c", "a/b/c": "a/b/c", "a/**/x": "a/b/c/x", "a/**": "a/b/c", "a/*": "a/b", "*/*": "a/b",
		"a": wrong, "a/": wrong, "/a": wrong, "a/[b": wrong,
	} {
		o := organization.NewDefault()
		o.Name, o.Repositories = "acme", []string{glob}
		problems := o.Validate()
		if repo == wrong {
			require.Len(t, problems, 1, glob)
			assert.Equal(t, "repositories[0]", problems[0].Field)
			continue
		}
		assert.Empty(t, problems, glob)
		assert.True(t, o.Allows(repo), glob)
	}
	assert.False(t, organization.Organization{Repositories: []string{"a/*"}}.Allows("a/b/c"))
}
