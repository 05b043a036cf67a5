// Package ci finds out from the environment for which pull request a job of a
// CI service runs.
package ci

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Job is what a service tells about the job that runs.
type Job struct {
	Service string // its name, for people
	Repo    string // `owner/name`; empty when it is not told
	Number  int32  // of the pull request; 0 when it is not told
	HeadSHA string // commit at the head of the pull request; empty when it is not told
	// BaseSHA is the commit, or BaseRef the branch, that it is to be merged into;
	// there is one of them with HeadSHA, or no HeadSHA.
	BaseSHA, BaseRef string
	RepositoryURI    string // where the repository is; empty when it is not told
	// Identity names the job. It is the same when the job is tried again.
	Identity []string
}

// NoPullRequestError says that a job runs for something else.
type NoPullRequestError struct {
	Service string
	Why     string
}

// Error says it for people.
func (e *NoPullRequestError) Error() string {
	return fmt.Sprintf("this job of %s is not for a pull request: %s", e.Service, e.Why)
}

// none says why the job is not for a pull request.
func (j *Job) none(why string, args ...any) error {
	return &NoPullRequestError{j.Service, fmt.Sprintf(why, args...)}
}

// Lookup returns a variable of the environment, "" when it is not set.
type Lookup func(name string) string

// all returns the values of variables.
func all(env Lookup, names ...string) []string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = env(name)
	}
	return values
}

// Detect asks the services for the job. It returns nil when there is none.
func Detect(env Lookup) (*Job, error) {
	for _, service := range []struct {
		mark, value string // the variable that tells the service, and its value; any when empty
		detect      func(Lookup) (*Job, error)
	}{
		// Both set GITHUB_ACTIONS, too.
		{"FORGEJO_ACTIONS", "true", named("Forgejo Actions", gitHub)},
		{"GITEA_ACTIONS", "true", named("Gitea Actions", gitHub)},
		{"GITHUB_ACTIONS", "true", named("GitHub Actions", gitHub)},
		{"GITLAB_CI", "true", gitLab},
		{"CIRCLECI", "true", circleCI},
		{"BUILDKITE", "true", buildkite},
		{"JENKINS_URL", "", jenkins}, // only where the server's URL is configured
		{"JENKINS_HOME", "", jenkins},
	} {
		if value := env(service.mark); value != "" && (service.value == "" || service.value == value) {
			job, err := service.detect(env)
			if err != nil {
				return nil, err
			}
			return job.settled()
		}
	}
	return nil, nil
}

// settled is a job without what can't be used, or an error when what is left
// is not enough.
func (j *Job) settled() (*Job, error) {
	if j.Number == 0 {
		return nil, j.none("it names none")
	}
	if owner, name, ok := strings.Cut(j.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%s runs for the repository %q; prwarden knows repositories as OWNER/REPO only",
			j.Service, j.Repo)
	}

	j.HeadSHA, j.BaseSHA = sha(j.HeadSHA), sha(j.BaseSHA)
	if j.BaseSHA != "" {
		j.BaseRef = ""
	}
	if j.HeadSHA == "" || j.BaseSHA == "" && j.BaseRef == "" {
		j.HeadSHA, j.BaseSHA, j.BaseRef = "", "", ""
	}
	return j, nil
}

var (
	hexSHA    = regexp.MustCompile(`^[0-9a-f]{40}$`)
	scpLike   = regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):([^/].*)$`)
	changeURL = regexp.MustCompile(
		`^(https?://.+?)/(?:-/merge_requests|merge_requests|pull|pulls|pull-requests)/(\d+)(?:[/?#].*)?$`,
	)
	queueBranch = regexp.MustCompile(`(?:^|/)gh-readonly-queue/(.+)/pr-(\d+)-[0-9a-f]+$`)
	pullRef     = regexp.MustCompile(`^refs/pull/(\d+)/`)
	bitbucketDC = regexp.MustCompile(`(?:^|/)(?:projects/([^/]+)/repos|(users/[^/]+)/repos|scm/([^/]+))/([^/]+)$`)
)

// sha is a commit that can be asked for, or "".
func sha(text string) string {
	if text = strings.ToLower(text); hexSHA.MatchString(text) {
		return text
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

// repository reads a repository's address, also one for git or for SSH. It
// returns `owner/name`, and an address for people without credentials.
func repository(address string) (repo, uri string) {
	path, uri := location(address)
	return known(path), uri
}

// location returns the path of an address, without what git adds, and an address
// for people without credentials.
func location(address string) (path, uri string) {
	if m := scpLike.FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		address = "https://" + m[1] + "/" + m[2]
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", ""
	}
	path = strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + path}
	if clean.Scheme != "http" && clean.Scheme != "https" {
		clean.Scheme, clean.Host = "https", u.Hostname()
	}
	return path, clean.String()
}

// known is the repository at a path. Bitbucket Data Center has repositories
// below `scm/key` for git, and below `projects/KEY/repos` or `users/NAME/repos`
// for people. A key is in capitals on pages only, and git has `~name` for a
// person's own; it is what git has that servers make addresses of.
func known(path string) string {
	m := bitbucketDC.FindStringSubmatch(path)
	if m == nil {
		return path
	}
	owner := m[1] + m[3]
	if user, ok := strings.CutPrefix(m[2], "users/"); ok {
		owner = "~" + user
	}
	return strings.ToLower(owner) + "/" + m[4]
}

// change reads the address of a pull request's page. What is before
// owner and name is where a server keeps its pages, but on GitLab, where groups
// can be in groups.
func change(address string) (repo, uri string, n int32) {
	m := changeURL.FindStringSubmatch(address)
	if m == nil {
		return "", "", 0
	}
	repo, uri = location(m[1])
	if strings.Contains(address, "/merge_requests/") {
		return repo, uri, number(m[2])
	}
	repo = known(repo)
	if parts := strings.Split(repo, "/"); len(parts) > 2 {
		repo = strings.Join(parts[len(parts)-2:], "/")
	}
	return repo, uri, number(m[2])
}
