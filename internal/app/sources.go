package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// hostTime bounds what a code host is asked before a scan.
	hostTime = 20 * time.Second
	// limitedTime is how long a host that limits is left alone when it doesn't say, and
	// maxLimitedTime the longest that it may say.
	limitedTime    = time.Minute
	maxLimitedTime = time.Hour
)

// sources says where reviews are read from: by the connection that is for the
// repository, else at the organization's own host. Tokens of those hosts are in
// variables of the server, which hands them to the scanner for one scan.
type sources struct {
	config   config.Config
	env      Environment
	hostOf   func(org string) organization.Host
	allowed  func(org, repo string) bool // at that host
	hosts    connection.Hosts            // nil for none
	isListed func(*url.URL) bool         // that the operator lets connections lead there
	log      *slog.Logger
}

// check says which token of the configuration file's organizations is not there.
func (s *sources) check() error {
	for _, o := range s.config.Organizations {
		if _, err := s.credential(o.Host); err != nil {
			return fmt.Errorf("organization %s: host: token_env: %w", o.Name, err)
		}
	}

	return nil
}

// credential is what opens the repositories of an organization's host. It fails with a
// sentence for the operator when the variable is not set, or may hold no token.
func (s *sources) credential(h organization.Host) (codehost.Credential, error) {
	if h.TokenEnv == "" {
		return codehost.Credential{}, nil
	}
	if err := s.config.CheckTokenEnv(h.TokenEnv); err != nil {
		return codehost.Credential{}, err
	}
	value := s.env(h.TokenEnv)
	switch {
	case value == "":
		return codehost.Credential{}, fmt.Errorf("the environment variable %s is not set", h.TokenEnv)
	case !h.Confidential():
		return codehost.Credential{}, fmt.Errorf("a token is sent over https only, and the url is another")
	}

	return codehost.Credential{Username: h.Username, Token: value}, nil
}

// Source implements review.Sources.
func (s *sources) Source(ctx context.Context, c review.Claim) (review.Source, error) {
	if s.hosts != nil {
		id, err := s.hosts.For(ctx, c.Organization, c.Repo)
		if err != nil {
			return review.Source{}, err
		}
		if id != "" {
			return s.connected(ctx, id, c)
		}
	}

	// What a connection was for a moment ago is not read with the operator's token.
	if !s.allowed(c.Organization, c.Repo) {
		return review.Source{}, lastingError(review.CodeNotAllowed, nil,
			"The organization %s may not use the repository %s any more.", c.Organization, c.Repo)
	}
	host := s.hostOf(c.Organization)
	credential, err := s.credential(host)
	if err != nil {
		return review.Source{}, lastingError(scan.CodeHostMisconfigured, err,
			"The organization %s can't be scanned here: %s.", c.Organization, err)
	}
	host.TokenEnv, host.Username = "", ""

	return review.Source{Host: host, Credential: credential}, nil
}

// connected is a source by a connection. What needs no credential is still scanned when
// that of the connection doesn't work.
func (s *sources) connected(ctx context.Context, id string, c review.Claim) (review.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()

	conn, host, err := s.hosts.Open(ctx, id)
	isBroken := errs.ReasonOf(err) == errs.ReasonConnectionBroken
	if errs.KindOf(err) == errs.NotFound { // it was deleted a moment ago
		return review.Source{}, &review.ScanError{
			Failure: review.Failure{
				Code: scan.CodeHostUnreachable, Message: "The connection of the repository was deleted a moment ago.",
			},
			Uncounted: true, Err: err,
		}
	}
	if err != nil && !isBroken {
		return review.Source{}, err
	}

	anonymous := s.anonymous(conn, c.Repo)
	if isBroken || conn.State != connection.Active {
		return anonymous, nil
	}
	source, repo := anonymous, codehost.Repository{Name: c.Repo}
	source.Credential, err = twice(func() (codehost.Credential, error) { return host.Credential(ctx, repo) })
	if codehost.FaultOf(err) == codehost.Gone { // the connection is not for this one
		return anonymous, nil
	}
	if err == nil && c.Commits == (finding.Commits{}) {
		source.Commits, err = twice(func() (finding.Commits, error) { return commits(ctx, host, repo, c.PRNumber) })
	}
	switch {
	case err == nil:
		return source, nil
	case codehost.FaultOf(err) == codehost.Revoked:
		s.revoked(ctx, conn, err)
		return anonymous, nil
	}

	return review.Source{}, hostFailure(conn, c, err)
}

// anonymous is where a connection has a repository, without a credential.
func (s *sources) anonymous(c connection.Connection, repo string) review.Source {
	host := organization.Host{Kind: organization.KindGit, URL: c.CloneURL(repo)}
	switch c.Kind {
	case codehost.GitLab:
		host.HeadRef, host.MergeRef = "refs/merge-requests/{number}/head", "refs/merge-requests/{number}/merge"
	case codehost.BitbucketServer:
		host.HeadRef, host.MergeRef = "refs/pull-requests/{number}/from", "refs/pull-requests/{number}/merge"
	}
	u, err := url.Parse(host.URL)
	isListed := err == nil && s.isListed != nil && s.isListed(u)

	return review.Source{Host: host.WithDefaults(), Guarded: !c.Trusted && !isListed}
}

// revoked keeps that a host refused the credential of a connection.
func (s *sources) revoked(ctx context.Context, c connection.Connection, refused error) {
	if err := s.hosts.Report(context.WithoutCancel(ctx), c.Refused(refused)); err != nil {
		s.log.Error("storing that a connection is broken failed", "connection", c.ID, "error", err)
	}
}

// twice calls again what a credential was refused for: a host makes some anew.
func twice[T any](call func() (T, error)) (T, error) {
	out, err := call()
	if codehost.FaultOf(err) == codehost.Revoked {
		return call()
	}

	return out, err
}

// commits asks for the commits of a pull request; the zero ones when the credential
// can't see pull requests, and then git tells. An open one is compared with its branch
// as that is now; in the branch of another one it may be already.
func commits(
	ctx context.Context, host codehost.Host, repo codehost.Repository, number int32,
) (finding.Commits, error) {
	p, err := host.PullRequest(ctx, repo, number)
	if codehost.FaultOf(err) == codehost.Forbidden {
		return finding.Commits{}, nil
	}
	if err != nil {
		return finding.Commits{}, err
	}

	out := finding.Commits{Head: p.HeadSHA, Base: cmp.Or(p.MergeBase, p.BaseSHA)}
	if p.BaseRef != "" && (p.State == codehost.Open || out.Base == "") {
		out = finding.Commits{Head: p.HeadSHA, BaseRef: p.BaseRef}
	}
	if bad := review.CheckCommits(out); len(bad) > 0 || out.Head == "" {
		return finding.Commits{}, &codehost.Error{
			Fault: codehost.Invalid, Err: fmt.Errorf("the commits of pull request %d can't be used: %v", number, bad),
		}
	}

	return out, nil
}

// hostFailure is why a review can't be scanned by what a host said.
func hostFailure(conn connection.Connection, c review.Claim, err error) error {
	var said codehost.Error
	if e, ok := errors.AsType[*codehost.Error](err); ok {
		said = *e
	}

	if refused, ok := errors.AsType[*egress.Refused](err); ok {
		return lastingError(scan.CodeHostMisconfigured, err,
			"The code host of the connection %q isn't used: %s.", conn.Name, refused)
	}

	switch said.Fault {
	case codehost.Limited:
		return &review.ScanError{
			Failure: review.Failure{
				Code:    scan.CodeHostUnreachable,
				Message: fmt.Sprintf("The code host of the connection %q takes no more calls for now.", conn.Name),
			},
			Uncounted: true,
			After:     min(cmp.Or(said.After, limitedTime), maxLimitedTime), Err: err,
		}
	case codehost.Gone:
		return lastingError(scan.CodePullRequestNotFound, err,
			"The code host doesn't show %s or its pull request %d to the connection %q.", c.Repo, c.PRNumber, conn.Name)
	case codehost.Moved:
		return lastingError(scan.CodeRepositoryNotFound, err,
			"The repository %s has moved. Use its present name.", c.Repo)
	case codehost.Forbidden:
		return lastingError(scan.CodeAccessDenied, err,
			"The credentials of the connection %q lack a permission: %s.", conn.Name, cmp.Or(said.Scope, "to read code"))
	case codehost.Invalid:
		return lastingError(scan.CodeHostMisconfigured, err,
			"The code host of the connection %q refuses what it is asked. Check its address and kind.", conn.Name)
	}

	return &review.ScanError{
		Failure: review.Failure{
			Code:    scan.CodeHostUnreachable,
			Message: fmt.Sprintf("The code host of the connection %q can't be reached or did not answer in time.", conn.Name),
		},
		Err: err,
	}
}

// lastingError is a failure that trying again does not change.
func lastingError(code string, err error, format string, args ...any) error {
	return &review.ScanError{
		Failure: review.Failure{Code: code, Message: fmt.Sprintf(format, args...)}, Lasting: true, Err: err,
	}
}
