// Package ci finds out from the environment for which pull request a job of a
// CI service runs.
package ci

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/rule"
)

// Job is what a service tells about the job that runs. What it doesn't tell is
// empty.
type Job struct {
	Service string // its name, for people
	Repo    string // `owner/name`
	Number  int32  // of the pull request
	HeadSHA string // commit at the head of the pull request

	// BaseSHA is the commit, or BaseRef the branch, that it is to be merged into.
	// There is one of them with HeadSHA, or no HeadSHA.
	BaseSHA, BaseRef string

	Identity []string // names the job; it is the same when the job is tried again
}

// Lookup returns a variable of the environment, "" when it is not set.
type Lookup func(name string) string

// Detect asks the services for the job. It returns nil when there is none.
func Detect(env Lookup) (*Job, error) {
	for _, s := range []struct {
		mark   string // the variable that tells the service
		name   string
		detect func(Lookup, *Job) error
	}{
		// Forgejo and Gitea set the variables that GitHub does.
		{"FORGEJO_ACTIONS", "Forgejo Actions", gitHub},
		{"GITEA_ACTIONS", "Gitea Actions", gitHub},
		{"GITHUB_ACTIONS", "GitHub Actions", gitHub},
		{"GITLAB_CI", "GitLab CI", gitLab},
		{"CIRCLECI", "CircleCI", circleCI},
		{"BUILDKITE", "Buildkite", buildkite},
		{"JENKINS_URL", "Jenkins", jenkins}, // only where the server's URL is configured
		{"JENKINS_HOME", "Jenkins", jenkins},
	} {
		if value := env(s.mark); value == "" || value == "false" {
			continue
		}
		job := &Job{Service: s.name}
		if err := s.detect(env, job); err != nil {
			return nil, fmt.Errorf("this job of %s is not for a pull request: %w", s.name, err)
		}
		return job, job.settle()
	}

	return nil, nil
}

var (
	hexSHA      = regexp.MustCompile(`^[0-9a-f]{40}$`)
	queueBranch = regexp.MustCompile(`(?:^|/)gh-readonly-queue/.+/pr-(\d+)-[0-9a-f]+$`)
	pullRef     = regexp.MustCompile(`^refs/pull/(\d+)/`)
	changeURL   = regexp.MustCompile(`^(https?://.+?)/(?:-/)?(?:merge_requests|pulls?|pull-requests)/(\d+)(?:[/?#].*)?$`)
	scpAddress  = regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):([^/].*)$`)
	bitbucketDC = regexp.MustCompile(`^(?:projects/([^/]+)/repos|scm/([^/]+)|(users/[^/]+)/repos)/([^/]+)$`)
)

// settle takes away commits that can't be asked for. It fails when the repository
// can't be.
func (j *Job) settle() error {
	if err := rule.CheckRepository(j.Repo); err != nil {
		return fmt.Errorf("%s runs for the repository %q, whose name %w", j.Service, j.Repo, err)
	}

	if !hexSHA.MatchString(j.BaseSHA) {
		j.BaseSHA = ""
	}
	if !hexSHA.MatchString(j.HeadSHA) || j.BaseSHA == "" && j.BaseRef == "" {
		j.HeadSHA, j.BaseSHA, j.BaseRef = "", "", ""
	}
	return nil
}

// event is what is used of the webhook payload in GITHUB_EVENT_PATH:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads.
type event struct {
	PullRequest *struct {
		Number int32
		Head   struct{ SHA string }
		Base   struct{ Ref string }
	} `json:"pull_request"`
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
	} `json:"merge_group"`
}

// gitHub knows the variables of
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables.
// GITHUB_SHA is no use: it is a merge commit that was made for the job.
func gitHub(env Lookup, j *Job) error {
	j.Repo = env("GITHUB_REPOSITORY")
	// The attempt is not part of it: one that is run again is the same job.
	j.Identity = all(env, "GITHUB_SERVER_URL", "GITHUB_RUN_ID", "GITHUB_WORKFLOW", "GITHUB_JOB", "GITHUB_ACTION")
	var e event
	if path := env("GITHUB_EVENT_PATH"); path != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			return fmt.Errorf("the event can't be read from GITHUB_EVENT_PATH: %w", err)
		}
	}

	switch {
	case e.PullRequest != nil:
		j.Number, j.HeadSHA, j.BaseRef = e.PullRequest.Number, e.PullRequest.Head.SHA, e.PullRequest.Base.Ref
	case e.MergeGroup != nil:
		// The queue's branch has the number of the last pull request in the group.
		j.Number = number(submatch(queueBranch, e.MergeGroup.HeadRef))
		j.HeadSHA, j.BaseSHA = e.MergeGroup.HeadSHA, e.MergeGroup.BaseSHA
	default:
		j.Number = number(submatch(pullRef, env("GITHUB_REF")))
	}

	if j.Number < 1 {
		return fmt.Errorf("its event is %q; run it on pull_request", env("GITHUB_EVENT_NAME"))
	}
	return nil
}

// gitLab knows the variables of
// https://docs.gitlab.com/ci/variables/predefined_variables/. The source branch's
// commit is only told where CI_COMMIT_SHA is that of a merge result.
func gitLab(env Lookup, j *Job) error {
	j.Repo = env("CI_MERGE_REQUEST_PROJECT_PATH") // the target's, also for forks
	j.Number = number(env("CI_MERGE_REQUEST_IID"))
	j.HeadSHA = cmp.Or(env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"), env("CI_COMMIT_SHA"))
	j.BaseRef = env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
	j.Identity = all(env, "CI_SERVER_URL", "CI_PIPELINE_ID", "CI_JOB_NAME")

	if j.Number == 0 {
		return fmt.Errorf("its pipeline is of the source %q; "+
			"run it with `rules: [{if: $CI_PIPELINE_SOURCE == \"merge_request_event\"}]`", env("CI_PIPELINE_SOURCE"))
	}
	return nil
}

// circleCI knows the variables of https://circleci.com/docs/reference/variables/.
// They name no base, so the server takes the pull request as the code host has
// it. A workflow that is run again has another identifier, in the same pipeline.
func circleCI(env Lookup, j *Job) error {
	run := all(env, "CIRCLE_PIPELINE_ID", "CIRCLE_WORKFLOW_WORKSPACE_ID", "CIRCLE_WORKFLOW_ID")
	j.Identity = append(all(env, "CIRCLE_JOB", "CIRCLE_NODE_INDEX"), cmp.Or(run...))
	return j.change(env, "CIRCLE_PULL_REQUEST")
}

// buildkite knows the variables of
// https://buildkite.com/docs/pipelines/configure/environment-variables.
func buildkite(env Lookup, j *Job) error {
	j.Repo = repository(env("BUILDKITE_REPO"))
	j.Number = number(env("BUILDKITE_PULL_REQUEST")) // else `false`
	j.BaseRef = env("BUILDKITE_PULL_REQUEST_BASE_BRANCH")
	j.Identity = all(env, "BUILDKITE_BUILD_ID", "BUILDKITE_STEP_ID", "BUILDKITE_PARALLEL_JOB")
	if env("BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC") != "true" { // else a merge commit that was made for the build
		j.HeadSHA = env("BUILDKITE_COMMIT")
	}

	if j.Number == 0 {
		return fmt.Errorf("BUILDKITE_PULL_REQUEST is %q", env("BUILDKITE_PULL_REQUEST"))
	}
	return nil
}

// jenkins knows the variables that multibranch projects add
// (https://plugins.jenkins.io/branch-api/, and /env-vars.html of every server).
// GIT_COMMIT may be a merge commit that was made for the build, so the server
// takes the pull request as the code host has it.
func jenkins(env Lookup, j *Job) error {
	j.Identity = all(env, "BUILD_URL", "BUILD_TAG", "STAGE_NAME")
	return j.change(env, "CHANGE_URL")
}

// change reads the address of a pull request's page from a variable.
func (j *Job) change(env Lookup, variable string) error {
	var ok bool
	if j.Repo, j.Number, ok = PullRequest(env(variable)); !ok {
		return fmt.Errorf("%s is %q and not the address of one", variable, env(variable))
	}
	return nil
}

// PullRequest reads the repository and the number in the address of a pull
// request's page, as GitHub, GitLab, Gitea, Forgejo and Bitbucket have it.
func PullRequest(address string) (repo string, pr int32, ok bool) {
	m := changeURL.FindStringSubmatch(address)
	if m == nil || number(m[2]) == 0 {
		return "", 0, false
	}
	return repository(m[1]), number(m[2]), true
}

// repository reads `owner/name` from a repository's address, also from one for git
// or for SSH.
func repository(address string) string {
	if m := scpAddress.FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		address = "https://" + m[1] + "/" + m[2]
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}

	repo := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	// Only pages of Bitbucket Data Center have the key in capitals.
	if m := bitbucketDC.FindStringSubmatch(repo); m != nil {
		repo = strings.ToLower(m[1]+m[2]+strings.Replace(m[3], "users/", "~", 1)) + "/" + m[4]
	}
	return repo
}

// all returns the values of variables.
func all(env Lookup, names ...string) []string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = env(name)
	}
	return values
}

// submatch is the first part of a text that an expression captures, or "".
func submatch(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// number is a pull request number, or 0.
func number(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0
	}
	return int32(n)
}
