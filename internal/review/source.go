package review

import (
	"context"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
)

// Source is where the repository of a review is read from.
type Source struct {
	Host       organization.Host   // what it has of a token is in Credential instead
	Credential codehost.Credential // for this one scan
	Guarded    bool                // the host is reached at public addresses only, by https

	// Commits are those that the host's API names, for a review that names none; the
	// zero ones when it names none either. CheckCommits finds nothing wrong with them.
	Commits finding.Commits
}

// Sources says where repositories are read from.
type Sources interface {
	// Source is asked for each scan, because a credential may end soon. It fails with a
	// *ScanError, and with what a database fails with.
	Source(ctx context.Context, c Claim) (Source, error)
}
