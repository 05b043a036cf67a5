package store

import (
	"cmp"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// patience bounds waits; it is only reached when something is broken.
const patience = 3 * time.Minute

// openAt opens a database and brings it up to date; it is closed at the end of
// the test. A busy machine is no reason to give up, unless o says so.
func openAt(t testing.TB, o Options) *Store {
	t.Helper()
	o.poolWait = cmp.Or(o.poolWait, patience)
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s
}

// newDatabase names a database that is not there yet.
func newDatabase(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")
}

// onEach runs a test on an empty database of each kind.
func onEach(t *testing.T, test func(t *testing.T, o Options)) {
	t.Helper()

	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Options{Database: database(t)})
		})
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()

	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				clock := storetest.NewClock()
				o := Options{Database: database(t), Exclusive: true, Now: clock.Now}
				s := openAt(t, o)

				return storetest.Harness{Store: s, Clock: clock, Reopen: func(t *testing.T) storetest.Store {
					t.Helper()
					require.NoError(t, s.Close())

					return openAt(t, o)
				}}
			})
		})
	}
}

func newReview(org, id string) review.NewReview {
	return review.NewReview{ID: id, Organization: org, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop",
		EstimatedMS: 4_200}
}

// create creates a review.
func create(t testing.TB, s *Store, org, id string) {
	t.Helper()
	_, err := s.CreateReview(t.Context(), newReview(org, id), review.MaxQueued)
	require.NoError(t, err)
}

// claim claims the next review, which must be there.
func claim(t testing.TB, s *Store) review.Claim {
	t.Helper()
	c, err := s.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: time.Hour})
	require.NoError(t, err)
	require.NotNil(t, c)

	return *c
}

// seed is a review that a test puts into the table itself, since thousands of
// durable commits would take longer than what is tested.
type seed struct {
	ID           string
	Organization string
	Repo         string
	PRNumber     int `db:"pr_number"`
	Ruleset      string
	Status       review.Status
	CreatedAt    timestamp `db:"created_at"`
	CompletedAt  timestamp `db:"completed_at"`
	Findings     int       `db:"finding_rows"`
}

// sow puts n reviews of an organization into the table, each a microsecond
// younger than the one before, with so many findings where they ended.
func sow(tb testing.TB, s *Store, org string, status review.Status, n, findings int) {
	tb.Helper()
	require.NoError(tb, s.write(tb.Context(), "fill", of(org), func(t *tx) error {
		queued := 0
		begin := t.now
		if status == review.Queued {
			queued = n
		} else {
			begin = begin.Add(-365 * 24 * time.Hour)
		}
		if _, err := t.exec(tb.Context(), `INSERT INTO organizations (name, queued) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET queued = organizations.queued + excluded.queued`, org, queued); err != nil {
			return err
		}

		var seeds []seed
		for i := range n {
			r := seed{
				ID: fmt.Sprintf("rev_%s_%05d", org, i), Organization: org, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop",
				Status: status, CreatedAt: at(begin.Add(time.Duration(i) * time.Microsecond)), Findings: findings,
			}
			if status.Final() {
				r.CompletedAt = r.CreatedAt
			}
			seeds = append(seeds, r)
		}

		for _, r := range seeds {
			if err := t.insertRow(tb.Context(), "reviews", `id, organization, repo, pr_number, ruleset, status, `+
				`created_at, completed_at, finding_rows`, r); err != nil {
				return err
			}
			if err := t.insertFindings(tb.Context(), r.ID, finding.KindReported, 0, manyFindings(findings).Findings); err != nil {
				return err
			}
		}

		return nil
	}))
}

func manyFindings(n int) finding.Result {
	o := finding.Result{Summary: finding.Summary{rule.High: n}, FilesTotal: 100}
	for i := range n {
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "security/no-eval", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: fmt.Sprintf("src/app/component/file%03d.js", i/100),
			Line: i%100 + 1, EndLine: i%100 + 1, Column: 9,
			Message: "Don't evaluate text as code; parse it, for example with JSON.parse.",
			Snippet: "  const value = eval(request.query.expression)", Fingerprint: fmt.Sprintf("%032x", i),
			EndColumn: 13, UTF16Column: 9, UTF16EndColumn: 13, LineHash: fmt.Sprintf("%016x:1", i), State: finding.StateNew,
		})
	}

	return o
}

// named is the organization default under another name.
func named(name string) organization.Organization {
	o := organization.NewDefault()
	o.Name = name

	return o
}

func assertCounts(t *testing.T, s *Store) {
	t.Helper()
	type counts struct {
		Name    string
		Queued  int
		Running int
		Rules   int
	}
	var counted, actual []counts
	require.NoError(t, s.read(t.Context(), "count", allOrganizations, func(tx *tx) error {
		require.NoError(t, tx.list(t.Context(), &counted,
			`SELECT name, queued, running, rules FROM organizations ORDER BY name`))
		return tx.list(t.Context(), &actual, `SELECT name,
			(SELECT COUNT(*) FROM reviews WHERE organization = name AND status = 'queued') AS queued,
			(SELECT COUNT(*) FROM reviews WHERE organization = name AND status = 'in_progress') AS running,
			(SELECT COUNT(*) FROM rules WHERE organization = name) AS rules
			FROM organizations ORDER BY name`)
	}))

	require.NotEmpty(t, counted)
	require.Equal(t, actual, counted)
}

// TestPingWrites holds that a database that can be read and not written is not
// ready.
func TestPingWrites(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		require.NoError(t, s.Ping(t.Context()))
		s.pools.writer.SetMaxOpenConns(1)
		readOnly := "PRAGMA query_only(1)"
		if s.dialect.postgres {
			readOnly = "SET default_transaction_read_only = on"
		}
		_, err := s.pools.writer.ExecContext(t.Context(), readOnly)
		require.NoError(t, err)

		require.NoError(t, s.CheckSchema(t.Context()))
		err = s.Ping(t.Context())
		assert.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)
	})
}
