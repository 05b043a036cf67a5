package blackbox_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// workflowFile is what the tests use of a workflow of GitHub Actions.
type workflowFile struct {
	Jobs map[string]struct{ Steps []workflowStep }
}

type workflowStep struct {
	ID, Uses, Shell, Run string
	Env, With            map[string]string
}

// actionFile is our action.
type actionFile struct {
	Inputs map[string]struct {
		Required bool
		Default  string
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []workflowStep
	}
}

const actionDir = "../../../.github/actions/prwarden"

func readAction(t *testing.T) actionFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(actionDir, "action.yml"))
	require.NoError(t, err)
	return parse[actionFile](t, string(text))
}

// actionRun is a run of the action as a runner does it.
type actionRun struct {
	dir     string // the workspace
	code    int
	log     string
	summary string
	outputs map[string]string
}

// runAction runs the steps of the action with inputs, as a runner of GitHub
// does: https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax.
func runAction(t *testing.T, with map[string]string, service []string) actionRun {
	t.Helper()
	action := readAction(t)
	require.Equal(t, "composite", action.Runs.Using)
	values := map[string]string{}
	for name, input := range action.Inputs {
		value, given := with[name]
		require.True(t, given || !input.Required, "input %s", name)
		if !given {
			value = input.Default
		}
		values["inputs."+name] = value
	}

	for name := range with {
		require.Contains(t, action.Inputs, name)
	}
	path, err := filepath.Abs(actionDir)
	require.NoError(t, err)
	values["github.action_path"] = path

	r := actionRun{dir: t.TempDir(), outputs: map[string]string{}}
	runner := t.TempDir()
	summary := filepath.Join(runner, "summary")
	common := append(env(t.TempDir()), service...)
	common = append(common, "CI=true", "RUNNER_OS=Linux", "RUNNER_TEMP="+runner, "GITHUB_ACTION_PATH="+path,
		"GITHUB_WORKSPACE="+r.dir, "GITHUB_STEP_SUMMARY="+summary)
	for _, step := range action.Runs.Steps {
		require.Equal(t, "bash", step.Shell)
		require.NotContains(t, step.Run, "${{", "scripts get values through the environment")
		output := filepath.Join(runner, "output-"+step.ID)
		require.NoError(t, os.WriteFile(output, nil, 0o600))
		script := filepath.Join(runner, step.ID+".sh")
		require.NoError(t, os.WriteFile(script, []byte(step.Run), 0o600))
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		cmd.Dir = r.dir
		cmd.Env = append(common[:len(common):len(common)], "GITHUB_OUTPUT="+output)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+evaluate(t, value, values))
		}
		out, err := cmd.CombinedOutput()
		r.log += string(out)
		if err != nil {
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			r.code = exit.ExitCode()
		}

		text, err := os.ReadFile(output)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			require.True(t, ok, line)
			values["steps."+step.ID+".outputs."+name] = value
		}

		if r.code != 0 {
			break
		}
	}

	for name, output := range action.Outputs {
		r.outputs[name] = evaluate(t, output.Value, values)
	}
	text, _ := os.ReadFile(summary)
	r.summary = string(text)
	return r
}

// evaluate replaces the expressions in a text; they are names only. What a step
// did not set is empty.
func evaluate(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{\{ ([a-z0-9_.-]+) \}\}`).ReplaceAllStringFunc(text, func(match string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(match, "${{ "), " }}")
		value, known := values[name]
		require.True(t, known || strings.HasPrefix(name, "steps."), "%s is not defined", name)
		return value
	})
}

// step is the step of the document's workflow that uses the action, with the
// inputs that it gives, the key being a secret.
func (s *ciServer) step(t *testing.T) map[string]string {
	t.Helper()
	steps := parse[workflowFile](t, snippets(t)[".github/workflows/prwarden.yml"]).Jobs["review"].Steps
	require.Len(t, steps, 2)
	require.Regexp(t, `^prwarden/prwarden/\.github/actions/prwarden@`, steps[0].Uses)
	require.Equal(t, "${{ secrets.PRWARDEN_API_KEY }}", steps[0].With["api-key"])
	with := maps.Clone(steps[0].With)
	with["api-key"], with["server"] = s.token, s.base
	for name := range steps[1].With {
		assert.NotContains(t, steps[1].With[name], "inputs.")
	}
	return with
}

func but(t *testing.T, inputs map[string]string, pairs ...string) map[string]string {
	t.Helper()
	all := maps.Clone(inputs)
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

func TestAction(t *testing.T) {
	t.Parallel()
	s := newCIServer(t, 7, 9, 10)
	step := s.step(t)

	t.Run("fails for a finding", func(t *testing.T) {
		t.Parallel()
		service := s.gitHubVariables(t, 7)
		inputs := but(t, step, "binary", binary, "outputs", "junit=out.xml\n\n  gitlab=quality.json  \n")
		r := runAction(t, inputs, service)
		require.Equal(t, 1, r.code, r.log)
		assert.Equal(t, "fail", r.outputs["verdict"])
		assert.Regexp(t, `^rev_[a-z0-9]+$`, r.outputs["review-id"])
		assert.Contains(t, r.log, "::error file=cart7.js,line=2,")
		assert.NotContains(t, r.log, s.token)
		assert.NotEmpty(t, r.summary)
		for _, file := range []string{r.outputs["sarif-file"], "out.xml", "quality.json"} {
			content, err := os.ReadFile(filepath.Join(r.dir, file))
			require.NoError(t, err)
			assert.Contains(t, string(content), "cart7.js")
		}

		again := runAction(t, inputs, append(service, "GITHUB_RUN_ATTEMPT=2"))
		assert.Equal(t, r.outputs, again.outputs, "a job that is tried again gets the same review")
	})

	t.Run("passes with the program of an archive", func(t *testing.T) {
		t.Parallel()
		r := runAction(t, but(t, step, "archive", s.archive, "archive-sha256", s.sum), s.gitHubVariables(t, 100))
		require.Equal(t, 0, r.code, r.log)
		assert.Equal(t, "pass", r.outputs["verdict"])
		assert.FileExists(t, filepath.Join(r.dir, r.outputs["sarif-file"]))
	})

	t.Run("builds the program from its own source", func(t *testing.T) {
		t.Parallel()
		service := s.gitHubVariables(t, 10)
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS"} {
			value, err := exec.Command("go", "env", name).Output()
			require.NoError(t, err)
			service = append(service, name+"="+strings.TrimSpace(string(value)))
		}

		// Else go leaves a process behind that writes into the home folder.
		home := t.TempDir()
		telemetry := filepath.Join(home, ".config", "go", "telemetry")
		require.NoError(t, os.MkdirAll(telemetry, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off\n"), 0o600))
		service = append(service, "HOME="+home)
		r := runAction(t, step, service)
		require.Equal(t, 1, r.code, r.log)
		assert.Equal(t, "fail", r.outputs["verdict"])
	})

	// Every process can read command lines.
	t.Run("keeps the key off command lines", func(t *testing.T) {
		t.Parallel()
		program, err := exec.LookPath("echo")
		require.NoError(t, err)
		r := runAction(t, but(t, step, "binary", program), s.gitHubVariables(t, 9))
		require.Equal(t, 0, r.code, r.log)
		assert.Contains(t, r.log, "--fail-on=high")
		assert.NotContains(t, r.log, s.token)
	})
}

// The step ends with the status of the command, and only what there is of the
// review is an output: the steps behind it upload no old report, nor one of a
// review without a result.
func TestActionEnds(t *testing.T) {
	t.Parallel()
	s := newCIServer(t, 7)
	s.repo.commit("refs/pull/8/head", "", files{"else.js": "eval(x)\n"}) // nothing in common with main
	step := s.step(t)
	for name, tt := range map[string]struct {
		number  int
		inputs  []string
		code    int
		verdict string
		review  bool
		sarif   bool
		log     string
	}{
		"a finding reaches the threshold": {
			7, []string{"fail-on", "high"}, 1, "fail", true, true, "Failed: 1 finding is high or worse.",
		},
		"none reaches it":   {7, []string{"fail-on", "critical"}, 0, "pass", true, true, "Passed: no finding is critical."},
		"it only shows":     {7, []string{"fail-on", "none"}, 0, "pass", true, true, "::error file=cart7.js"},
		"the review failed": {8, nil, 2, "", true, false, "The review of acme/web#8 failed: "},
		"the service is away": {
			7, []string{"server", "http://127.0.0.1:1", "timeout", "1s"}, 3, "", false, false,
			"prwarden: gave up after 1s",
		},
		"the key is refused": {7, []string{"api-key", "prw_wrong"}, 2, "", false, false, "HTTP 401)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sarif, junit := filepath.Join(dir, "r.sarif"), filepath.Join(dir, "r.xml")
			for _, file := range []string{sarif, junit} {
				require.NoError(t, os.WriteFile(file, []byte("of before"), 0o600))
			}
			inputs := append([]string{"binary", binary, "sarif-file", sarif, "outputs", "junit=" + junit}, tt.inputs...)
			r := runAction(t, but(t, step, inputs...), s.gitHubVariables(t, tt.number))
			assert.Equal(t, tt.code, r.code, r.log)
			assert.Contains(t, r.log, tt.log)
			assert.Equal(t, tt.verdict, r.outputs["verdict"])
			if tt.review {
				assert.Regexp(t, `^rev_[a-z0-9]+$`, r.outputs["review-id"])
				assert.FileExists(t, junit)
				assert.NotEmpty(t, r.summary)
			} else {
				assert.Empty(t, r.outputs["review-id"])
				assert.NoFileExists(t, junit)
				assert.Empty(t, r.summary)
			}
			if tt.sarif {
				assert.Equal(t, sarif, r.outputs["sarif-file"])
				text, err := os.ReadFile(sarif)
				require.NoError(t, err)
				assert.Contains(t, string(text), "cart7.js")
			} else {
				assert.Empty(t, r.outputs["sarif-file"])
				assert.NoFileExists(t, sarif)
			}
		})
	}
}

func TestActionRefuses(t *testing.T) {
	t.Parallel()
	s := newCIServer(t)
	step := s.step(t)
	service := s.gitHubVariables(t, 100)
	tests := map[string]struct {
		inputs []string
		want   string
	}{
		"no program there": {
			[]string{"binary", "/nowhere/prwarden"}, "::error title=prwarden::binary: there is no file /nowhere/prwarden",
		},
		"no checksum": {[]string{"archive", s.archive}, "archive-sha256 is missing"},
		"another checksum": {
			[]string{"archive", s.archive, "archive-sha256", strings.Repeat("0", 64)},
			"the archive has the SHA-256 " + s.sum,
		},
		"outputs by the file":     {[]string{"binary", binary + "\nverdict=pass"}, "one line each"},
		"file with a line break":  {[]string{"binary", binary, "sarif-file", "a\nverdict=pass"}, "sarif-file is one line"},
		"a folder as the file":    {[]string{"binary", binary, "sarif-file", "."}, "sarif-file: . can't be replaced"},
		"new-only":                {[]string{"binary", binary, "new-only", "yes"}, "new-only is true or false"},
		"severity":                {[]string{"binary", binary, "fail-on", "severe"}, `"severe"`},
		"command in a ruleset":    {[]string{"binary", binary, "ruleset", "\"; touch pwned; #"}, "ruleset"},
		"command in a severity":   {[]string{"binary", binary, "fail-on", "$(touch pwned)"}, "$(touch pwned)"},
		"command in outputs":      {[]string{"binary", binary, "outputs", "`touch pwned`\n$(touch pwned)"}, "`touch pwned`"},
		"another flag as outputs": {[]string{"binary", binary, "outputs", "--server=http://127.0.0.1:1"}, "--server"},
	}

	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runAction(t, but(t, step, tt.inputs...), service)
			assert.Equal(t, 2, r.code, r.log)
			assert.Contains(t, r.log, tt.want)
			assert.NoFileExists(t, filepath.Join(r.dir, "pwned"))
			assert.Empty(t, r.outputs["verdict"])
		})
	}
}
