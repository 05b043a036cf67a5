package config_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/seal"
)

// load runs Load as a command line would: file is the content of a
// configuration file, none when empty.
func load(t *testing.T, cmd config.Command, file string, environ []string, args ...string) (config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.Bind(cmd, flags)
	if file != "" {
		args = append(args, "--config", writeFile(t, file))
	}
	require.NoError(t, flags.Parse(args))
	return config.Load(cmd, environ, flags)
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prwarden.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	c, err := load(t, config.Serve, "", nil)
	require.NoError(t, err)
	assert.Equal(t, config.Default(), c)
	assert.Equal(t, "127.0.0.1:8080", c.HTTPAddr)
	assert.Nil(t, c.Organizations)
}

func TestLoadPrecedence(t *testing.T) {
	t.Parallel()
	const file = "http_addr: 127.0.0.1:1\n"
	environ := []string{"PRWARDEN_HTTP_ADDR=127.0.0.1:2"}
	tests := []struct {
		name    string
		file    string
		environ []string
		args    []string
		want    string
	}{
		{"default", "", nil, nil, "127.0.0.1:8080"},
		{"file over default", file, nil, nil, "127.0.0.1:1"},
		{"environment over file", file, environ, nil, "127.0.0.1:2"},
		{"flag over environment", file, environ, []string{"--http-addr", "127.0.0.1:3"}, "127.0.0.1:3"},
		{"an empty variable is none", file, []string{"PRWARDEN_HTTP_ADDR="}, nil, "127.0.0.1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := load(t, config.Serve, tt.file, tt.environ, tt.args...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, c.HTTPAddr)
		})
	}
}

func TestLoadConfigFromEnvironment(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "scan_workers: 7\n")
	c, err := load(t, config.Serve, "", []string{"PRWARDEN_CONFIG=" + path})
	require.NoError(t, err)
	assert.Equal(t, 7, c.ScanWorkers)
}

func TestLoadEverySource(t *testing.T) {
	t.Parallel()
	want := func(c config.Config) {
		assert.Equal(t, []string{"10.0.0.1:9191", "10.0.0.2:9191"}, c.Scanners)
		assert.Equal(
			t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32")}, c.TrustedProxies,
		)
		assert.Equal(t, config.Size(500<<20), c.CacheSize)
		assert.Equal(t, 5*time.Second, c.ShutdownGrace)
		assert.True(t, c.Insecure)
	}
	c, err := load(t, config.Serve, `
scanner: ["10.0.0.1:9191", "10.0.0.2:9191"]
trusted_proxies: [10.0.0.0/8, 192.0.2.1]
cache_size: 500MiB
shutdown_grace: 5s
insecure: true
`, nil)
	require.NoError(t, err)
	want(c)

	c, err = load(t, config.Serve, "", []string{
		"PRWARDEN_SCANNER=10.0.0.1:9191, 10.0.0.2:9191", "PRWARDEN_TRUSTED_PROXIES=10.0.0.0/8,192.0.2.1",
		"PRWARDEN_CACHE_SIZE=500MiB", "PRWARDEN_SHUTDOWN_GRACE=5s", "PRWARDEN_INSECURE=true",
		"PRWARDEN_SERVICE_HOST=10.1.1.1", // what Kubernetes sets is none of ours
	})
	require.NoError(t, err)
	want(c)

	c, err = load(t, config.Serve, "", nil, "--scanner", "10.0.0.1:9191", "--scanner=10.0.0.2:9191",
		"--trusted-proxies", "10.0.0.0/8,192.0.2.1", "--cache-size=500MiB", "--shutdown-grace=5s", "--insecure")
	require.NoError(t, err)
	want(c)
}

func TestLoadOrganizations(t *testing.T) {
	t.Parallel()
	c, err := load(t, config.Serve, `
organizations:
  - name: acme
    repositories: ["acme/*"]
    host: {kind: git, url: "https://git.example.com/{repo}.git", token_env: ACME_TOKEN}
    max_scans: 3
    max_queued: 200
  - name: local
    repositories: ["*/*"]
    host:
      kind: git
      url: file:///srv/git/{owner}/{name}.git
      head_ref: refs/merge-requests/{number}/head
`, nil)
	require.NoError(t, err)
	require.Len(t, c.Organizations, 2)
	assert.Equal(t, organization.Host{
		Kind: "git", URL: "https://git.example.com/{repo}.git", TokenEnv: "ACME_TOKEN", Username: "x-access-token",
		HeadRef: "refs/pull/{number}/head", MergeRef: "refs/pull/{number}/merge",
	}, c.Organizations[0].Host)
	assert.Equal(t, "refs/merge-requests/{number}/head", c.Organizations[1].Host.HeadRef)

	acme := c.Organizations[0]
	assert.Equal(t, []string{"acme/*"}, acme.Repositories)
	assert.Equal(t, []int{3, 200}, []int{acme.MaxScans, acme.MaxQueued})
	assert.True(t, acme.Declared)

	c, err = load(t, config.Serve, "log_level: info\n", nil)
	require.NoError(t, err)
	assert.Nil(t, c.Organizations, "a file without the key declares nothing")
}

func TestLoadSignIn(t *testing.T) {
	t.Parallel()
	const file = `
public_url: https://prwarden.example.com
sign_in:
  oidc:
    name: Acme ID
    issuer: https://id.example.com/realms/acme
    client_id: prwarden
    client_secret_env: PRWARDEN_OIDC_SECRET
    scopes: [groups]
    groups_claim: groups
    roles:
      - {group: platform, organization: acme, role: admin}
    only: true
    break_glass: ada@example.com
`
	c, err := load(t, config.Serve, file, nil)
	require.NoError(t, err)
	assert.Equal(t, &account.OIDC{
		Name: "Acme ID", Issuer: "https://id.example.com/realms/acme", ClientID: "prwarden",
		ClientSecretEnv: "PRWARDEN_OIDC_SECRET", Scopes: []string{"groups"}, GroupsClaim: "groups",
		Roles: []account.GroupRole{{Group: "platform", Organization: "acme", Role: auth.Admin}},
		Only:  true, BreakGlass: "ada@example.com",
	}, c.SignIn.OIDC)
	_, err = load(t, config.Keys, "sign_in: {oidc: {name: a}}\n", nil)
	require.NoError(t, err, "only servers look at it")
}

func TestLoadConnections(t *testing.T) {
	t.Parallel()
	const file = `
public_url: https://prwarden.example.com/x/
connections_allow: [https://git.corp.example]
webhooks_allow: [10.1.0.0/16]
secrets: {keys: [{name: k2, env: K2}, {name: k1, file: /k1}]}
connections:
  - organization: acme
    name: gitea
    kind: gitea
    url: http://10.0.0.7:3000
    repositories: ["acme/*"]
    token_env: PRWARDEN_GITEA_TOKEN
  - organization: acme
    name: github
    kind: github
    repositories: ["acme/*"]
    account: acme
    app_id: 1234
    installation_id: 5678
    private_key_file: /github.pem
`
	c, err := load(t, config.Serve, file, nil)
	require.NoError(t, err)
	assert.Equal(t, "https://prwarden.example.com/x/hooks/con_a", c.HookURL("con_a"))
	assert.Empty(t, config.Hosts{}.HookURL("con_a"))
	assert.Equal(t, egress.Guard{Origins: []string{"https://git.corp.example:443"}}, c.Guard())
	assert.Equal(t, egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, c.WebhookGuard())
	assert.Equal(t, []seal.Source{{Name: "k2", Env: "K2"}, {Name: "k1", File: "/k1"}}, c.SecretKeys)
	assert.Equal(t, []connection.Declared{{
		Organization: "acme", Name: "gitea", Kind: codehost.Gitea, URL: "http://10.0.0.7:3000",
		Repositories: []string{"acme/*"}, TokenEnv: "PRWARDEN_GITEA_TOKEN",
	}, {
		Organization: "acme", Name: "github", Kind: codehost.GitHub, Repositories: []string{"acme/*"}, Account: "acme",
		AppID: 1234, Installation: 5678, PrivateKeyFile: "/github.pem",
	}}, c.Connections)
	_, err = load(t, config.Review, "connections: [{name: a}]\n", nil)
	require.NoError(t, err, "only servers look at them")
}

// TestCheckTokenEnv holds which secrets of a process can't be sent to a host.
func TestCheckTokenEnv(t *testing.T) {
	t.Parallel()
	c, err := load(t, config.Serve, "token_envs: [CI_TOKEN]\n"+
		"organizations:\n  - name: acme\n    repositories: ['a/*']\n"+
		"    host: {kind: git, url: 'https://h/{repo}', token_env: ACME_TOKEN}\n", nil)
	require.NoError(t, err)
	for name, allowed := range map[string]bool{
		"PRWARDEN_ACME": true, "CI_TOKEN": true, "ACME_TOKEN": true,
		"AWS_SECRET_ACCESS_KEY": false, "PRWARDEN_DATABASE": false, "PRWARDEN_API_KEY": false, "CI_TOKEN2": false,
	} {
		assert.Equal(t, allowed, c.CheckTokenEnv(name) == nil, name)
	}
}

func TestLoadProblems(t *testing.T) {
	t.Parallel()
	host := func(fields string) string {
		return "organizations:\n  - name: acme\n    repositories: ['acme/*']\n    host: {" + fields + "}\n"
	}
	tests := []struct {
		name    string
		cmd     config.Command
		file    string
		environ []string
		args    []string
		want    []string // parts of the message
	}{
		{
			name: "unknown key with its line", file: "http_addr: :1\nhttp_address: :2\n",
			want: []string{`prwarden.yaml:2: unknown key "http_address"`, "known are", "http_addr"},
		},
		{name: "the flag's spelling", file: "http-addr: :1\n", want: []string{
			`prwarden.yaml:1: unknown key "http-addr"; did you mean "http_addr"?`,
		}},
		{name: "unknown nested key", file: host("kind: git, uri: x"), want: []string{
			`prwarden.yaml:4: unknown key "uri" in an organization`,
		}},
		{name: "a key twice", file: "http_addr: :1\nhttp_addr: :2\n", want: []string{"prwarden.yaml:2", "already defined"}},
		{name: "no value", file: "http_addr:\n", want: []string{"prwarden.yaml:1: http_addr: it has no value"}},
		{name: "no organizations", file: "organizations:\n",
			want: []string{"prwarden.yaml:1: organizations: it has no value"}},
		{
			name: "no cap", file: host("kind: git, url: 'https://h/{repo}'") + "    max_scans:\n",
			want: []string{"prwarden.yaml:5: max_scans: it has no value"},
		},
		{name: "not YAML", file: "http_addr: [\n", want: []string{"prwarden.yaml:1: "}},
		{name: "two documents", file: "insecure: true\n---\ninsecure: false\n", want: []string{"one YAML document"}},
		{name: "not keys", file: "- a\n", want: []string{"prwarden.yaml:1: cannot unmarshal"}},
		{name: "no list", file: "scanner: 10.0.0.1:9191\n", want: []string{"scanner: it must be a list"}},
		{name: "aliases", file: "database: &a sqlite:x\nhttp_addr: *a\n",
			want: []string{"http_addr: it must be a single value"}},
		{name: "a list for a value", file: "http_addr: [a]\n", want: []string{"http_addr: it must be a single value"}},
		{
			name: "number in the environment", environ: []string{"PRWARDEN_SCAN_WORKERS=many"},
			want: []string{`scan_workers (from PRWARDEN_SCAN_WORKERS): "many" is not a whole number`},
		},
		{
			name: "number out of bounds", args: []string{"--scan-workers", "0"},
			want: []string{"scan_workers (from --scan-workers): 0 is not allowed; it must be from 1 to 1024"},
		},
		{
			name: "everything at once", file: "scan_workers: x\nshutdown_grace: 5\n",
			want: []string{"prwarden.yaml:1: scan_workers", `prwarden.yaml:2: shutdown_grace: "5" is not a duration`},
		},
		{name: "bool", args: []string{"--insecure=yes"}, want: []string{`"yes" is neither true nor false`}},
		{
			name: "address without port", args: []string{"--http-addr", "localhost"},
			want: []string{`http_addr (from --http-addr): "localhost"`, "HOST:PORT"},
		},
		{name: "port too high", args: []string{"--grpc-addr", ":70000"}, want: []string{"0 to 65535"}},
		{
			name: "scanner without host", args: []string{"--scanner", ":9191"},
			want: []string{"scanner[0] (from --scanner)", "which machine"},
		},
		{
			name: "proxy", args: []string{"--trusted-proxies", "10.0.0.0/99"},
			want: []string{"neither an address nor a network"},
		},
		{
			name: "password in a flag", args: []string{"--database", "postgres://u:hunter2@h/db"},
			want: []string{"database (from --database): every user of this machine could read the password"},
		},
		{
			name: "password in a parameter", args: []string{"--database", "postgresql://h/db?password=hunter2"},
			want: []string{"could read the password"},
		},
		{
			name: "password that can't be parsed", args: []string{"--database", "postgres://u:%zzhunter2@h/db"},
			want: []string{"could read the password"},
		},
		{
			name: "postgres without slashes", environ: []string{"PRWARDEN_DATABASE=postgres:hunter2"},
			want: []string{"PRWARDEN_DATABASE", "must begin with postgres://"},
		},
		{name: "one connection", args: []string{"--database-connections", "1"}, want: []string{"from 2 to 1000"}},
		{name: "no kind of database", args: []string{"--database", "prwarden.db"}, want: []string{"write sqlite:PATH"}},
		{name: "no database file", args: []string{"--database", "sqlite:"}, want: []string{"names no file"}},
		{name: "size", args: []string{"--cache-size", "-10GiB"}, want: []string{`"-10GiB" is not a size`}},
		{name: "size too small", args: []string{"--cache-size", "1MiB"}, want: []string{"at least 64MiB"}},
		{name: "log level", args: []string{"--log-level", "loud"}, want: []string{"debug, info, warn or error"}},
		{name: "certificate without key", args: []string{"--tls-cert", "a.pem"}, want: []string{"belong together"}},
		{
			name: "scanner beyond loopback that takes anybody", cmd: config.Scanner,
			args: []string{"--grpc-addr", ":9191", "--tls-cert=c", "--tls-key=k"},
			want: []string{"scanner_grpc_addr (from --grpc-addr)", "--tls-ca"},
		},
		{
			name: "scanner's ops address", cmd: config.Scanner, args: []string{"--ops-addr", "9095"},
			want: []string{"scanner_ops_addr (from --ops-addr)", "HOST:PORT"},
		},
		{
			name: "scanner's workers", cmd: config.Scanner, args: []string{"--scan-workers", "0"},
			want: []string{"scan_workers (from --scan-workers)", "from 1 to 1024"},
		},
		{
			name: "scanner in plain text beyond loopback", cmd: config.Scanner, args: []string{"--grpc-addr", ":9191"},
			want: []string{"scanner_grpc_addr (from --grpc-addr)", "--insecure"},
		},
		{
			name: "server address", cmd: config.Review, args: []string{"--server", "example.com"},
			want: []string{"server (from --server)", "https://HOST"},
		},
		{name: "no organization", file: "organizations: []\n", want: []string{
			"organizations", "there must be at least one",
		}},
		{
			name: "organization's name",
			file: "organizations:\n  - name: Acme!\n    repositories: [a/b]\n    host: {kind: git, url: 'https://h/{repo}'}\n",
			want: []string{"organizations[0].name", "\"Acme!\" is not allowed"},
		},
		{
			name: "github", file: host("kind: github, url: 'https://api.github.com'"),
			want: []string{"organizations[0].host.kind", "not supported yet", "kind git"},
		},
		{name: "gitlab", file: host("kind: gitlab"), want: []string{
			"not supported yet", "refs/merge-requests/{number}/head",
		}},
		{name: "unknown kind", file: host("kind: svn"), want: []string{"unknown kind \"svn\""}},
		{name: "no url", file: host("kind: git"), want: []string{"organizations[0].host.url", "it is missing"}},
		{
			name: "the same url for all", file: host("kind: git, url: 'https://h/x.git'"),
			want: []string{"same for every repository"},
		},
		{
			name: "host from the repository", file: host("kind: git, url: 'https://{owner}/{name}.git'"),
			want: []string{"must name its host in full"},
		},
		{
			name: "password in the url", file: host("kind: git, url: 'https://u:p@h/{repo}.git'"),
			want: []string{"must not hold a user name or password"},
		},
		{name: "unknown scheme", file: host("kind: git, url: 'ext::sh -c x/{repo}'"), want: []string{"host.url"}},
		{
			name: "token in clear", file: host("kind: git, url: 'http://h/{repo}.git', token_env: T"),
			want: []string{"sent over https only"},
		},
		{
			name: "a token instead of its variable",
			file: host("kind: git, url: 'https://h/{repo}.git', token_env: ghp_abc"), want: []string{"and not the token"},
		},
		{
			name: "head_ref", file: host("kind: git, url: 'https://h/{repo}.git', head_ref: '--upload-pack=x'"),
			want: []string{"host.head_ref", "{number}"},
		},
		{
			name: "scans of an organization", file: host("kind: git, url: 'https://h/{repo}.git'") + "    max_scans: -1\n",
			want: []string{"organizations[0].max_scans", "-1 is not allowed; it must be from 1 to 100000"},
		},
		{
			name: "queue of an organization",
			file: host("kind: git, url: 'https://h/{repo}.git'") + "    max_queued: 10001\n",
			want: []string{
				"organizations[0].max_queued", "10001 is not allowed; it must be from 1 to 10000, or 0 for 10000",
			},
		},
		{
			name: "glob",
			file: "organizations:\n  - name: a\n    repositories: [acme]\n    host: {kind: git, url: 'https://h/{repo}.git'}\n",
			want: []string{"repositories[0]", "not a glob of OWNER/NAME"},
		},
		{
			name: "unknown key in a connection", file: "connections:\n  - name: a\n    token: ghp_abc\n",
			want: []string{`prwarden.yaml:3: unknown key "token" in a connection`},
		},
		{
			name: "unknown key in secrets", file: "secrets: {keys: [{name: a, key: hunter2}]}\n",
			want: []string{`prwarden.yaml:1: unknown key "key" in secrets`},
		},
		{
			name: "connections",
			file: "connections:\n  - {organization: a, name: b, kind: gitea, url: 'ssh://x', repositories: ['a/*'], token_env: A}\n" +
				"  - {organization: a, name: b, kind: gitea, url: 'http://x', repositories: ['a/*'], token_env: A}\n",
			want: []string{"connections[0].url (from ", `"ssh"; it must be https or http`, "connections[1].name", `"b" is there twice`},
		},
		{
			name: "keys", file: "secrets: {keys: [{name: K1, env: A}, {name: k2}]}\n",
			want: []string{"secrets.keys[0].name", "secrets.keys[1].env", "a key is either in a variable"},
		},
		{
			name: "unknown key in sign_in", file: "sign_in: {oidc: {client_secret: hunter2}}\n",
			want: []string{`prwarden.yaml:1: unknown key "client_secret" in sign_in`},
		},
		{
			name: "sign_in", file: "sign_in: {oidc: {issuer: 'http://x', roles: [{group: a, organization: b, role: king}]}}\n",
			want: []string{
				"sign_in.oidc.issuer", "must begin with https://", "sign_in.oidc.client_id", "sign_in.oidc.groups_claim",
				"sign_in.oidc.roles[0].role (from ", `there is no role "king"`, "sign_in.oidc (from ", "needs public_url",
			},
		},
		{
			name: "sign_in on Postgres", args: []string{"--database", "postgres://p@h/d", "--public-url", "https://x.example"},
			file: "sign_in: {oidc: {issuer: 'https://id.example.com', client_id: p}}\n",
			want: []string{"on Postgres it needs secrets.keys"},
		},
		{
			name: "addresses", file: "public_url: prwarden.example.com\nconnections_allow: ['https://git/x']\n" +
				"webhooks_allow: [10.1.0.1/16]\n",
			want: []string{
				"public_url: ", `connections_allow[0]: "https://git/x" is not an origin`,
				`webhooks_allow[0]: "10.1.0.1/16" is not a network`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.cmd == 0 {
				tt.cmd = config.Serve
			}
			_, err := load(t, tt.cmd, tt.file, tt.environ, tt.args...)
			var problems config.Problems
			require.ErrorAs(t, err, &problems)
			for _, part := range tt.want {
				assert.ErrorContains(t, err, part)
			}
			assert.NotContains(t, err.Error(), "hunter2")
			assert.NotContains(t, err.Error(), "ghp_abc")
		})
	}
}

func TestLoadMissingFile(t *testing.T) {
	t.Parallel()
	_, err := load(t, config.Serve, "", []string{"PRWARDEN_CONFIG=" + filepath.Join(t.TempDir(), "none.yaml")})
	assert.ErrorContains(t, err, "the configuration file can't be read")
}

// A file serves several commands: what one does not use can't stop it.
func TestLoadValidatesWhatTheCommandUses(t *testing.T) {
	t.Parallel()
	const file = "scanner_grpc_addr: 0.0.0.0:9191\n"
	_, err := load(t, config.Serve, file, nil)
	require.NoError(t, err)
	_, err = load(t, config.Scanner, file, nil)
	require.Error(t, err)
	_, err = load(t, config.Scanner, file, nil, "--insecure")
	require.NoError(t, err)
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"# nothing\n", "---\n", "null\n"} {
		c, err := load(t, config.Serve, file, nil)
		require.NoError(t, err, file)
		assert.Equal(t, config.Default(), c)
	}
}
