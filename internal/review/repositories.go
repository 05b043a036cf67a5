package review

import (
	"context"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
)

// RepositoryFilter selects repositories. Zero fields select all.
type RepositoryFilter struct {
	Words []string // in lower case; all occur in the name
	After string   // only names after it
	Limit int      // at least 1
}

// Repository is what the reviews of a repository say.
type Repository struct {
	Repo    string // `owner/name`
	Reviews int
	Open    finding.Summary // in the latest complete reviews of its pull requests
	Last    Review          // the newest one, without findings and skips
}

// RepositoriesInput selects a page of repositories.
type RepositoriesInput struct {
	Query     string // words
	PageSize  int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken string // of the page before
}

// Repositories returns a page of repositories that have reviews, by their names, and the
// token of the next page; "" on the last.
func (s *Service) Repositories(ctx context.Context, org string, in RepositoriesInput) ([]Repository, string, error) {
	words, err := Words(in.Query)
	if err != nil {
		return nil, "", err
	}
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}
	f := RepositoryFilter{Words: words, Limit: size + 1}
	if in.PageToken != "" {
		var ok bool
		if f.After, ok = page.Place(in.PageToken, in.Query); !ok || f.After == "" {
			return nil, "", errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
		}
	}

	list, err := s.store.ListRepositories(ctx, org, f)
	if err != nil || len(list) <= size {
		return list, "", err
	}

	return list[:size], page.Token(list[size-1].Repo, in.Query), nil
}
