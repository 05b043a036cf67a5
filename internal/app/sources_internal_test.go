package app

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
)

const (
	headSHA = "1111111111111111111111111111111111111111"
	baseSHA = "2222222222222222222222222222222222222222"
	fork    = "3333333333333333333333333333333333333333"
)

// fakeHosts has one connection, for acme/*.
type fakeHosts struct {
	connection.Hosts

	connection connection.Connection
	forErr     error
	openErr    error
	host       fakeHost
	reported   []string
}

func (f *fakeHosts) For(_ context.Context, _, repo string) (string, error) {
	if f.forErr != nil || !strings.HasPrefix(repo, "acme/") {
		return "", f.forErr
	}

	return "con_1", nil
}

func (f *fakeHosts) Open(context.Context, string) (connection.Connection, codehost.Host, error) {
	return f.connection, &f.host, f.openErr
}

func (f *fakeHosts) Report(_ context.Context, c connection.Connection) error {
	f.reported = append(f.reported, c.ID+" "+string(c.State))
	return nil
}

type fakeHost struct {
	codehost.Host

	credentialErrs, pullErrs []error // of the calls, one after the other; none after these
	pull                     codehost.PullRequest
	pulls                    int
}

func next(all *[]error) (err error) {
	if len(*all) > 0 {
		err, *all = (*all)[0], (*all)[1:]
	}

	return err
}

func (f *fakeHost) Credential(_ context.Context, r codehost.Repository) (codehost.Credential, error) {
	if err := next(&f.credentialErrs); err != nil {
		return codehost.Credential{}, err
	}

	return codehost.Credential{Username: "app", Token: "for " + r.Name}, nil
}

func (f *fakeHost) PullRequest(_ context.Context, _ codehost.Repository, number int32) (codehost.PullRequest, error) {
	f.pulls++
	f.pull.Number = number

	return f.pull, next(&f.pullErrs)
}

func fault(f codehost.Fault) error {
	return &codehost.Error{Fault: f, Err: errors.New("the host said no")}
}

func newSources() (*sources, *fakeHosts) {
	hosts := &fakeHosts{
		connection: connection.Connection{
			ID: "con_1", Name: "main", Kind: codehost.Gitea, URL: "https://gitea.example", State: connection.Active,
		},
		host: fakeHost{pull: codehost.PullRequest{
			State: codehost.Open, HeadSHA: headSHA, BaseSHA: baseSHA, BaseRef: "main",
		}},
	}

	return &sources{
		hosts: hosts, log: slog.New(slog.DiscardHandler),
		env: func(name string) string { return map[string]string{"PRWARDEN_A": "t0k3n"}[name] },
		hostOf: func(string) organization.Host {
			return organization.Host{Kind: organization.KindGit, URL: "https://git.example/{repo}.git"}.WithDefaults()
		},
		allowed:  func(_, repo string) bool { return repo != "secret/api" },
		isListed: func(u *url.URL) bool { return u.Host == "listed.example" },
	}, hosts
}

var claim = review.Claim{Organization: "acme", Repo: "acme/api", PRNumber: 7}

func TestSourceOfAConnection(t *testing.T) {
	t.Parallel()
	pulls := "refs/pull/{number}/"
	gitea := organization.Host{
		Kind: organization.KindGit, URL: "https://gitea.example/acme/api.git", HeadRef: pulls + "head", MergeRef: pulls + "merge",
	}
	credential := codehost.Credential{Username: "app", Token: "for acme/api"}
	named := finding.Commits{Head: headSHA, BaseRef: "main"}
	for name, tt := range map[string]struct {
		set  func(*fakeHosts)
		want review.Source
	}{
		"open": {func(*fakeHosts) {}, review.Source{Host: gitea, Credential: credential, Guarded: true, Commits: named}},
		"trusted": {
			func(f *fakeHosts) { f.connection.Trusted = true },
			review.Source{Host: gitea, Credential: credential, Commits: named},
		},
		"merged": {
			func(f *fakeHosts) { f.host.pull.State, f.host.pull.MergeBase = codehost.Merged, fork },
			review.Source{
				Host: gitea, Credential: credential, Guarded: true, Commits: finding.Commits{Head: headSHA, Base: fork},
			},
		},
		"closed": {
			func(f *fakeHosts) { f.host.pull.State = codehost.Closed },
			review.Source{
				Host: gitea, Credential: credential, Guarded: true, Commits: finding.Commits{Head: headSHA, Base: baseSHA},
			},
		},
		"no right to see pull requests": {
			func(f *fakeHosts) { f.host.pullErrs = []error{fault(codehost.Forbidden)} },
			review.Source{Host: gitea, Credential: credential, Guarded: true},
		},
		"refused once": {
			func(f *fakeHosts) { f.host.credentialErrs = []error{fault(codehost.Revoked)} },
			review.Source{Host: gitea, Credential: credential, Guarded: true, Commits: named},
		},
		"not of this repository": {
			func(f *fakeHosts) { f.host.credentialErrs = []error{fault(codehost.Gone)} },
			review.Source{Host: gitea, Guarded: true},
		},
		"broken": {
			func(f *fakeHosts) { f.connection.State = connection.Broken }, review.Source{Host: gitea, Guarded: true},
		},
		"suspended": {
			func(f *fakeHosts) { f.connection.State = connection.Suspended }, review.Source{Host: gitea, Guarded: true},
		},
		"sealed for good": {
			func(f *fakeHosts) {
				f.openErr = errs.New(errs.FailedPrecondition, errs.ReasonConnectionBroken, "The key is lost.")
			},
			review.Source{Host: gitea, Guarded: true},
		},
	} {
		s, hosts := newSources()
		tt.set(hosts)
		got, err := s.Source(t.Context(), claim)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, got, name)
		assert.Empty(t, hosts.reported, name)
		assert.Empty(t, got.Host.Validate([]string{"acme/api"}), name)
	}
}

// TestSourceOfKinds holds where each kind of host has pull requests.
func TestSourceOfKinds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		connection connection.Connection
		url, head  string
		guarded    bool
	}{
		"GitHub": {
			connection.Connection{Kind: codehost.GitHub, URL: "https://github.com"},
			"https://github.com/acme/api.git", "refs/pull/{number}/head", true,
		},
		"GitLab": {
			connection.Connection{Kind: codehost.GitLab, URL: "https://gitlab.com"},
			"https://gitlab.com/acme/api.git", "refs/merge-requests/{number}/head", true,
		},
		"Bitbucket Server": {
			connection.Connection{Kind: codehost.BitbucketServer, URL: "https://bb.example"},
			"https://bb.example/scm/acme/api.git", "refs/pull-requests/{number}/from", true,
		},
		"listed": {
			connection.Connection{Kind: codehost.Gitea, URL: "https://g.example", GitURL: "https://listed.example/{repo}"},
			"https://listed.example/acme/api", "refs/pull/{number}/head", false,
		},
	} {
		s, hosts := newSources()
		tt.connection.State = connection.Active
		hosts.connection = tt.connection
		got, err := s.Source(t.Context(), claim)
		require.NoError(t, err, name)
		assert.Equal(t, tt.url, got.Host.URL, name)
		assert.Equal(t, tt.head, got.Host.HeadRef, name)
		assert.Equal(t, tt.guarded, got.Guarded, name)
		assert.Empty(t, got.Host.Validate([]string{"acme/api"}), name)
	}
}

func TestSourceFailures(t *testing.T) {
	t.Parallel()
	limited := &codehost.Error{Fault: codehost.Limited, After: 5 * time.Minute, Err: errors.New("slow down")}
	for name, tt := range map[string]struct {
		set  func(*fakeHosts)
		want review.ScanError // without Message and Err
	}{
		"host away": {
			func(f *fakeHosts) { f.host.credentialErrs = []error{fault(codehost.Passing)} },
			review.ScanError{Failure: review.Failure{Code: "host_unreachable"}},
		},
		"no answer": {
			func(f *fakeHosts) { f.host.pullErrs = []error{context.DeadlineExceeded} },
			review.ScanError{Failure: review.Failure{Code: "host_unreachable"}},
		},
		"limited": {
			func(f *fakeHosts) { f.host.pullErrs = []error{limited} },
			review.ScanError{Failure: review.Failure{Code: "host_unreachable"}, Uncounted: true, After: 5 * time.Minute},
		},
		"limited for how long": {
			func(f *fakeHosts) { f.host.pullErrs = []error{fault(codehost.Limited)} },
			review.ScanError{Failure: review.Failure{Code: "host_unreachable"}, Uncounted: true, After: limitedTime},
		},
		"no pull request": {
			func(f *fakeHosts) { f.host.pullErrs = []error{fault(codehost.Gone)} },
			review.ScanError{Failure: review.Failure{Code: "pull_request_not_found"}, Lasting: true},
		},
		"moved": {
			func(f *fakeHosts) { f.host.pullErrs = []error{fault(codehost.Moved)} },
			review.ScanError{Failure: review.Failure{Code: "repository_not_found"}, Lasting: true},
		},
		"may not read": {
			func(f *fakeHosts) { f.host.credentialErrs = []error{fault(codehost.Forbidden)} },
			review.ScanError{Failure: review.Failure{Code: "access_denied"}, Lasting: true},
		},
		"commits of a liar": {
			func(f *fakeHosts) { f.host.pull.HeadSHA = "refs/heads/main" },
			review.ScanError{Failure: review.Failure{Code: "host_misconfigured"}, Lasting: true},
		},
		"no commits": {
			func(f *fakeHosts) { f.host.pull = codehost.PullRequest{} },
			review.ScanError{Failure: review.Failure{Code: "host_misconfigured"}, Lasting: true},
		},
		"deleted": {
			func(f *fakeHosts) {
				f.openErr = errs.New(errs.NotFound, errs.ReasonConnectionNotFound, "There is none.")
			},
			review.ScanError{Failure: review.Failure{Code: "host_unreachable"}, Uncounted: true},
		},
	} {
		s, hosts := newSources()
		tt.set(hosts)
		_, err := s.Source(t.Context(), claim)
		var got *review.ScanError
		require.ErrorAs(t, err, &got, name)
		assert.NotContains(t, got.Message, "the host said no", name)
		assert.NotEmpty(t, got.Message, name) // a trial shows it
		assert.Error(t, got.Err, name)
		shown := *got
		shown.Message, shown.Err = "", nil
		assert.Equal(t, tt.want, shown, name)
	}

	s, hosts := newSources()
	away := errs.New(errs.Unavailable, errs.ReasonUnavailable, "The database is away.")
	hosts.forErr = away
	_, err := s.Source(t.Context(), claim)
	require.ErrorIs(t, err, away)
	hosts.forErr, hosts.openErr = nil, away
	_, err = s.Source(t.Context(), claim)
	require.ErrorIs(t, err, away)
}

// TestSourceOfARevokedCredential holds that a connection whose credential is refused
// twice is broken, and public repositories are scanned without it.
func TestSourceOfARevokedCredential(t *testing.T) {
	t.Parallel()
	refused := []error{fault(codehost.Revoked), fault(codehost.Revoked)}
	for name, set := range map[string]func(*fakeHost){
		"for git":     func(h *fakeHost) { h.credentialErrs = refused },
		"for the API": func(h *fakeHost) { h.pullErrs = refused },
	} {
		s, hosts := newSources()
		set(&hosts.host)
		got, err := s.Source(t.Context(), claim)
		require.NoError(t, err, name)
		assert.Zero(t, got.Credential, name)
		assert.Zero(t, got.Commits, name)
		assert.True(t, got.Guarded, name)
		assert.Equal(t, []string{"con_1 broken"}, hosts.reported, name)
	}
}

// TestSourceOfNamedCommits holds that the host isn't asked for what the review says.
func TestSourceOfNamedCommits(t *testing.T) {
	t.Parallel()
	s, hosts := newSources()
	named := claim
	named.Commits = finding.Commits{Head: headSHA, Base: baseSHA}
	got, err := s.Source(t.Context(), named)
	require.NoError(t, err)
	assert.Zero(t, got.Commits)
	assert.Zero(t, hosts.host.pulls)
}

// TestSourceOfAnOrganization holds that hosts that no connection is for are read with
// the token of the server's environment.
func TestSourceOfAnOrganization(t *testing.T) {
	t.Parallel()
	other := claim
	other.Repo = "other/api"
	for name, tt := range map[string]struct {
		url, variable string
		token, want   string // the token, or what is wrong
	}{
		"public":      {"https://git.example/{repo}.git", "", "", ""},
		"private":     {"https://git.example/{repo}.git", "PRWARDEN_A", "t0k3n", ""},
		"loopback":    {"http://127.0.0.1/{repo}.git", "PRWARDEN_A", "t0k3n", ""},
		"not there":   {"https://git.example/{repo}.git", "PRWARDEN_B", "", "PRWARDEN_B is not set"},
		"not allowed": {"https://git.example/{repo}.git", "HOME", "", "HOME is not allowed"},
		"in clear":    {"http://git.example/{repo}.git", "PRWARDEN_A", "", "https only"},
	} {
		s, _ := newSources()
		host := organization.Host{Kind: organization.KindGit, URL: tt.url, TokenEnv: tt.variable}.WithDefaults()
		s.hostOf = func(string) organization.Host { return host }
		got, err := s.Source(t.Context(), other)
		if tt.want != "" {
			var e *review.ScanError
			require.ErrorAs(t, err, &e, name)
			assert.Equal(t, "host_misconfigured", e.Code, name)
			assert.True(t, e.Lasting, name)
			assert.Contains(t, e.Message, tt.want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, tt.token, got.Credential.Token, name)
		assert.Empty(t, got.Host.TokenEnv, name)
		assert.False(t, got.Guarded, name)
		assert.Empty(t, got.Host.Validate([]string{"other/api"}), name)
	}
}

// What only a connection was for is not read from the organization's own host, with the
// operator's token.
func TestNoSourceOfWhatTheOperatorDoesNotAllow(t *testing.T) {
	t.Parallel()
	s, _ := newSources()
	secret := claim
	secret.Repo = "secret/api"
	_, err := s.Source(t.Context(), secret)
	var failed *review.ScanError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, review.CodeNotAllowed, failed.Code)
	assert.True(t, failed.Lasting)

	secret.Repo = "other/api"
	_, err = s.Source(t.Context(), secret)
	require.NoError(t, err)
}
