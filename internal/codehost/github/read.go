package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Access says whose the credentials are and which permissions are missing. GitHub tells
// what a classic token may do, but not what a fine-grained one may: with that, nothing
// is missing until a call is refused.
func (h *Host) Access(ctx context.Context) (codehost.Access, error) {
	me, err := h.self(ctx)
	if err != nil {
		return codehost.Access{}, err
	}

	a := codehost.Access{Account: me.login, ID: text(me.id)}
	if h.app == nil {
		a.Missing, err = h.missingScopes(ctx)
		return a, err
	}

	installation, err := h.installation(ctx)
	if err != nil {
		return a, err
	}

	i, _, err := h.app.Apps.GetInstallation(ctx, installation)
	if err != nil {
		return a, h.fault(err, false)
	}

	if i.SuspendedAt != nil {
		return a, &codehost.Error{Fault: codehost.Revoked, Err: fmt.Errorf("github: %w", codehost.ErrSuspended)}
	}

	granted := permissions(i.GetPermissions())
	a.Checks = granted["checks"] == write
	for _, p := range Permissions {
		if got := granted[p.Name]; got != p.Level && got != write {
			a.Missing = append(a.Missing, p.Name+": "+p.Level)
		}
	}

	return a, nil
}

// missingScopes are those of a classic token.
func (h *Host) missingScopes(ctx context.Context) ([]string, error) {
	_, r, err := h.client.Users.Get(ctx, "")
	if err != nil {
		return nil, h.fault(err, false)
	}

	header, classic := r.Header["X-Oauth-Scopes"]
	if !classic {
		return nil, nil
	}

	scopes := strings.Split(strings.ReplaceAll(strings.Join(header, ","), " ", ""), ",")
	if slices.Contains(scopes, "repo") || slices.Contains(scopes, "public_repo") {
		return nil, nil
	}

	return []string{"repo"}, nil
}

// Repositories lists those of the installation, or those that a token's owner has
// something to do with.
func (h *Host) Repositories(ctx context.Context, limit int) ([]codehost.Repository, error) {
	var all []codehost.Repository
	err := h.pages(func(page api.ListOptions) (*api.Response, error) {
		var (
			list []*api.Repository
			r    *api.Response
			err  error
		)
		if h.app != nil {
			var some *api.ListRepositories
			if some, r, err = h.client.Apps.ListRepos(ctx, &page); some != nil {
				list = some.Repositories
			}
		} else {
			list, r, err = h.client.Repositories.ListByAuthenticatedUser(ctx,
				&api.RepositoryListByAuthenticatedUserOptions{Sort: "full_name", ListOptions: page})
		}

		for _, repo := range list {
			all = append(all, repositoryOf(repo))
		}

		if len(all) >= limit {
			all = all[:limit]
			return nil, err
		}
		return r, err
	})

	return all, err
}

// pages calls a function for each page of a list, until it returns no answer or an
// answer without a next page.
func (h *Host) pages(call func(api.ListOptions) (*api.Response, error)) error {
	page := api.ListOptions{Page: 1, PerPage: perPage}

	for range maxPages {
		r, err := call(page)
		if err != nil {
			return h.fault(err, false)
		}
		if r == nil || r.NextPage == 0 {
			return nil
		}
		page.Page = r.NextPage
	}

	return nil
}

// PullRequest reads one. When the repository has another name by now, or the name
// another repository, it is looked up by its ID.
func (h *Host) PullRequest(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	var p codehost.PullRequest
	err := h.located(ctx, r, func(owner, name string) (string, error) {
		got, _, err := h.client.PullRequests.Get(ctx, owner, name, int(n))
		if err != nil {
			return "", h.fault(err, false)
		}
		p = pullRequestOf(got)
		return p.Repository.ID, nil
	})

	return p, err
}

// OpenPullRequests lists those that changed since a time.
func (h *Host) OpenPullRequests(
	ctx context.Context, r codehost.Repository, since time.Time,
) ([]codehost.PullRequest, error) {
	var all []codehost.PullRequest
	err := h.located(ctx, r, func(owner, name string) (id string, err error) {
		all = nil
		err = h.pages(func(page api.ListOptions) (*api.Response, error) {
			list, r, err := h.client.PullRequests.List(ctx, owner, name, &api.PullRequestListOptions{
				State: "open", Sort: "updated", Direction: "desc", ListOptions: page,
			})

			for _, p := range list {
				if p.GetUpdatedAt().Before(since) {
					return nil, nil
				}
				all = append(all, pullRequestOf(p))
				id = all[0].Repository.ID
			}
			return r, err
		})
		return id, err
	})

	return all, err
}

// located calls a function with the name of a repository. It returns the ID of the
// repository that it met; "" for none. When that is another, or there is none of that
// name, the function is called once more with the name that the ID has now.
func (h *Host) located(
	ctx context.Context, r codehost.Repository, call func(owner, name string) (id string, err error),
) error {
	owner, name, err := split(r.Name)
	if err != nil {
		return err
	}

	id, err := call(owner, name)
	other := err == nil && id != "" && id != r.ID
	if lost := other || codehost.FaultOf(err) == codehost.Moved || gone(err); !lost || r.ID == "" {
		return err
	}

	now, _, lookup := h.client.Repositories.GetByID(ctx, number(r.ID))
	if lookup != nil {
		return h.fault(lookup, false)
	}

	if owner, name, err = split(now.GetFullName()); err != nil {
		return err
	}

	if id, err = call(owner, name); err == nil && id != "" && id != r.ID {
		return &codehost.Error{Fault: codehost.Moved, Err: errors.New("github: the repository is being renamed")}
	}

	return err
}

// repositoryOf is our form of a repository.
func repositoryOf(r *api.Repository) codehost.Repository {
	return codehost.Repository{ID: text(r.GetID()), Name: r.GetFullName(), Private: r.GetPrivate()}
}

// pullRequestOf is our form of a pull request. One whose fork was deleted has no head
// repository.
func pullRequestOf(p *api.PullRequest) codehost.PullRequest {
	head, base := p.GetHead(), p.GetBase()
	out := codehost.PullRequest{
		Repository: repositoryOf(base.GetRepo()),
		Number:     int32(p.GetNumber()),
		State:      codehost.State(p.GetState()),
		Title:      p.GetTitle(),
		Author:     p.GetUser().GetLogin(),
		AuthorID:   text(p.GetUser().GetID()),
		HeadSHA:    head.GetSHA(),
		BaseSHA:    base.GetSHA(),
		BaseRef:    base.GetRef(),
		Draft:      p.GetDraft(),
		Fork:       head.GetRepo().GetID() != base.GetRepo().GetID(),
		URL:        p.GetHTMLURL(),
		UpdatedAt:  p.GetUpdatedAt().Time,
	}
	if p.MergedAt != nil {
		out.State = codehost.Merged
	}

	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}

	return out
}

// Credential mints a token for one repository that may only read it, and ends after an
// hour. Without an App it is the token of the connection.
func (h *Host) Credential(ctx context.Context, r codehost.Repository) (codehost.Credential, error) {
	c := codehost.Credential{Username: "x-access-token", Token: h.o.GitToken}
	if c.Token == "" {
		c.Token = h.o.Token
	}

	if h.app == nil {
		return c, nil
	}

	_, name, err := split(r.Name)
	if err != nil {
		return codehost.Credential{}, err
	}

	installation, err := h.installation(ctx)
	if err != nil {
		return codehost.Credential{}, err
	}

	options := &api.InstallationTokenOptions{
		Repositories: []string{name}, Permissions: &api.InstallationPermissions{Contents: api.Ptr("read")},
	}
	if id := number(r.ID); id != 0 {
		options.Repositories, options.RepositoryIDs = nil, []int64{id}
	}

	t, _, err := h.app.Apps.CreateInstallationToken(ctx, installation, options)
	if err != nil {
		if answered, _, _ := answer(err); answered != 0 {
			err = &notMinted{cause: err}
		}
		return codehost.Credential{}, h.fault(err, false)
	}

	c.Token, c.ExpiresAt = t.GetToken(), t.GetExpiresAt().Time
	return c, nil
}

// MayCommand asks for the permission that somebody has now. A login that somebody else
// took over since does not count.
func (h *Host) MayCommand(ctx context.Context, r codehost.Repository, c codehost.Comment) (bool, error) {
	owner, name, err := split(r.Name)
	if err != nil {
		return false, err
	}

	if !loginName.MatchString(c.Author) {
		return false, nil
	}

	p, _, err := h.client.Repositories.GetPermissionLevel(ctx, owner, name, c.Author)
	if err = h.fault(err, false); err != nil {
		if gone(err) {
			return false, nil
		}
		return false, err
	}

	level := p.GetPermission()
	return text(p.GetUser().GetID()) == c.AuthorID && (level == write || level == "admin"), nil
}

// Acknowledge reacts to a comment. The same reaction again changes nothing.
func (h *Host) Acknowledge(
	ctx context.Context, p codehost.PullRequest, c codehost.Comment, r codehost.Reaction,
) error {
	owner, name, err := split(p.Repository.Name)
	if err != nil {
		return err
	}

	id, _ := parts(codehost.Ref(c.ID))
	react := h.client.Reactions.CreateIssueCommentReaction
	if c.OnLine {
		react = h.client.Reactions.CreatePullRequestCommentReaction
	}

	_, answer, err := react(ctx, owner, name, id, string(r))
	if answer != nil && answer.StatusCode == http.StatusOK {
		return nil
	}

	return h.fault(err, false) // it can be repeated
}
