package connection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

// invalid are the fields that a creation is refused for.
func invalid(t *testing.T, f *fixture, by connection.Caller, c connection.Connection, s connection.Secrets) []string {
	t.Helper()
	_, err := f.Create(t.Context(), by, c, s)
	if err == nil {
		return nil
	}
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, errs.InvalidArgument, e.Kind, "%v", err)
	var fields []string
	for _, v := range e.Fields {
		fields = append(fields, v.Field)
		for _, secret := range []string{s.Token, s.GitToken, s.PrivateKey} {
			if secret != "" {
				assert.NotContains(t, v.Description, secret)
			}
		}
	}

	return fields
}

// TestAddressesOverTheAPI tries every kind: organizations choose https, and nothing
// else unless the operator lists it.
func TestAddressesOverTheAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, kind := range []codehost.Kind{
		codehost.GitHub, codehost.GitLab, codehost.Gitea, codehost.Forgejo, codehost.BitbucketCloud, codehost.BitbucketServer,
	} {
		for address, refused := range map[string]bool{
			"https://git.example.com": false, "https://git.example.com:8443/git": false, "http://listed.corp.example": false,
			"http://git.example.com": true, "file:///srv/git": true, "ssh://git@git.example.com": true,
			"HTTPS://git.example.com": false, "git.example.com": true, "https://": true, "https://u:p@git.example.com": true,
			"https://git.example.com?x=1": true, "https://git.example.com#x": true, "https://git.example.com/{repo}": true,
			"https://git.example.com/\n": true, "javascript:alert(1)": true, "//git.example.com": true,
		} {
			for field, set := range map[string]func(*connection.Connection){
				"url": func(c *connection.Connection) { c.URL = address }, "api_url": func(c *connection.Connection) { c.APIURL = address },
				"git_url": func(c *connection.Connection) { c.GitURL = address + "/{repo}.git" },
			} {
				c := gitea()
				c.Kind, c.Name = kind, strings.ToLower(strings.Trim(string(kind)+"-"+field, "-"))
				set(&c)
				if field == "git_url" && strings.Contains(address, "{repo}") {
					continue
				}
				got := invalid(t, f, tenant, c, connection.Secrets{Token: token})
				want := []string(nil)
				if refused {
					want = []string{field}
				}
				if !assert.Equal(t, want, got, "%s %s %s", kind, field, address) || refused {
					continue
				}
				list, err := f.List(t.Context(), tenant)
				require.NoError(t, err)
				for _, made := range list {
					assert.False(t, made.Trusted)
					require.NoError(t, f.Delete(t.Context(), tenant, made.ID))
				}
			}
		}
	}
}

// The operator may choose http, private addresses and folders.
func TestAddressesOfTheOperator(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for address, refused := range map[string][]string{
		"http://10.0.0.7": nil, "http://localhost:3000": nil, "ssh://git.example.com": {"url", "git_url"},
	} {
		c := gitea()
		c.Name, c.URL, c.GitURL = "c"+strings.NewReplacer(":", "", "/", "").Replace(address), address, address+"/{repo}.git"
		assert.Equal(t, refused, invalid(t, f, operator, c, connection.Secrets{Token: token}), address)
	}
	for address, refused := range map[string]bool{
		"file:///srv/git/{repo}.git": false, "file:///srv/git/repo.git": true, "file://host/srv/{repo}.git": true,
		"file:srv/{repo}": true, "file:///srv/{repo}/{repo}": true, "http://git/{repo}?x={repo}": true, "http://{repo}": true,
	} {
		c := gitea()
		c.Name, c.GitURL = "git-"+strings.Trim(strings.NewReplacer(":", "", "/", "", "{", "", "}", "", "?", "", "=", "").Replace(address), "."), address
		assert.Equal(t, refused, invalid(t, f, operator, c, connection.Secrets{Token: token}) != nil, address)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := newPrivateKey(t)
	app := func(c *connection.Connection) {
		c.Kind, c.URL, c.AppID, c.Account, c.Installation = codehost.GitHub, "", 7, "acme", installed
	}
	for name, tt := range map[string]struct {
		set     func(*connection.Connection)
		secrets connection.Secrets
		want    []string
	}{
		"an app":                  {app, connection.Secrets{PrivateKey: key}, nil},
		"an app without its key":  {app, connection.Secrets{}, []string{"private_key"}},
		"an app with a token":     {app, connection.Secrets{PrivateKey: key, Token: token}, []string{"token"}},
		"a key of an app":         {nil, connection.Secrets{Token: token, PrivateKey: key}, []string{"private_key"}},
		"a key that is none":      {app, connection.Secrets{PrivateKey: "-----BEGIN"}, []string{"private_key"}},
		"an app elsewhere":        {func(c *connection.Connection) { app(c); c.Kind, c.URL = codehost.Gitea, "https://x.example" }, connection.Secrets{PrivateKey: key}, []string{"app_id"}},
		"an app of nobody":        {func(c *connection.Connection) { app(c); c.Account = "" }, connection.Secrets{PrivateKey: key}, []string{"account"}},
		"a negative app":          {func(c *connection.Connection) { app(c); c.AppID = -1 }, connection.Secrets{PrivateKey: key}, []string{"app_id"}},
		"an installation alone":   {func(c *connection.Connection) { c.Installation = 1 }, connection.Secrets{Token: token}, []string{"installation_id"}},
		"no token":                {nil, connection.Secrets{}, []string{"token"}},
		"a long token":            {nil, connection.Secrets{Token: strings.Repeat("x", 4097)}, []string{"token"}},
		"a token of two lines":    {nil, connection.Secrets{Token: "a\nb", GitToken: "c\x00"}, []string{"token", "git_token"}},
		"a short webhook secret":  {nil, connection.Secrets{Token: token, Webhook: []string{"short"}}, []string{"webhook_secret"}},
		"no name":                 {func(c *connection.Connection) { c.Name = "" }, connection.Secrets{Token: token}, []string{"name"}},
		"a name with capitals":    {func(c *connection.Connection) { c.Name = "Gitea" }, connection.Secrets{Token: token}, []string{"name"}},
		"no repositories":         {func(c *connection.Connection) { c.Repositories = nil }, connection.Secrets{Token: token}, []string{"repositories"}},
		"too many repositories":   {func(c *connection.Connection) { c.Repositories = make([]string, 101) }, connection.Secrets{Token: token}, nil},
		"no glob":                 {func(c *connection.Connection) { c.Repositories = []string{"acme/*", "acme", "[/x", "a/b/*"} }, connection.Secrets{Token: token}, []string{"repositories[1]", "repositories[2]"}},
		"an account with a blank": {func(c *connection.Connection) { c.Account = "a b" }, connection.Secrets{Token: token}, []string{"account"}},
		"no address":              {func(c *connection.Connection) { c.URL = "" }, connection.Secrets{Token: token}, []string{"url"}},
		"plain git":               {func(c *connection.Connection) { c.Kind = codehost.Git }, connection.Secrets{Token: token}, []string{"kind"}},
		"an unknown kind":         {func(c *connection.Connection) { c.Kind = "sourcehut" }, connection.Secrets{Token: token}, []string{"kind"}},
	} {
		c := gitea()
		c.Name = strings.ReplaceAll(name, " ", "-")
		if tt.set != nil {
			tt.set(&c)
		}
		got := invalid(t, f, tenant, c, tt.secrets)
		if name == "too many repositories" {
			assert.Contains(t, got, "repositories")
			continue
		}
		assert.Equal(t, tt.want, got, name)
	}
}

func TestCloneURL(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]connection.Connection{
		"https://github.com/acme/shop.git":           {Kind: codehost.GitHub, URL: "https://github.com"},
		"https://git.example.com/x/acme/shop.git":    {Kind: codehost.Gitea, URL: "https://git.example.com/x"},
		"https://git.example.com/scm/acme/shop.git":  {Kind: codehost.BitbucketServer, URL: "https://git.example.com"},
		"https://mirror.example.com/acme/shop/.git/": {Kind: codehost.GitLab, GitURL: "https://mirror.example.com/{repo}/.git/"},
	} {
		assert.Equal(t, want, c.CloneURL("acme/shop"))
	}
}
