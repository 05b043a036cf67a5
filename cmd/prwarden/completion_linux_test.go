package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

// TestMain lets the test program be prwarden itself, for shells that call it.
func TestMain(m *testing.M) {
	if os.Getenv("PRWARDEN_TEST_AS_PROGRAM") != "" {
		main()
		return
	}
	if _, err := os.UserCacheDir(); err != nil { // for who runs tests without a home
		os.Setenv("HOME", os.TempDir())
	}
	os.Exit(m.Run())
}

// press is what bash does when someone presses Tab: it asks the script's
// function for the words that fit. The script needs a function of the package
// bash-completion; this one does the same where no word is quoted.
const press = `
_get_comp_words_by_ref() {
  words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD
  cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
}
compopt() { :; }
source "$SCRIPT"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_prwarden
printf '%s\n' "${COMPREPLY[@]}"
`

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "prwarden")))
	code, script, errs := prwarden(t, nil, "completion", "bash")
	require.Equal(t, cli.ExitOK, code, errs)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600))
	tests := []struct {
		line []string
		want []string
	}{
		{[]string{"prwarden", "rev"}, []string{"review"}},
		{[]string{"prwarden", "completion", ""}, []string{"bash", "fish", "powershell", "zsh"}},
		{[]string{"prwarden", "keys", "re"}, []string{"revoke"}},
		{[]string{"prwarden", "review", "--key"}, []string{"--key-file"}},
		{[]string{"prwarden", "review", "--ruleset", ""}, []string{"default", "custom"}},
		{[]string{"prwarden", "serve", "--log-level", "w"}, []string{"warn"}},
		{[]string{"prwarden", "review", "--fail-on", "c"}, []string{"critical"}},
		{[]string{"prwarden", "review", "--output", "j"}, []string{"json", "junit"}},
		{[]string{"prwarden", "review", "--output", "json=" + dir + "/sc"}, []string{dir + "/script"}},
		{[]string{"prwarden", "rules", "list", "--output", ""}, []string{"text", "json"}},
		{[]string{"prwarden", "rules", "explain", "security/no-ev"}, []string{"security/no-eval"}},
		{[]string{"prwarden", "review", "--server", ""}, []string{}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.line, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("bash", append([]string{"--norc", "--noprofile", "-c", press, "bash"}, tt.line...)...)
			cmd.Env = []string{
				"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"),
				"SCRIPT=" + filepath.Join(dir, "script"), "PRWARDEN_TEST_AS_PROGRAM=1",
			}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			words := []string{}
			for line := range strings.Lines(strings.Trim(string(out), "\n")) {
				words = append(words, strings.Fields(line)[0]) // what follows explains it
			}
			assert.Equal(t, tt.want, words)
		})
	}
}

// Each shell gets a script that asks the program.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		code, out, errs := prwarden(t, nil, "completion", shell)
		assert.Equal(t, cli.ExitOK, code, errs)
		assert.Contains(t, out, "__complete", shell)
		assert.Contains(t, out, "# "+shell+" completion ", shell)
	}
	for _, args := range [][]string{{}, {"csh"}, {"bash", "zsh"}} {
		code, out, errs := prwarden(t, nil, append([]string{"completion"}, args...)...)
		assert.Equal(t, cli.ExitUsage, code)
		assert.Empty(t, out)
		assert.Contains(t, errs, "name one shell: bash, fish, powershell, zsh")
	}
}

// What is offered as a flag's value is offered by a flag that there is.
func TestChoicesAreOfFlags(t *testing.T) {
	t.Parallel()
	flags := map[string]bool{}
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags[f.Name], flags[cmd.Name()+" "+f.Name] = true, true
			if cmd.HasParent() {
				flags[cmd.Parent().Name()+" "+f.Name] = true
			}
		})
	}
	for name := range choices() {
		assert.True(t, flags[name], name)
	}
}

// Files are offered for files only.
func TestCompletionOfFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want cobra.ShellCompDirective
	}{
		{[]string{"review", "--key-file", ""}, cobra.ShellCompDirectiveDefault},
		{[]string{"serve", "--cache-dir", ""}, cobra.ShellCompDirectiveFilterDirs},
		{[]string{"serve", "--http-addr", ""}, cobra.ShellCompDirectiveNoFileComp},
		{[]string{"keys", "create", "--scopes", ""}, cobra.ShellCompDirectiveNoFileComp},
		{[]string{"review", ""}, cobra.ShellCompDirectiveNoFileComp},
		{[]string{"scan", ""}, cobra.ShellCompDirectiveDefault},
		{[]string{"rules", "try", "eval", ""}, cobra.ShellCompDirectiveDefault},
	}
	for _, tt := range tests {
		code, out, errs := prwarden(t, nil, append([]string{"__complete"}, tt.args...)...)
		require.Equal(t, cli.ExitOK, code, errs)
		assert.Regexp(t, fmt.Sprintf(`(?m)^:%d$`, tt.want), out, "%v", tt.args)
	}
}
