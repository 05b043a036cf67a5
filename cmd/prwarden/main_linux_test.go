package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// prwarden runs the program and returns what it printed.
func prwarden(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), cli.Streams{Out: &out, Err: &errs, Env: env}, args)
	return code, out.String(), errs.String()
}

// The help of every command is looked at in golden files, is not much wider than
// 80 columns, and has examples.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		path := strings.Fields(cmd.CommandPath())[1:]
		name := strings.Join(append([]string{"prwarden"}, path...), "-")

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := prwarden(t, nil, append(path, "--help")...)
			assert.Equal(t, cli.ExitOK, code)
			assert.Empty(t, errs)
			golden(t, name, out)

			for line := range strings.Lines(out) {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 86, line)
			}

			if !cmd.HasSubCommands() && cmd.Name() != "version" {
				assert.NotEmpty(t, cmd.Example)
			}
		})
	}
}

// commands are all that the help shows, with root.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if !c.Hidden {
			all = append(all, commands(c)...)
		}
	}

	return all
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"serv":                              "Did you mean this?\n\tserve",
		"serve --http":                      "unknown flag: --http\nSee `prwarden serve --help`",
		"serve --config /nowhere/x.yaml":    "the configuration file can't be read",
		"serve --scan-workers 0":            "0 is not allowed",
		"migrate now":                       `unknown command "now"`,
		"keys creat":                        `unknown command "creat"`,
		"keys create --org acme":            "--org and --name are required",
		"audit --action key":                "there is no action key; the actions are key.create key.revoke rule.create",
		"review acme/web":                   "write OWNER/REPO NUMBER",
		"review acme/web 0":                 `"0" is not a pull request number`,
		"review web 1":                      `"web" is not a repository`,
		"review acme/web 1":                 "set PRWARDEN_API_KEY or give --key-file",
		"review acme/web 1 --ruleset=":      "set PRWARDEN_API_KEY", // which may be empty
		"review acme/web 1 --timeout 30":    `invalid argument "30" for "--timeout"`,
		"scan a b":                          "accepts at most 1 arg",
		"scan --all --staged":               "--all, --staged and --base exclude each other",
		"scanner --grpc-addr :0":            "--insecure",
		"backup x --database postgres://h/": "for Postgres use pg_dump",
		"restore":                           "accepts 1 arg",
		"organizations remove acme":         "say --yes if that is meant",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			code, out, errs := prwarden(t, nil, strings.Fields(line)...)
			assert.Equal(t, cli.ExitUsage, code)
			assert.Empty(t, out)
			assert.Contains(t, errs, want)
		})
	}
}

// A flag with nothing in it is not taken for one that was left out, in no command.
func TestEmptyFlags(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		path := strings.Fields(cmd.CommandPath())[1:]
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			fresh, _, err := newRoot(cli.Streams{}).Find(path)
			require.NoError(t, err)

			if fresh.ParseFlags([]string{"--" + f.Name + "="}) != nil || cmd.Name()+f.Name == "reviewruleset" {
				return // a number, or one that may be empty
			}

			require.ErrorContains(t, refuseEmpty(fresh, nil), "--"+f.Name+" is empty", cmd.CommandPath())
		})
	}

	code, _, errs := prwarden(t, nil, "scan", "")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "argument 1 is empty")
}

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What could not be printed has not gone well.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"--help", "rules", "--version", "version", "completion bash", "rules list", "rules explain security/no-eval",
		"rules schema", "rules try package main.go",
		"rules check ../../internal/dev/difftest/probes.yml",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			var errs strings.Builder
			code := run(t.Context(), cli.Streams{Out: full{}, Err: &errs}, strings.Fields(args))
			assert.Equal(t, cli.ExitFailed, code)
			assert.Contains(t, errs.String(), "no space left on device")
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out, _ := prwarden(t, nil, "version")
	assert.Equal(t, cli.ExitOK, code)
	_, short, _ := prwarden(t, nil, "--version")
	assert.Regexp(t, `^prwarden \S+\n$`, short)
	assert.True(t, strings.HasPrefix(out, short))
	assert.Regexp(t, `(?s)^prwarden \S+\ncommit: .*\ngo: .*\n$`, out)
}

// There is a man page for every command.
func TestMan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	code, out, errs := prwarden(t, nil, "man", dir)
	require.Equal(t, cli.ExitOK, code, errs)
	assert.Empty(t, out)

	for _, cmd := range commands(newRoot(cli.Streams{})) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(page), cmd.Short)
	}
}

// The units in docs/operations start commands that there are.
func TestUnits(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob("../../docs/operations/*.service")
	require.NoError(t, err)
	require.Len(t, units, 2)

	for _, unit := range units {
		text, err := os.ReadFile(unit)
		require.NoError(t, err)
		_, line, found := strings.Cut(string(text), "\nExecStart=/usr/local/bin/prwarden ")
		require.True(t, found, unit)
		line, _, _ = strings.Cut(line, "\n")

		cmd, args, err := newRoot(cli.Streams{}).Find(strings.Fields(line))
		require.NoError(t, err, unit)
		require.True(t, cmd.HasParent(), unit)
		require.NoError(t, cmd.ParseFlags(args), unit)
		assert.Empty(t, cmd.Flags().Args(), unit)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")
	with := func(args ...string) []string {
		return append(append([]string{"keys"}, args...), "--database", database)
	}

	code, _, details := prwarden(t, nil, with("create", "--org", "default", "--name", "ci")...)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, details, "there is no database")

	// The database is new: it gets its schema on the way.
	code, token, details := prwarden(
		t, nil,
		with("create", "--create", "--org", "default", "--name", "ci \x1b[31m", "--expires", "720h", "--rate-limit", "5")...,
	)
	require.Equal(t, cli.ExitOK, code, details)
	assert.Regexp(t, `^prw_[0-9A-Za-z]{36}\n$`, token)
	id := regexp.MustCompile(`key_\w+`).FindString(details)
	require.NotEmpty(t, id, details)
	who, err := user.Current()
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	operator := "cli:" + who.Username + "@" + host
	assert.NotContains(t, details, strings.TrimSpace(token))
	assert.NotContains(t, details, "warning")

	code, _, details = prwarden(t, nil, with("create", "--org", "other", "--name", "x")...)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, details, "there is no organization other; there are default,")
	code, _, details = prwarden(t, nil, "organizations", "create", "other", "--database", database)
	require.Equal(t, cli.ExitOK, code, details)
	code, _, details = prwarden(t, nil,
		with("create", "--org", "other", "--name", "x", "--scopes", "keys:admin,rules:read")...)
	require.Equal(t, cli.ExitOK, code, details)

	code, list, _ := prwarden(t, nil, with("list")...)
	require.Equal(t, cli.ExitOK, code)
	assert.Len(t, strings.Split(strings.TrimSpace(list), "\n"), 3)
	assert.Contains(t, list, id)
	assert.Contains(t, list, `ci \x1b[31m`)
	assert.Contains(t, list, "5/min")
	assert.NotContains(t, list, strings.TrimSpace(token))

	code, list, _ = prwarden(t, nil, with("list", "--org", "other")...)
	require.Equal(t, cli.ExitOK, code)
	assert.NotContains(t, list, id)
	assert.Contains(t, list, "keys:admin,rules:read")

	code, _, details = prwarden(t, nil, with("revoke", id)...)
	require.Equal(t, cli.ExitOK, code, details)
	_, list, _ = prwarden(t, nil, with("list")...)
	assert.Regexp(t, id+` +revoked +default`, list)
	code, _, details = prwarden(t, nil, with("revoke", id)...)
	assert.Equal(t, cli.ExitOK, code, details)
	code, _, details = prwarden(t, nil, with("revoke", id, "--with-children")...)
	assert.Equal(t, cli.ExitOK, code, details)

	code, list, details = prwarden(t, nil, "audit", "--database", database, "-o", "jsonl", "--actor", operator)
	require.Equal(t, cli.ExitOK, code, details)
	actions := regexp.MustCompile(`"action":"([a-z.]+)"`).FindAllStringSubmatch(list, -1)
	require.Len(t, actions, 4, list)
	for i, want := range []string{"key.revoke", "key.create", "organization.create", "key.create"} {
		assert.Equal(t, want, actions[i][1])
	}
	code, list, details = prwarden(t, nil, "audit", "--database", database, "--action", "key.revoke", "--since", "1h")
	require.Equal(t, cli.ExitOK, code, details)
	assert.Regexp(t, `(?s)^TIME .*CHANGES\n\S+ +default +`+regexp.QuoteMeta(operator)+` +- +key.revoke +`+id+` *\n$`, list)
	code, list, _ = prwarden(t, nil, "audit", "--database", database, "--org", "default", "--limit", "1", "-o", "jsonl")
	require.Equal(t, cli.ExitOK, code)
	assert.Equal(t, 1, strings.Count(list, "\n"), list)
	code, _, details = prwarden(t, nil, "audit", "--database", database, "--since", "yesterday")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, details, "--since yesterday is no time")

	code, _, details = prwarden(t, nil, with("create", "--org", "default", "--name", "x", "--scopes", "all")...)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, details, "scopes[0]")
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	args := []string{"migrate", "--database", "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")}
	code, _, details := prwarden(t, nil, args...)
	require.Equal(t, cli.ExitOK, code, details)
	assert.Contains(t, details, "from version 0 to")
	code, _, details = prwarden(t, nil, args...)
	require.Equal(t, cli.ExitOK, code, details)
	assert.NotContains(t, details, "from version 0")
}

// Whoever reads the log of a service expects nothing but JSON there.
func TestFatalErrorsAreLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	for name, args := range map[string][]string{
		"serve": {
			"serve", "--database", "sqlite:" + dir + "/none/prwarden.db", "--http-addr", "127.0.0.1:0", "--grpc-addr",
			"127.0.0.1:0",
		},
		"scanner": {"scanner", "--cache-dir", file, "--grpc-addr", "127.0.0.1:0"},
	} {
		code, out, errs := prwarden(t, nil, args...)
		assert.Equal(t, cli.ExitFailed, code, name)
		assert.Empty(t, out)
		assert.Contains(t, errs, `"msg":"ended","error":"`)

		for line := range strings.Lines(errs) {
			assert.True(t, json.Valid([]byte(line)), "%s: %s", name, line)
		}
	}
}
