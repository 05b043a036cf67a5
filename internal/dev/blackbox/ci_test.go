package blackbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// snippets returns the code blocks of docs/ci.md that begin with the name of
// their file, by that name.
func snippets(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/ci.md")
	require.NoError(t, err)
	found := map[string]string{}
	for _, m := range regexp.MustCompile(
		"(?ms)^```\\w+\n(?:#|//) (\\S+)[^\n]*\n(.*?)^```$",
	).FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, found, m[1])
		found[m[1]] = m[2]
	}
	return found
}

// parse reads YAML.
func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	return v
}

// dig finds what keys and indices lead to in YAML.
func dig[T any](t *testing.T, text string, path ...any) (found T) {
	t.Helper()
	at := parse[any](t, text)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			at = at.(map[string]any)[step]
		case int:
			at = at.([]any)[step]
		}
	}
	again, err := yaml.Marshal(at)
	require.NoError(t, err)
	return parse[T](t, string(again))
}

// releaseArchive makes an archive like that of a release, with the program
// under test, and returns its address and checksum.
func releaseArchive(t *testing.T) (address, sum string) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "prwarden_1.2.3_linux_amd64")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Symlink(binary, filepath.Join(folder, "prwarden")))
	path := filepath.Join(dir, "archive.tar.gz")
	out, err := exec.Command(
		"tar", "--dereference", "--use-compress-program=gzip -1", "-cf", path, "-C", dir, filepath.Base(folder),
	).CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	digest := sha256.Sum256(content)
	return "file://" + path, hex.EncodeToString(digest[:])
}

// ciServer is a server with a repository for jobs of CI services. Its pull
// requests have a finding that is high, but number 100.
type ciServer struct {
	*client
	repo         *repository
	archive, sum string
}

func newCIServer(t *testing.T, numbers ...int) *ciServer {
	t.Helper()
	_, c, h := setup(t)
	r := h.create(t, "acme/web", files{"README.md": "Web.\n"})
	for _, n := range numbers {
		r.pull(n, files{fmt.Sprintf("cart%d.js", n): "\n  eval(answer)\n"})
	}
	r.pull(100, files{"total.js": "sum(prices)\n"})
	archive, sum := releaseArchive(t)
	return &ciServer{c, r, archive, sum}
}

func (s *ciServer) head(n int) string { return s.repo.sha(fmt.Sprintf("refs/pull/%d/head", n)) }

// ciJob is a job of docs/ci.md that is a script.
type ciJob struct {
	shell    []string          // how the service runs scripts
	script   string            // what it runs
	settings map[string]string // the variables that the job sets
	files    []string          // that the job keeps
	number   int               // of the pull request
	service  []string          // the variables that the service sets
	retried  []string          // those that are others when the job is tried again
}

// bash is how GitLab, Gitea and Forgejo run scripts.
func bash() []string { return []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"} }

// run runs the job in an empty folder, with this server's settings in place of
// those in the document, and returns how it ended.
func (s *ciServer) run(t *testing.T, j ciJob, more ...string) (code int, dir, log string) {
	t.Helper()
	dir = t.TempDir()
	settings := maps.Clone(j.settings)
	for name, value := range map[string]string{
		"PRWARDEN_SERVER": s.base, "PRWARDEN_ARCHIVE": s.archive, "PRWARDEN_ARCHIVE_SHA256": s.sum,
	} {
		require.Contains(t, settings, name, "the document's job sets it")
		settings[name] = value
	}
	cmd := exec.Command(j.shell[0], append(j.shell[1:], j.script)...)
	cmd.Dir = dir
	cmd.Env = append(env(t.TempDir()), "CI=true", "PRWARDEN_API_KEY="+s.token)
	for name, value := range settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(append(cmd.Env, j.service...), more...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), dir, string(out)
}

// reviews counts the reviews of a pull request.
func (s *ciServer) reviews(t *testing.T, n int) int {
	t.Helper()
	a := s.do(t, "GET", fmt.Sprintf("/v1/reviews?repo=acme/web&pr_number=%d", n), nil)
	require.Equal(t, 200, a.status, a.body)
	return len(list(a.decode(t)["reviews"]))
}

// jobs are those of the document, by the service. Each has a pull request of its
// own.
func (s *ciServer) jobs(t *testing.T) map[string]ciJob {
	t.Helper()
	doc := snippets(t)
	return map[string]ciJob{
		"GitLab CI":       s.gitLab(t, doc[".gitlab-ci.yml"], 1),
		"Gitea Actions":   s.gitea(t, doc[".gitea/workflows/prwarden.yml"], 2, "GITEA_ACTIONS=true"),
		"Forgejo Actions": s.gitea(t, doc[".gitea/workflows/prwarden.yml"], 3, "FORGEJO_ACTIONS=true"),
		"Jenkins":         s.jenkins(t, doc["Jenkinsfile"], 4),
		"CircleCI":        s.circleCI(t, doc[".circleci/config.yml"], 5),
		"Buildkite":       s.buildkite(t, doc[".buildkite/pipeline.yml"], 6),
	}
}

func (s *ciServer) gitLab(t *testing.T, include string, n int) ciJob {
	t.Helper()
	template, err := os.ReadFile("../../../docs/ci/gitlab.yml")
	require.NoError(t, err)
	text := string(template)
	settings := dig[map[string]string](t, include, "variables")
	maps.Copy(settings, dig[map[string]string](t, text, "prwarden", "variables"))
	reports := dig[map[string]string](t, text, "prwarden", "artifacts", "reports")
	return ciJob{
		shell: bash(), script: strings.Join(dig[[]string](t, text, "prwarden", "script"), "\n"),
		settings: settings, number: n,
		files: append(slices.Collect(maps.Values(reports)), dig[[]string](t, text, "prwarden", "artifacts", "paths")...),
		service: []string{
			"GITLAB_CI=true", "CI_SERVER_URL=https://gitlab.example.com", "CI_PIPELINE_SOURCE=merge_request_event",
			"CI_PIPELINE_ID=7", "CI_JOB_NAME=prwarden", "CI_JOB_ID=100", "CI_COMMIT_SHA=" + s.head(n),
			"CI_MERGE_REQUEST_PROJECT_PATH=acme/web", "CI_MERGE_REQUEST_PROJECT_URL=https://gitlab.example.com/acme/web",
			fmt.Sprintf("CI_MERGE_REQUEST_IID=%d", n), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main",
		},
		retried: []string{"CI_JOB_ID=101"},
	}
}

// pullRequestEvent writes the event of a pull request as GitHub, Gitea and
// Forgejo give it to jobs, and returns its path.
func (s *ciServer) pullRequestEvent(t *testing.T, n int) string {
	t.Helper()
	repo := map[string]any{"full_name": "acme/web", "name": "web"}
	text, err := json.Marshal(map[string]any{
		"action": "opened", "number": n, "repository": repo,
		"pull_request": map[string]any{
			"number": n,
			"head":   map[string]any{"ref": "change", "sha": s.head(n), "repo": repo},
			"base":   map[string]any{"ref": "main", "sha": s.repo.sha("refs/heads/main"), "repo": repo},
		},
	})

	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// gitHubVariables are those that GitHub documents, and Gitea and Forgejo take
// over.
func (s *ciServer) gitHubVariables(t *testing.T, n int) []string {
	t.Helper()
	return []string{
		"GITHUB_ACTIONS=true", "GITHUB_SERVER_URL=https://git.example.com", "GITHUB_REPOSITORY=acme/web", "GITHUB_RUN_ID=42",
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKFLOW=prwarden", "GITHUB_JOB=review", "GITHUB_ACTION=__run",
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + s.pullRequestEvent(t, n),
		fmt.Sprintf("GITHUB_REF=refs/pull/%d/merge", n), "GITHUB_SHA=" + strings.Repeat("e", 40),
	}
}

func (s *ciServer) gitea(t *testing.T, workflow string, n int, mark string) ciJob {
	t.Helper()
	step := parse[workflowFile](t, workflow).Jobs["review"].Steps[0]
	require.Equal(t, "${{ secrets.PRWARDEN_API_KEY }}", step.Env["PRWARDEN_API_KEY"])
	delete(step.Env, "PRWARDEN_API_KEY") // as every job has it here
	return ciJob{
		shell: bash(), script: step.Run, settings: step.Env, number: n,
		service: append(s.gitHubVariables(t, n), mark), retried: []string{"GITHUB_RUN_ATTEMPT=2"},
	}
}

func (s *ciServer) jenkins(t *testing.T, text string, n int) ciJob {
	t.Helper()
	script := regexp.MustCompile(`(?s)sh '''\n(.*?)'''`).FindStringSubmatch(text)
	require.NotNil(t, script)
	settings := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s+([A-Z0-9_]+) = '(.*)'$`).FindAllStringSubmatch(text, -1) {
		settings[m[1]] = m[2]
	}
	job := fmt.Sprintf("PR-%d", n)
	return ciJob{
		// In Groovy, too, a line goes on after a \.
		shell: []string{"sh", "-xec"}, script: strings.ReplaceAll(script[1], "\\\n", ""), settings: settings, number: n,
		files: []string{"prwarden-junit.xml", "prwarden.sarif"},
		service: []string{
			"JENKINS_URL=https://ci.example.com/", "BUILD_URL=https://ci.example.com/job/web/job/" + job + "/1/",
			"BUILD_TAG=jenkins-web-" + job + "-1",
			"STAGE_NAME=prwarden", "JOB_NAME=web/" + job, "BRANCH_NAME=" + job, "CHANGE_TARGET=main",
			fmt.Sprintf("CHANGE_ID=%d", n), fmt.Sprintf("CHANGE_URL=https://git.example.com/acme/web/pull/%d", n),
		},
	}
}

func (s *ciServer) circleCI(t *testing.T, config string, n int) ciJob {
	t.Helper()
	return ciJob{
		shell: []string{"bash", "-eo", "pipefail", "-c"}, number: n,
		script:   dig[string](t, config, "jobs", "prwarden", "steps", 0, "run", "command"),
		settings: dig[map[string]string](t, config, "jobs", "prwarden", "environment"),
		files:    []string{"results/prwarden/junit.xml", "results/prwarden/prwarden.sarif"},
		service: []string{
			"CIRCLECI=true", "CIRCLE_WORKFLOW_ID=9a9b", "CIRCLE_JOB=prwarden", "CIRCLE_NODE_INDEX=0", "CIRCLE_BUILD_NUM=1",
			fmt.Sprintf("CIRCLE_PULL_REQUEST=https://github.com/acme/web/pull/%d", n), "CIRCLE_SHA1=" + s.head(n),
			"CIRCLE_PROJECT_USERNAME=acme", "CIRCLE_PROJECT_REPONAME=web", "CIRCLE_REPOSITORY_URL=git@github.com:acme/web.git",
		},
		retried: []string{"CIRCLE_BUILD_NUM=2"},
	}
}

func (s *ciServer) buildkite(t *testing.T, pipeline string, n int) ciJob {
	t.Helper()
	step := dig[struct {
		Env           map[string]string
		Secrets       []string
		Command       string
		ArtifactPaths []string `yaml:"artifact_paths"`
	}](t, pipeline, "steps", 0)
	assert.Equal(t, []string{"PRWARDEN_API_KEY"}, step.Secrets)

	// The agent makes $ of $$ when it uploads the pipeline; a single one would be
	// a variable of the upload.
	assert.NotRegexp(t, `(^|[^$])\$([^$]|$)`, step.Command)
	return ciJob{
		shell: []string{"/bin/sh", "-e", "-c"}, script: strings.ReplaceAll(step.Command, "$$", "$"),
		settings: step.Env, number: n, files: step.ArtifactPaths,
		service: []string{
			"BUILDKITE=true", "BUILDKITE_BUILD_ID=01-build", "BUILDKITE_STEP_ID=01-step", "BUILDKITE_RETRY_COUNT=0",
			fmt.Sprintf("BUILDKITE_PULL_REQUEST=%d", n), "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main",
			"BUILDKITE_REPO=git@github.com:acme/web.git", "BUILDKITE_COMMIT=" + s.head(n), "BUILDKITE_BRANCH=change",
		},
		retried: []string{"BUILDKITE_RETRY_COUNT=1"},
	}
}

// The jobs of docs/ci.md do what the document says, with the variables that the
// services document.
func TestJobsOfTheDocument(t *testing.T) {
	t.Parallel()
	s := newCIServer(t, 1, 2, 3, 4, 5, 6)
	for name, j := range s.jobs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A job for a branch says why it does nothing.
			branch := j
			branch.service = ofBranch(j.service)
			want := 2
			if name == "CircleCI" {
				want = 0 // builds branches before there is a pull request
			}
			code, _, log := s.run(t, branch)
			assert.Equal(t, want, code, log)
			assert.Contains(t, log, "pull request")

			// What is not the release is not run.
			bad := j
			bad.script = strings.Replace(j.script, "$PRWARDEN_ARCHIVE_SHA256", strings.Repeat("0", 64), 1)
			code, _, log = s.run(t, bad)
			require.NotZero(t, code)
			require.NotContains(t, log, "no-eval")
			require.Zero(t, s.reviews(t, j.number))

			code, dir, log := s.run(t, j)
			require.Equal(t, 1, code, log)
			assert.Contains(t, log, "security/no-eval")
			assert.NotContains(t, log, s.token)
			for _, file := range j.files {
				content, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				assert.Contains(t, string(content), fmt.Sprintf("cart%d.js", j.number), file)
				assert.NotContains(t, string(content), s.token)
			}

			// Tried again, it gets the same review.
			code, _, log = s.run(t, j, j.retried...)
			require.Equal(t, 1, code, log)
			assert.Equal(t, 1, s.reviews(t, j.number))
		})
	}
}

// ofBranch are the variables of a job without what names a pull request.
func ofBranch(service []string) []string {
	var rest []string
	for _, pair := range service {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "CI_MERGE_REQUEST_IID", "GITHUB_EVENT_PATH", "GITHUB_REF", "CHANGE_ID", "CHANGE_URL", "CIRCLE_PULL_REQUEST":
		case "BUILDKITE_PULL_REQUEST":
			rest = append(rest, name+"=false")
		default:
			rest = append(rest, pair)
		}
	}

	return rest
}
