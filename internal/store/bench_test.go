package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// The times of a creation in docs/decisions/0002-sqlite.md are from these:
//
//	go test -run '^$' -bench . ./internal/store

func newReview(org, id string) review.NewReview {
	return review.NewReview{ID: id, Organization: org, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop",
		EstimatedMS: 4_200}
}

// fill queues n reviews of an organization, in one transaction, since setting
// up 10,000 durable commits would take longer than what is measured.
func fill(tb testing.TB, s *Store, org string, n int) {
	tb.Helper()
	err := s.write(tb.Context(), "fill", allOrganizations, func(t *tx) error {
		if _, err := t.exec(tb.Context(), `INSERT INTO organizations (name, queued) VALUES (?, ?)`, org, n); err != nil {
			return err
		}

		return t.insertRows(tb.Context(), `reviews (id, organization, repo, pr_number, ruleset, status, created_at)`, 7, n,
			func(i int) []any {
				return []any{fmt.Sprintf("rev_%s_%05d", org, i), org, "acme/shop", 7, "acme/shop", "queued",
					at(t.now.Add(time.Duration(i) * time.Microsecond))}
			})
	})
	require.NoError(tb, err)
}

func BenchmarkCreateReview(b *testing.B) {
	for _, synchronous := range []string{"FULL", "NORMAL"} {
		b.Run(synchronous, func(b *testing.B) {
			s := openAt(b, Options{Database: newDatabase(b), synchronous: synchronous})
			for b.Loop() {
				_, err := s.CreateReview(b.Context(), newReview("acme", review.NewID()), 1<<30)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkClaim claims and hands back. What it measures is both together;
// they are equally many statements.
func BenchmarkClaim(b *testing.B) {
	cases := []struct {
		name       string
		orgs, each int
	}{
		{name: "queued=1", orgs: 1, each: 1},
		{name: "queued=10000", orgs: 1, each: 10_000},
		{name: "organizations=1000", orgs: 1_000, each: 10},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			s := openAt(b, Options{Database: newDatabase(b)})
			for i := range c.orgs {
				fill(b, s, fmt.Sprintf("org%04d", i), c.each)
			}
			for b.Loop() {
				claim, err := s.Claim(b.Context(), "worker", time.Minute)
				require.NoError(b, err)
				require.NoError(b, s.Release(b.Context(), *claim, 0))
			}
		})
	}
}

// BenchmarkClaimChoice is the choice alone, without the commits.
func BenchmarkClaimChoice(b *testing.B) {
	cases := []struct {
		name       string
		orgs, each int
		delayed    int // of each organization's, at the head
	}{
		{name: "queued=1", orgs: 1, each: 1},
		{name: "queued=10000", orgs: 1, each: 10_000},
		{name: "queued=10000,delayed=9999", orgs: 1, each: 10_000, delayed: 9_999},
		{name: "organizations=1000", orgs: 1_000, each: 10},
		{name: "organizations=1000,served", orgs: 1_000, each: 10},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			s := openAt(b, Options{Database: newDatabase(b)})
			for i := range c.orgs {
				fill(b, s, fmt.Sprintf("org%04d", i), c.each)
			}
			err := s.write(b.Context(), "set up", allOrganizations, func(t *tx) error {
				if strings.HasSuffix(c.name, "served") {
					const serve = `UPDATE organizations SET served_at = CAST(substr(name, 4) AS INTEGER)`
					if _, err := t.exec(b.Context(), serve); err != nil {
						return err
					}
				}
				_, err := t.exec(b.Context(), `UPDATE reviews SET not_before = ? WHERE id IN
					(SELECT id FROM reviews ORDER BY created_at, id LIMIT ?)`, at(t.now.Add(time.Hour)), c.delayed)
				return err
			})
			require.NoError(b, err)
			now := at(time.Now())
			for b.Loop() {
				var id string
				require.NoError(b, s.read(b.Context(), "choose", allOrganizations,
					func(t *tx) error { return t.get(b.Context(), &id, claimQuery, now) }))
			}
		})
	}
}

func manyFindings(n int) finding.Result {
	o := finding.Result{Summary: finding.Summary{rule.High: n}, FilesTotal: 100}
	for i := range n {
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "security/no-eval", Severity: rule.High, File: fmt.Sprintf("src/app/component/file%03d.js", i/100),
			Line: i%100 + 1, EndLine: i%100 + 1, Column: 9,
			Message: "Don't evaluate text as code; parse it, for example with JSON.parse.",
			Snippet: "  const value = eval(request.query.expression)", Fingerprint: fmt.Sprintf("%032x", i),
			EndColumn: 13, UTF16Column: 9, UTF16EndColumn: 13, LineHash: fmt.Sprintf("%016x:1", i), State: finding.StateNew,
		})
	}

	return o
}

// BenchmarkFinish stores results that have nothing to be compared with, that
// find what was there before, and that find all else, so that all of that was
// fixed. `quickest-ms` is the one that the rest of the machine disturbed least.
func BenchmarkFinish(b *testing.B) {
	other := manyFindings(review.MaxFindings)
	for i := range other.Findings {
		other.Findings[i].Fingerprint = fmt.Sprintf("f%031x", i)
	}
	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		for _, bm := range []struct {
			name          string
			before, after finding.Result
		}{
			{"findings=10/first", finding.Result{}, manyFindings(10)},
			{"findings=10/same", manyFindings(10), manyFindings(10)},
			{"findings=10000/first", finding.Result{}, manyFindings(review.MaxFindings)},
			{"findings=10000/same", manyFindings(review.MaxFindings), manyFindings(review.MaxFindings)},
			{"findings=10000/other", manyFindings(review.MaxFindings), other},
		} {
			b.Run(name+"/"+bm.name, func(b *testing.B) {
				s := openAt(b, Options{Database: database(b)})
				pull := int32(0)
				claimed := func() review.Claim {
					n := newReview("acme", review.NewID())
					n.PRNumber = pull
					_, err := s.CreateReview(b.Context(), n, 10)
					require.NoError(b, err)
					c, err := s.Claim(b.Context(), "worker", time.Minute)
					require.NoError(b, err)
					return *c
				}
				quickest := time.Hour
				for b.Loop() {
					b.StopTimer()
					pull++
					if len(bm.before.Findings) > 0 {
						require.NoError(b, s.Finish(b.Context(), claimed(), bm.before))
					}
					c := claimed()
					b.StartTimer()
					began := time.Now()
					require.NoError(b, s.Finish(b.Context(), c, bm.after))
					quickest = min(quickest, time.Since(began))
				}
				b.ReportMetric(float64(quickest.Microseconds())/1000, "quickest-ms")
			})
		}
	}
}

func BenchmarkGetReview(b *testing.B) {
	for _, n := range []int{0, 10, review.MaxFindings} {
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			s := openAt(b, Options{Database: newDatabase(b)})
			_, err := s.CreateReview(b.Context(), newReview("acme", "rev_a"), 10)
			require.NoError(b, err)
			c, err := s.Claim(b.Context(), "worker", time.Minute)
			require.NoError(b, err)
			require.NoError(b, s.Finish(b.Context(), *c, manyFindings(n)))
			for b.Loop() {
				r, err := s.GetReview(b.Context(), "acme", "rev_a")
				require.NoError(b, err)
				require.Len(b, r.Findings, n)
			}
		})
	}
}

// BenchmarkListFindings reads all pages of the most that a review can have, and
// those of which only the last finding is wanted.
func BenchmarkListFindings(b *testing.B) {
	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		s := openAt(b, Options{Database: database(b)})
		_, err := s.CreateReview(b.Context(), newReview("acme", "rev_a"), 10)
		require.NoError(b, err)
		c, err := s.Claim(b.Context(), "worker", time.Minute)
		require.NoError(b, err)
		o := manyFindings(review.MaxFindings)
		o.Findings[review.MaxFindings-1].Severity = rule.Critical
		require.NoError(b, s.Finish(b.Context(), *c, o))
		for what, f := range map[string]review.FindingFilter{
			"all/pages of 100": {Limit: 100}, "all/pages of 1000": {Limit: 1000},
			"the last": {Limit: 100, MinSeverity: rule.Critical},
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				f.Kind = finding.KindReported
				for b.Loop() {
					for f.After = 0; ; {
						page, err := s.ListFindings(b.Context(), "acme", "rev_a", f)
						require.NoError(b, err)
						if f.After = page.Next; f.After == 0 {
							break
						}
					}
				}
			})
		}
	}
}
