package ci

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// named has a function of GitHub's variables report another service's name.
// Gitea and Forgejo set the variables that GitHub does:
// https://docs.gitea.com/usage/actions/comparison,
// https://forgejo.org/docs/latest/user/actions/reference/.
func named(service string, detect func(Lookup, string) (*Job, error)) func(Lookup) (*Job, error) {
	return func(env Lookup) (*Job, error) { return detect(env, service) }
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
	Issue *struct { // of a comment
		Number      int32
		PullRequest *struct{} `json:"pull_request"`
	}
}

// maxEvent bounds the payload; GitHub's own bound is 25 MB.
const maxEvent = 32 << 20

// gitHub knows the variables of
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables.
// GITHUB_SHA is no use: it is a merge commit that was made for the job.
func gitHub(env Lookup, service string) (*Job, error) {
	j := &Job{
		Service: service,
		Repo:    env("GITHUB_REPOSITORY"),
		// The attempt is not part of it: one that is run again is the same job.
		Identity: all(env, "GITHUB_SERVER_URL", "GITHUB_RUN_ID", "GITHUB_WORKFLOW", "GITHUB_JOB", "GITHUB_ACTION"),
	}

	if server := env("GITHUB_SERVER_URL"); server != "" {
		j.RepositoryURI = strings.TrimSuffix(server, "/") + "/" + j.Repo
	}
	e, err := readEvent(env("GITHUB_EVENT_PATH"))
	if err != nil {
		return nil, fmt.Errorf("%s: the event can't be read from GITHUB_EVENT_PATH: %w", service, err)
	}

	switch {
	case e.PullRequest != nil:
		j.Number, j.HeadSHA, j.BaseRef = e.PullRequest.Number, e.PullRequest.Head.SHA, e.PullRequest.Base.Ref
	case e.MergeGroup != nil:
		// The queue's branch has the number of the last pull request in the group.
		if m := queueBranch.FindStringSubmatch(e.MergeGroup.HeadRef); m != nil {
			j.Number = number(m[2])
		}
		j.HeadSHA, j.BaseSHA = e.MergeGroup.HeadSHA, e.MergeGroup.BaseSHA
	case e.Issue != nil && e.Issue.PullRequest != nil:
		j.Number = e.Issue.Number
	default:
		if m := pullRef.FindStringSubmatch(env("GITHUB_REF")); m != nil {
			j.Number = number(m[1])
		}
	}

	if j.Number == 0 {
		return nil, j.none("its event is %q; run it on pull_request", env("GITHUB_EVENT_NAME"))
	}
	return j, nil
}

func readEvent(name string) (event, error) {
	var e event
	if name == "" {
		return e, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return e, err
	}
	defer f.Close()
	return e, json.NewDecoder(io.LimitReader(f, maxEvent)).Decode(&e)
}

// gitLab knows the variables of
// https://docs.gitlab.com/ci/variables/predefined_variables/.
func gitLab(env Lookup) (*Job, error) {
	j := &Job{
		Service:       "GitLab CI",
		Repo:          env("CI_MERGE_REQUEST_PROJECT_PATH"), // the target's, also for forks
		Number:        number(env("CI_MERGE_REQUEST_IID")),
		HeadSHA:       env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"),
		BaseRef:       env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
		RepositoryURI: env("CI_MERGE_REQUEST_PROJECT_URL"),
		Identity:      all(env, "CI_SERVER_URL", "CI_PIPELINE_ID", "CI_JOB_NAME"),
	}

	if j.Number == 0 {
		return nil, j.none("its pipeline is of the source %q; "+
			"run it with `rules: [{if: $CI_PIPELINE_SOURCE == \"merge_request_event\"}]`", env("CI_PIPELINE_SOURCE"))
	}
	// The source branch's commit is only told where CI_COMMIT_SHA is that of a
	// merge result.
	if j.HeadSHA == "" {
		j.HeadSHA = env("CI_COMMIT_SHA")
	}
	return j, nil
}

// circleCI knows the variables of https://circleci.com/docs/reference/variables/.
// They name no base, so the server takes the pull request as the code host has
// it.
func circleCI(env Lookup) (*Job, error) {
	j := &Job{
		Service: "CircleCI",
		// A workflow that is run again has another identifier, in the same pipeline.
		Identity: []string{
			cmp.Or(all(env, "CIRCLE_PIPELINE_ID", "CIRCLE_WORKFLOW_WORKSPACE_ID", "CIRCLE_WORKFLOW_ID")...),
			env("CIRCLE_JOB"), env("CIRCLE_NODE_INDEX"),
		},
	}

	j.Repo, j.RepositoryURI, j.Number = change(env("CIRCLE_PULL_REQUEST"))
	if j.Number == 0 {
		j.Number = number(env("CIRCLE_PR_NUMBER")) // of forks
		j.Repo = env("CIRCLE_PROJECT_USERNAME") + "/" + env("CIRCLE_PROJECT_REPONAME")
		_, j.RepositoryURI = repository(env("CIRCLE_REPOSITORY_URL"))
	}

	if j.Number == 0 {
		return nil, j.none("CIRCLE_PULL_REQUEST is not set; CircleCI sets it for projects " +
			"of GitHub OAuth and Bitbucket once there is a pull request for the branch")
	}
	return j, nil
}

// buildkite knows the variables of
// https://buildkite.com/docs/pipelines/configure/environment-variables.
func buildkite(env Lookup) (*Job, error) {
	j := &Job{
		Service:  "Buildkite",
		Number:   number(env("BUILDKITE_PULL_REQUEST")), // else `false`
		HeadSHA:  env("BUILDKITE_COMMIT"),
		BaseRef:  env("BUILDKITE_PULL_REQUEST_BASE_BRANCH"),
		Identity: all(env, "BUILDKITE_BUILD_ID", "BUILDKITE_STEP_ID", "BUILDKITE_PARALLEL_JOB"),
	}

	j.Repo, j.RepositoryURI = repository(env("BUILDKITE_REPO"))
	if m := queueBranch.FindStringSubmatch(env("BUILDKITE_BRANCH")); m != nil && j.Number == 0 {
		j.Number, j.BaseSHA, j.BaseRef = number(m[2]), env("BUILDKITE_MERGE_QUEUE_BASE_COMMIT"), m[1]
	}
	if j.Number == 0 {
		return nil, j.none("BUILDKITE_PULL_REQUEST is %q", env("BUILDKITE_PULL_REQUEST"))
	}

	if env("BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC") == "true" {
		j.HeadSHA = "" // a merge commit that was made for the build
	}
	return j, nil
}

// jenkins knows the variables that multibranch projects add
// (https://plugins.jenkins.io/branch-api/, and /env-vars.html of every server).
// GIT_COMMIT may be a merge commit that was made for the build, so the server
// takes the pull request as the code host has it.
func jenkins(env Lookup) (*Job, error) {
	j := &Job{Service: "Jenkins", Identity: all(env, "BUILD_URL", "BUILD_TAG", "STAGE_NAME")}
	if env("CHANGE_ID") == "" {
		return nil, j.none("CHANGE_ID is not set, which multibranch projects and organization folders do")
	}
	j.Repo, j.RepositoryURI, j.Number = change(env("CHANGE_URL"))
	if j.Number == 0 {
		j.Number = number(env("CHANGE_ID"))
		j.Repo, j.RepositoryURI = repository(env("GIT_URL"))
	}
	return j, nil
}
