package store

import (
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/review"
)

// RenameRepository implements inbox.PullRequests. Where a pull request is known by the
// new name already, the row of the old one stays until retention deletes it. Pull requests
// move last, because they say which of the others do.
func (s *Store) RenameRepository(ctx context.Context, org, connection string, r codehost.Repository) error {
	const moving = ` FROM pull_requests WHERE organization = ? AND connection_id = ? AND repo_id = ? AND repo <> ?
		AND NOT EXISTS (SELECT 1 FROM pull_requests o WHERE o.organization = pull_requests.organization
			AND o.repo = ? AND o.number = pull_requests.number)`
	selected := []any{org, connection, clean(r.ID), r.Name, r.Name}
	const triage = ` SET repo = ? WHERE organization = ? AND ((repo, pr_number) IN (SELECT repo, number` + moving + `)
		OR pr_number = 0 AND repo IN (SELECT repo` + moving + `))`
	decided := slices.Concat([]any{r.Name, org}, selected, selected)

	return s.write(ctx, "rename a repository", of(org), func(t *tx) error {
		if err := t.takeOrganization(ctx, org); err != nil { // decisions are made behind it
			return err
		}
		for _, change := range []struct {
			query string
			args  []any
		}{
			{`UPDATE reviews SET ruleset = CASE ruleset WHEN repo THEN ? ELSE ruleset END, repo = ?
				WHERE organization = ? AND created_by = ? AND (repo, pr_number) IN (SELECT repo, number` + moving + `)`,
				slices.Concat([]any{r.Name, r.Name, org, review.ByConnection + connection}, selected)},
			{`UPDATE triage` + triage + ` AND NOT EXISTS (SELECT 1 FROM triage o
				WHERE o.organization = triage.organization AND o.repo = ? AND o.fingerprint = triage.fingerprint
					AND o.pr_number = triage.pr_number)`, append(slices.Clone(decided), r.Name)},
			{`UPDATE triage_changes` + triage, decided},
		} {
			if _, err := t.exec(ctx, change.query, change.args...); err != nil {
				return err
			}
		}
		n, err := t.exec(ctx, `UPDATE pull_requests SET want = want + 1, wanted_at = ?, updated_at = ?, repo = ?
			WHERE (organization, repo, number) IN (SELECT organization, repo, number`+moving+`)`,
			append([]any{at(t.now), at(t.now), r.Name}, selected...)...)
		t.publishes = t.publishes || n > 0

		return err
	})
}
