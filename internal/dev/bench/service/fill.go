package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/store"
)

// organization is whose reviews there are.
const organization = "bench"

// withStore opens a database and hands it to do.
func withStore(ctx context.Context, database string, do func(*store.Store) error) (err error) {
	s, err := store.Open(ctx, store.Options{Database: database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// completeReview stores a complete review with n findings and returns its
// identifier.
func completeReview(ctx context.Context, s *store.Store, n int) (string, error) {
	id := review.NewID()
	_, err := s.CreateReview(ctx, review.NewReview{
		ID: id, Organization: organization, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop", EstimatedMS: 1_000,
	}, review.MaxQueued)
	if err != nil {
		return "", err
	}
	c, err := s.Claim(ctx, "bench", time.Minute)
	if err != nil {
		return "", err
	}
	if c == nil || c.ReviewID != id {
		return "", fmt.Errorf("the review %s was not the next to be claimed", id)
	}
	o := finding.Result{
		HeadSHA: "8f1d3c5b7a9e0f2d4c6b8a0e1f3d5c7b9a1e0f2d", BaseSHA: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
		RulesDigest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Summary:     finding.Summary{}, FilesTotal: 40,
	}
	severities := []rule.Severity{rule.Critical, rule.High, rule.Medium, rule.Warning, rule.Low, rule.Info}
	for i := range n {
		severity := severities[i%len(severities)]
		o.Summary[severity]++
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "security/python-subprocess-shell", Severity: severity,
			File: fmt.Sprintf("services/orders/handlers/file_%03d.py", i/4), Line: 10 + i%4*7, EndLine: 10 + i%4*7, Column: 12,
			Message:     "Pass the command as a list without shell=True, so that no argument can be read as shell syntax.",
			Snippet:     fmt.Sprintf("    subprocess.run(f\"convert {upload.path} {target_%d}\", shell=True, check=True)", i),
			Fingerprint: fmt.Sprintf("%032x", i+1),
		})
	}
	return id, s.Finish(ctx, *c, o)
}
