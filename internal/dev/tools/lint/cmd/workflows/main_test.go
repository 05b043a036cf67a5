package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const document = "# CI\n\n```yaml\n# .github/workflows/a.yml\non: push\njobs: {}\n```\n\n" +
	"```yaml\n# .gitlab-ci.yml\na: b\n```\n\n" +
	"```yaml\n# .gitea/workflows/b.yml (or elsewhere)\n- uses: prwarden/prwarden/.github/actions/prwarden@main # x\n```\n"

func TestWorkflowsOfADocument(t *testing.T) {
	t.Parallel()
	all, err := workflowsOf("docs/ci.md", []byte(document))
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "\n\n\n# .github/workflows/a.yml\non: push\njobs: {}\n", string(all[0]),
		"the lines are those of the document")
	assert.Equal(t, strings.Repeat("\n", 14)+
		"# .gitea/workflows/b.yml (or elsewhere)\n- uses: ./.github/actions/prwarden # x\n", string(all[1]))
	_, err = workflowsOf("docs/ci.md", []byte("# None\n"))
	require.ErrorContains(t, err, "no workflow is in it")
}

const action = `name: a
description: b
inputs: {severity: {description: c, default: high}}
outputs: {verdict: {description: d, value: "${{ steps.one.outputs.verdict }}"}}
runs:
  using: composite
  steps:
    - {id: one, shell: bash, env: {SEVERITY: "${{ inputs.severity }}"}, run: 'echo "$SEVERITY"'}
`

func TestRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		old, new string
		want     string // "" for clean
	}{
		"clean":            {"", "", ""},
		"unknown input":    {"inputs.severity", "inputs.severe", "1 problems"},
		"unknown step":     {"steps.one", "steps.two", "1 problems"},
		"script injection": {`echo "$SEVERITY"`, "echo ${{ github.event.pull_request.title }}", "1 problems"},
		"no steps of ours": {"composite", "node20", `it runs "node20", not composite`},
		"no YAML":          {"name: a", "name: [", "yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "action.yml")
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(action, tt.old, tt.new, 1)), 0o600))
			err := run([]string{path})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
	require.Error(t, run([]string{"none.yml"}))
}
