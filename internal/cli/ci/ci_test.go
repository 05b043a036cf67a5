package ci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/ci"
)

const (
	head = "8f1d3c5b7a9e0f2d4c6b8a0e1f3d5c7b9a1e0f2d"
	base = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
	made = "ffffffffffffffffffffffffffffffffffffffff" // a merge commit that was made for the job
)

type env map[string]string

func (e env) lookup(name string) string { return e[name] }

func (e env) with(more env) env {
	out := env{}
	for _, m := range []env{e, more} {
		for k, v := range m {
			out[k] = v
		}
	}

	return out
}

// The events are those of GitHub's documentation, less what is not used.
const (
	pullRequest = `{"action":"synchronize","number":42,"pull_request":{"number":42,"head":{"ref":"topic","sha":"` +
		head + `","repo":{"full_name":"someone/shop"}},"base":{"ref":"release/1.x","sha":"` + base + `"}}}`
	mergeGroup = `{"action":"checks_requested","merge_group":{"head_sha":"` + head +
		`","head_ref":"refs/heads/gh-readonly-queue/main/pr-42-` + base + `","base_sha":"` + base +
		`","base_ref":"refs/heads/main"}}`
	push = `{"ref":"refs/heads/main","after":"` + head + `"}`
)

// vars reads variables from a text, as `NAME=VALUE` between white space.
func vars(text string) env {
	out := env{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		out[name] = value
	}

	return out
}

func gitHub(event string) env {
	return vars(`CI=true GITHUB_ACTIONS=true GITHUB_REPOSITORY=acme/shop GITHUB_REF=refs/pull/42/merge
		GITHUB_SERVER_URL=https://github.com GITHUB_RUN_ID=1658821493 GITHUB_RUN_ATTEMPT=2 GITHUB_WORKFLOW=checks
		GITHUB_JOB=prwarden GITHUB_ACTION=__run`).
		with(env{"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": event, "GITHUB_SHA": made})
}

func gitLab() env {
	return vars(`CI=true GITLAB_CI=true CI_SERVER_URL=https://gitlab.com CI_PIPELINE_ID=981
		CI_PIPELINE_SOURCE=merge_request_event CI_JOB_NAME=prwarden CI_JOB_ID=5 CI_PROJECT_PATH=someone/shop
		CI_MERGE_REQUEST_IID=42 CI_MERGE_REQUEST_ID=90001 CI_MERGE_REQUEST_PROJECT_PATH=acme/shop
		CI_MERGE_REQUEST_SOURCE_PROJECT_PATH=someone/shop CI_MERGE_REQUEST_PROJECT_URL=https://gitlab.com/acme/shop
		CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main`).with(env{"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_SHA": head})
}

func circleCI() env {
	return vars(`CI=true CIRCLECI=true CIRCLE_PROJECT_USERNAME=acme CIRCLE_PROJECT_REPONAME=shop CIRCLE_JOB=prwarden
		CIRCLE_PIPELINE_ID=p1 CIRCLE_WORKFLOW_WORKSPACE_ID=w1 CIRCLE_WORKFLOW_ID=w2 CIRCLE_NODE_INDEX=0
		CIRCLE_BUILD_NUM=7 CIRCLE_REPOSITORY_URL=git@github.com:acme/shop.git
		CIRCLE_PULL_REQUEST=https://github.com/acme/shop/pull/42`).with(env{"CIRCLE_SHA1": head})
}

func buildkite() env {
	return vars(`CI=true BUILDKITE=true BUILDKITE_REPO=git@github.com:acme/shop.git BUILDKITE_BRANCH=topic
		BUILDKITE_PULL_REQUEST=42 BUILDKITE_PULL_REQUEST_BASE_BRANCH=main
		BUILDKITE_PULL_REQUEST_REPO=https://github.com/someone/shop.git BUILDKITE_BUILD_ID=b1 BUILDKITE_STEP_ID=s1
		BUILDKITE_JOB_ID=j1 BUILDKITE_RETRY_COUNT=1`).with(env{"BUILDKITE_COMMIT": head})
}

func jenkins() env {
	return vars(`JENKINS_URL=https://ci.example.com/ BUILD_URL=https://ci.example.com/job/shop/job/PR-42/3/
		BUILD_TAG=jenkins-shop-PR-42-3 STAGE_NAME=Check BRANCH_NAME=PR-42 CHANGE_ID=42 CHANGE_TARGET=main
		CHANGE_BRANCH=topic CHANGE_FORK=someone CHANGE_URL=https://github.com/acme/shop/pull/42
		GIT_URL=https://github.com/someone/shop.git`).with(env{"GIT_COMMIT": made})
}

// page is Jenkins with the address of a pull request's page.
func page(address string) env { return jenkins().with(env{"CHANGE_URL": address}) }

// job is a job of a service for acme/shop#42, with what differs.
func job(service string, differs ...func(*ci.Job)) ci.Job {
	j := ci.Job{Service: service, Repo: "acme/shop", Number: 42}
	j.Identity = map[string][]string{
		"GitLab CI": {
			"https://gitlab.com", "981", "prwarden"}, "CircleCI": {"prwarden", "0", "p1"}, "Buildkite": {"b1", "s1", ""},
		"Jenkins": {"https://ci.example.com/job/shop/job/PR-42/3/", "jenkins-shop-PR-42-3", "Check"},
	}[service]

	if j.Identity == nil {
		j.Identity = []string{"https://github.com", "1658821493", "checks", "prwarden", "__run"}
	}

	for _, d := range differs {
		d(&j)
	}

	return j
}

func into(branch string) func(*ci.Job) {
	return func(j *ci.Job) { j.HeadSHA, j.BaseRef = head, branch }
}
func onto(sha string) func(*ci.Job) { return func(j *ci.Job) { j.HeadSHA, j.BaseSHA = head, sha } }
func as(id ...string) func(*ci.Job) { return func(j *ci.Job) { j.Identity = id } }

func TestDetect(t *testing.T) {
	t.Parallel()
	const queue = "gh-readonly-queue/main/pr-42-" + base
	const git = "https://git.example.com/"
	gitea := env{"GITEA_ACTIONS": "true", "GITHUB_SERVER_URL": git}
	forgejo := env{"FORGEJO_ACTIONS": "true", "GITEA_ACTIONS": "true"}
	merged := env{
		"CI_COMMIT_SHA": made, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": head, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": base,
	}

	for name, tt := range map[string]struct {
		env   env
		event string
		want  ci.Job
	}{
		"GitHub, pull request": {gitHub("pull_request"), pullRequest, job("GitHub Actions", into("release/1.x"))},
		"GitHub, merge queue": {
			gitHub("merge_group").with(env{"GITHUB_REF": "refs/heads/" + queue}), mergeGroup, job("GitHub Actions", onto(base)),
		},
		"GitHub, only the reference": {
			gitHub("").with(env{"GITHUB_EVENT_NAME": "pull_request"}), "", job("GitHub Actions"),
		},
		"Gitea": {
			gitHub("pull_request").with(gitea), pullRequest, job("Gitea Actions", into("release/1.x"),
				as(git, "1658821493", "checks", "prwarden", "__run")),
		},
		"Forgejo": {gitHub("pull_request").with(forgejo), pullRequest, job("Forgejo Actions", into("release/1.x"))},

		"GitLab": {gitLab(), "", job("GitLab CI", into("main"))},
		"GitLab, merged result": {
			gitLab().with(merged), "", job("GitLab CI", into("main")),
		},

		"CircleCI": {circleCI(), "", job("CircleCI")},
		"CircleCI, only the workflow": {
			circleCI().with(vars("CIRCLE_PIPELINE_ID= CIRCLE_WORKFLOW_WORKSPACE_ID=")), "",
			job("CircleCI", as("prwarden", "0", "w2")),
		},

		"Buildkite": {buildkite(), "", job("Buildkite", into("main"))},
		"Buildkite, merge commit": {
			buildkite().with(vars("BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC=true")), "", job("Buildkite"),
		},
		"Buildkite, newest commit": {buildkite().with(vars("BUILDKITE_COMMIT=HEAD")), "", job("Buildkite")},
		"Buildkite, Bitbucket Data Center": {
			buildkite().with(env{"BUILDKITE_REPO": git + "scm/ACME/shop.git"}), "",
			job("Buildkite", into("main")),
		},
		"credentials are not passed on": {
			buildkite().with(vars("BUILDKITE_REPO=https://user:secret@git.example.com/acme/shop.git")), "",
			job("Buildkite", into("main")),
		},

		"Jenkins": {jenkins(), "", job("Jenkins")},
		"Jenkins, without its URL": {
			jenkins().with(vars("JENKINS_URL= BUILD_URL= JENKINS_HOME=/var/jenkins_home")), "",
			job("Jenkins", as("", "jenkins-shop-PR-42-3", "Check")),
		},
		"Jenkins, GitLab": {
			page("https://gitlab.com/acme/shop/-/merge_requests/42"), "", job("Jenkins"),
		},
		"Jenkins, GitLab, group in group": {
			page("https://gitlab.com/acme/web/shop/-/merge_requests/42"), "",
			job("Jenkins", func(j *ci.Job) { j.Repo = "acme/web/shop" }),
		},
		"Jenkins, a person's in Bitbucket Data Center": {
			page(git + "users/jane/repos/shop/pull-requests/42/overview"), "",
			job("Jenkins", func(j *ci.Job) { j.Repo = "~jane/shop" }),
		},
		"Jenkins, Bitbucket Data Center": {
			page(git + "projects/ACME/repos/shop/pull-requests/42/overview"), "",
			job("Jenkins"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ci.Detect(withEvent(t, tt.env, tt.event).lookup)
			require.NoError(t, err)
			assert.Equal(t, &tt.want, got)
		})
	}
}

// withEvent puts the event into a file, as GitHub does.
func withEvent(t *testing.T, e env, event string) env {
	t.Helper()
	if event == "" {
		return e
	}

	file := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(file, []byte(event), 0o600))
	return e.with(env{"GITHUB_EVENT_PATH": file})
}

func TestDetectNoPullRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env   env
		event string
		says  string
	}{
		"GitHub, push": {
			gitHub("push").with(env{"GITHUB_REF": "refs/heads/main"}), push,
			`this job of GitHub Actions is not for a pull request: its event is "push"; run it on pull_request`,
		},
		"GitHub, no event": {
			gitHub("pull_request").with(env{"GITHUB_EVENT_PATH": "/none/there"}), "",
			"the event can't be read from GITHUB_EVENT_PATH",
		},
		"GitLab, branch": {
			gitLab().with(env{"CI_MERGE_REQUEST_IID": "", "CI_PIPELINE_SOURCE": "push"}), "",
			`this job of GitLab CI is not for a pull request: its pipeline is of the source "push"`,
		},
		"GitLab, no such name": {
			gitLab().with(env{"CI_MERGE_REQUEST_PROJECT_PATH": "acme/../shop"}), "",
			`runs for the repository "acme/../shop", whose name must be`,
		},
		"CircleCI, branch": {circleCI().with(env{"CIRCLE_PULL_REQUEST": ""}), "", `CIRCLE_PULL_REQUEST is ""`},
		"Buildkite, branch": {buildkite().with(env{"BUILDKITE_PULL_REQUEST": "false"}), "",
			`BUILDKITE_PULL_REQUEST is "false"`},
		"Buildkite, no address": {buildkite().with(env{"BUILDKITE_REPO": "/srv/git/shop"}), "",
			`runs for the repository ""`},
		"Jenkins, branch":   {page(""), "", `CHANGE_URL is "" and not the address of one`},
		"Jenkins, too high": {page("https://example.com/acme/shop/pulls/99999999999"), "", "not the address of one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ci.Detect(withEvent(t, tt.env, tt.event).lookup)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestDetectNothing(t *testing.T) {
	t.Parallel()
	for _, e := range []env{{}, {"CI": "true"}, {"GITHUB_ACTIONS": "false"}} {
		job, err := ci.Detect(e.lookup)
		require.NoError(t, err)
		assert.Nil(t, job)
	}
}

// Whatever a fork puts into names, what is found is either usable or an error.
func FuzzDetect(f *testing.F) {
	f.Add("git@github.com:acme/shop.git", "https://github.com/acme/shop/pull/42", "42", head, pullRequest)
	f.Add("https://x@y/z", "http://[::1]:x/pull/1", "-1", "HEAD", "{}")
	f.Add("a:b/c", "https://h/-/merge_requests/99999999999", "false", "",
		`{"merge_group":{"head_ref":"gh-readonly-queue/a/pr-1-0"}}`)
	f.Fuzz(func(t *testing.T, address, change, number, commit, event string) {
		for _, e := range []env{
			withEvent(t, gitHub("pull_request"), event),
			page(change),
			buildkite().with(env{"BUILDKITE_REPO": address, "BUILDKITE_PULL_REQUEST": number, "BUILDKITE_COMMIT": commit}),
			circleCI().with(env{"CIRCLE_PULL_REQUEST": change}),
		} {
			job, err := ci.Detect(e.lookup)
			if err != nil {
				continue
			}

			require.Positive(t, job.Number)
			require.Equal(t, 1, strings.Count(job.Repo, "/"))
			require.Equal(t, job.HeadSHA != "", job.BaseSHA != "" || job.BaseRef != "")
		}
	})
}
