package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/manual"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// prwarden runs the program and returns what it printed.
func prwarden(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), cli.Streams{Out: &out, Err: &errs, Env: env}, args)
	return code, out.String(), errs.String()
}

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
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), manual.Columns, line)
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

// A command that does something has examples.
func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		assert.NotEmpty(t, cmd.Short, cmd.CommandPath())
		assert.NotEmpty(t, cmd.Long, cmd.CommandPath())
		if !cmd.HasSubCommands() && cmd.Name() != "version" {
			assert.NotEmpty(t, cmd.Example, cmd.CommandPath())
		}
	}
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
	tests := []struct {
		name string
		env  []string
		args []string
		want []string
	}{
		{
			"unknown command", nil, []string{"serv"},
			[]string{`unknown command "serv"; did you mean serve?`, "See `prwarden --help`"},
		},
		{"unknown flag", nil, []string{"serve", "--http"}, []string{"unknown flag: --http", "See `prwarden serve --help`"}},
		{
			"bad setting", []string{"PRWARDEN_SCAN_WORKERS=0"}, []string{"serve"},
			[]string{"scan_workers (from PRWARDEN_SCAN_WORKERS): 0 is not allowed"},
		},
		{
			"missing file", nil, []string{"serve", "--config", "/nowhere/prwarden.yaml"},
			[]string{"the configuration file can't be read"},
		},
		{"surplus argument", nil, []string{"migrate", "now"}, []string{`unknown command "now"`}},
		{
			"surplus argument of keys", nil, []string{"keys", "creat"},
			[]string{`unknown command "creat"; did you mean create?`, "See `prwarden keys --help`"},
		},
		{"no number", nil, []string{"review", "acme/web"}, []string{"give both OWNER/REPO and NUMBER"}},
		{"bad number", nil, []string{"review", "acme/web", "0"}, []string{`"0" is not a pull request number`}},
		{"bad repository", nil, []string{"review", "web", "1"}, []string{`"web" is not a repository`}},
		{"no key", nil, []string{"review", "acme/web", "1"}, []string{"no API key: set PRWARDEN_API_KEY or give --key-file"}},
		{"no name", nil, []string{"keys", "create", "--org", "acme"}, []string{"--org and --name are required"}},
		{"scan of two", nil, []string{"scan", "a", "b"}, []string{"give one PATH", "See `prwarden scan --help`"}},
		{
			"scan of two kinds", nil, []string{"scan", "--all", "--staged"},
			[]string{"--all, --staged and --base exclude each other"},
		},
		{
			"no time", nil, []string{"review", "acme/web", "1", "--timeout", "30"},
			[]string{`--timeout: "30" is no time; write it with a unit`},
		},
		{"no number of jobs", nil, []string{"scan", "--jobs", "x"}, []string{`--jobs: "x" is no number`}},
		{"no switch", nil, []string{"scan", "--all=maybe"}, []string{`--all: "maybe" is neither true nor false`}},
		{"scan of nothing", nil, []string{"scan", ""}, []string{"argument 1 is empty"}},
		{"review of nothing", nil, []string{"review", "", ""}, []string{"argument 1 is empty"}},
		{"test of nothing", nil, []string{"rules", "test", "rules.yml", ""}, []string{"argument 2 is empty"}},
		{"scanner open to all", nil, []string{"scanner", "--grpc-addr", ":0"}, []string{"--insecure"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := prwarden(t, tt.env, tt.args...)
			assert.Equal(t, cli.ExitUsage, code)
			assert.Empty(t, out)
			for _, part := range tt.want {
				assert.Contains(t, errs, part)
			}
		})
	}
}

// A flag with nothing in it is not taken for one that was left out, in no command.
func TestEmptyFlags(t *testing.T) {
	t.Parallel()
	needed := map[string][]string{
		"prwarden backup": {"x"}, "prwarden restore": {"x"}, "prwarden completion": {"bash"}, "prwarden keys revoke": {"x"},
		"prwarden organizations create": {"x"}, "prwarden organizations update": {
			"x",
		}, "prwarden organizations remove": {"x"},
		"prwarden rules explain": {"x"}, "prwarden rules try": {"x", "x"},
	}
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" || slices.Contains(mayBeEmpty(), cmd.Name()+" "+f.Name) {
				return
			}
			t.Run(cmd.CommandPath()+" --"+f.Name, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(cmd.CommandPath())[1:], "--"+f.Name, "")
				code, out, errs := prwarden(t, nil, append(args, needed[cmd.CommandPath()]...)...)
				assert.Equal(t, cli.ExitUsage, code)
				assert.Empty(t, out)
				assert.Regexp(t, `^prwarden: --`+f.Name+`( is empty|: "" is no )`, errs)
			})
		})
	}
}

// What may be empty is a flag that there is.
func TestMayBeEmpty(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, cmd.Name()+" "+f.Name) })
	}
	assert.Subset(t, flags, mayBeEmpty())
	_, _, errs := prwarden(t, nil, "review", "acme/web", "1", "--ruleset=")
	assert.Contains(t, errs, "no API key")
}

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What could not be printed has not gone well.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"--help", "rules", "rules try --help", "--version", "version", "completion bash", "completion zsh",
		"rules list", "rules explain security/no-eval", "rules schema", "rules try package main.go",
		"rules check ../../internal/dev/difftest/probes.yml",
		"rules check ../../internal/dev/difftest/probes.yml --output json",
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
	assert.Regexp(t, `(?s)^prwarden \S+\ncommit: .*\ngo: .*\nschema:  [1-9]\d*\n$`, out)
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
	assert.NotContains(t, list, id)
	code, _, details = prwarden(t, nil, with("revoke", id)...)
	assert.Equal(t, cli.ExitFailed, code, details)

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
	assert.Contains(t, details, "already")
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
