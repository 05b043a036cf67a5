package publish

import (
	"context"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/page"
)

// Page sizes of List.
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
)

// MaxThreads is how many threads of a pull request are listed.
const MaxThreads = 1000

// Service reads pull requests, and has them published again.
type Service struct{ store Store }

// NewService returns a service over a store.
func NewService(store Store) *Service { return &Service{store: store} }

// ListInput selects a page of pull requests. Zero fields select all.
type ListInput struct {
	Repo       string
	State      codehost.State
	Connection string
	PageSize   int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken  string // of the page before
}

// List returns a page of pull requests, the latest known first, and the token of the
// next page; "" on the last.
func (s *Service) List(ctx context.Context, org string, in ListInput) ([]PullRequest, string, error) {
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}
	f := Filter{Repo: in.Repo, State: in.State, Connection: clean(in.Connection), Limit: size + 1}
	filters := []string{f.Repo, string(f.State), f.Connection}
	if f.After, err = page.After(in.PageToken, filters...); err != nil {
		return nil, "", err
	}
	list, err := s.store.ListPullRequests(ctx, org, f)
	if err != nil || len(list) <= size {
		return list, "", err
	}

	return list[:size], list[size-1].Place().Token(filters...), nil
}

// clean keeps what no identifier has out of queries.
func clean(id string) string { return strings.ReplaceAll(strings.ToValidUTF8(id, ""), "\x00", "") }

// Get reads a pull request; NotFound (PULL_REQUEST_NOT_FOUND).
func (s *Service) Get(ctx context.Context, k Key) (PullRequest, error) {
	return s.store.GetPullRequest(ctx, k)
}

// Republish has a pull request published again; NotFound.
func (s *Service) Republish(ctx context.Context, k Key) (PullRequest, error) {
	return s.store.Republish(ctx, k)
}

// Threads returns the first MaxThreads threads of a pull request, by fingerprint;
// NotFound.
func (s *Service) Threads(ctx context.Context, k Key) ([]Thread, error) {
	if _, err := s.store.GetPullRequest(ctx, k); err != nil {
		return nil, err
	}
	known, err := s.store.Known(ctx, k)

	return known.Threads[:min(len(known.Threads), MaxThreads)], err
}
