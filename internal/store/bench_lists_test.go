package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/stats"
)

// manyReviews are statements that make 100,000 reviews of 200 repositories, 5 of each
// pull request, with 3 findings in the latest, and the numbers of 90 days.
var manyReviews = []string{
	`INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, outcome, created_at, completed_at,
		failure_code, failure_message, head_title, head_author, search, created_by, latest, finding_rows, open_high)
	SELECT 'rev_' || i, 'acme', 'acme/repository-' || (i % 200), i % 20000 / 200 + 1, 'acme/shop',
		CASE WHEN i % 50 = 0 THEN 'failed' WHEN i > 99980 THEN 'queued' ELSE 'complete' END,
		CASE WHEN i % 50 = 0 OR i > 99980 THEN '' WHEN i % 997 = 1 THEN 'incomplete' WHEN i % 3 = 0 THEN 'fail' ELSE 'pass' END,
		b.created_at + i * CAST(1000000 AS BIGINT),
		CASE WHEN i % 50 = 0 OR i <= 99980 THEN b.created_at + i * CAST(1000000 AS BIGINT) END,
		CASE WHEN i % 50 = 0 THEN 'x' END, CASE WHEN i % 50 = 0 THEN b.failure_message END, 'Add the cart to the shop',
		'ann', 'acme/repository-' || (i % 200) || '#' || (i % 20000 / 200 + 1) || ' add the cart to the shop ann',
		'key:key_01k9w1m8d2c7b5v4', i >= 80000 AND i <= 99980 AND i % 50 <> 0, 3, 3
	FROM (WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999) SELECT i FROM n) n
	JOIN (SELECT created_at, snippet AS failure_message FROM reviews JOIN findings ON review_id = id
		WHERE position = 0) b ON 1 = 1`,
	`INSERT INTO findings (` + findingColumns + `)
	SELECT id, f.kind, f.position, rule_id, severity, file, line, end_line, col, end_col, utf16_col, utf16_end_col,
		message, snippet, fingerprint, line_hash, state, suppress_reason, suppress_until, suppress_line, confidence
	FROM findings f JOIN reviews r ON r.latest AND f.review_id = 'rev_acme_00000'`,
	`INSERT INTO finding_lives (organization, repo, pr_number, fingerprint, rule_id, severity, first_seen_at,
		last_seen_at, fixed_at)
	SELECT 'acme', repo, pr_number, fingerprint, rule_id, severity, created_at, created_at + 60000000,
		CASE WHEN position > 0 THEN created_at + 60000000 END
	FROM reviews r JOIN findings f ON f.review_id = r.id WHERE r.latest`,
	`INSERT INTO finding_days (organization, day, repo, rule_id, severity, found, fixed, suppressed, work)
	SELECT 'acme', '2026-' || CAST(10 + d / 28 AS TEXT) || '-' || CAST(10 + d % 28 AS TEXT), repo,
		'custom/r' || k, 'high', 3, 2, 1, 1000
	FROM (WITH RECURSIVE n (d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM n WHERE d < 83) SELECT d FROM n) n
	JOIN (WITH RECURSIVE m (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM m WHERE k < 9) SELECT k FROM m) m ON 1 = 1
	JOIN (SELECT DISTINCT repo FROM reviews WHERE organization = 'acme') r ON 1 = 1`,
	`INSERT INTO open_days (organization, day, repo, severity, change)
	SELECT organization, day, repo, severity, 1 FROM finding_days GROUP BY organization, day, repo, severity`,
}

// BenchmarkLists reads what pages of a large organization show.
func BenchmarkLists(b *testing.B) {
	list := func(f review.Filter) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			f.Limit = review.DefaultPageSize + 1
			_, _, err := s.ListReviews(ctx, "acme", f)

			return err
		}
	}
	count := func(f review.Filter) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			_, _, err := s.CountReviews(ctx, "acme", f)

			return err
		}
	}
	found := func(f review.Search) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			f.Decision, f.Limit = finding.Open, review.DefaultFindingsPage+1
			_, err := s.SearchFindings(ctx, "acme", f)

			return err
		}
	}
	groups := func(f review.Search, by review.Group) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			f.Decision, f.Limit = finding.Open, review.DefaultFindingsPage+1
			_, err := s.CountFindings(ctx, "acme", f, by)

			return err
		}
	}
	trend := func(f stats.TrendFilter) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			f.Since, f.Until = "2026-11-01", "2026-11-30"
			_, err := s.Trend(ctx, "acme", f)

			return err
		}
	}
	words := func(w ...string) review.Filter { return review.Filter{Words: w} }
	reads := []struct {
		name string
		read func(ctx context.Context, s *Store) error
	}{
		{"ListReviews/all", list(review.Filter{})},
		{"ListReviews/often", list(words("cart"))},
		{"ListReviews/never", list(words("nothing"))},
		{"ListReviews/failed", list(review.Filter{Outcome: finding.Fail, Words: []string{"nothing"}})},
		{"ListReviews/incomplete", list(review.Filter{Outcome: finding.Incomplete})},
		{"ListReviews/not_scanned", list(review.Filter{Standing: review.NotScanned})},
		{"ListReviews/running", list(review.Filter{Standing: review.Running})},
		{"ListReviews/creator", list(review.Filter{CreatedBy: "key:other"})},
		{"ListReviews/repo", list(review.Filter{Repo: "acme/repository-7", PRNumber: 7})},
		{"CountReviews/all", count(review.Filter{})},
		{"CountReviews/repo", count(review.Filter{Repo: "acme/repository-7"})},
		{"CountReviews/words", count(words("cart", "shop"))},
		{"CountReviews/creator", count(review.Filter{CreatedBy: "key:other"})},
		{"CountReviews/since", count(review.Filter{Since: time.Unix(0, 0)})},
		{"CountReviews/number", count(review.Filter{PRNumber: 7})},
		{"SearchFindings/all", found(review.Search{})},
		{"SearchFindings/never", found(review.Search{Words: []string{"nothing"}})},
		{"CountFindings/all", groups(review.Search{}, review.ByNothing)},
		{"CountFindings/rule", groups(review.Search{}, review.ByRule)},
		{"CountFindings/file", groups(review.Search{}, review.ByFile)},
		{"ListRepositories/all", func(ctx context.Context, s *Store) error {
			_, err := s.ListRepositories(ctx, "acme", review.RepositoryFilter{Limit: review.DefaultPageSize + 1})

			return err
		}},
		{"ListRepositories/never", func(ctx context.Context, s *Store) error {
			_, err := s.ListRepositories(ctx, "acme", review.RepositoryFilter{
				Words: []string{"nothing"}, Limit: review.DefaultPageSize + 1,
			})

			return err
		}},
		{"GetTrends/all", trend(stats.TrendFilter{})},
		{"GetTrends/repo", trend(stats.TrendFilter{Repo: "acme/repository-7"})},
	}
	benchEach(b, func(b *testing.B, s *Store) {
		sow(b, s, "acme", review.Complete, 1, 3)
		require.NoError(b, s.write(b.Context(), "fill", of("acme"), func(t *tx) error {
			for _, statement := range manyReviews {
				if _, err := t.ExecContext(b.Context(), statement); err != nil {
					return err
				}
			}

			return nil
		}))
		if s.dialect.postgres { // as autovacuum does
			_, err := s.pools.writer.ExecContext(b.Context(), "VACUUM ANALYZE")
			require.NoError(b, err)
		}
		for _, r := range reads {
			b.Run(r.name, func(b *testing.B) {
				for b.Loop() {
					require.NoError(b, r.read(b.Context(), s))
				}
			})
		}
	})
}
