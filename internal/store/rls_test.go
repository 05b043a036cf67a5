package store

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// ofOrganizations are the tables with rows of organizations, and the column
// that says whose they are.
func ofOrganizations() map[string]string {
	return map[string]string{
		"organizations": "name", "reviews": "organization", "findings": "organization", "skips": "organization",
		"scan_durations": "organization", "idempotency_keys": "organization", "rules": "organization",
		"rule_history": "organization", "rules_files": "organization", "policies": "organization",
		"api_keys": "organization", "audit_events": "organization",
		"finding_days": "organization",
	}
}

// populate gives an organization at least one row in each table.
func populate(t *testing.T, s *Store, org string) (reviewID string) {
	t.Helper()
	ctx := t.Context()
	n := newReview(org, "rev_"+org)
	n.Idempotency = &review.Idempotency{Key: "key", RequestHash: "hash", TTL: time.Hour}
	_, err := s.CreateReview(ctx, n, 10)
	require.NoError(t, err)
	c := claim(t, s)
	require.Equal(t, n.ID, c.ReviewID)
	o := manyFindings(3)
	o.Suppressed = []finding.Finding{{RuleID: "custom/r", Severity: rule.Low, File: "a", Line: 1, Fingerprint: "s",
		Suppression: &finding.Suppression{Line: 1}}}
	o.Skips = []finding.Skip{{File: "a.png", Reason: "binary"}}
	own := rule.Rule{ID: "r", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg}
	o.RulesFile, o.RulesFileValid = []rule.Rule{own}, true
	require.NoError(t, s.Finish(ctx, c, o))
	_, err = s.CreateRule(ctx, org, own, 10)
	require.NoError(t, err)
	_, err = s.SetPolicy(ctx, org, policy.Policy{FailOn: "low"}, "")
	require.NoError(t, err)
	k := auth.Key{ID: "key_" + org, Organization: org, Name: "ci", Hash: "hash of " + org}
	_, err = s.CreateKey(ctx, k, auth.Quota)
	require.NoError(t, err)
	return n.ID
}

// TestNothingOfOthersWithoutTheFilter asks for everything there is, as a query
// would that has lost its organization.
func TestNothingOfOthersWithoutTheFilter(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	populate(t, s, "acme")
	populate(t, s, "other")
	s.notifier.close() // or a look below may get a connection that never said for whom
	s.notifier = nil

	seen := func(who scope, table, column string) (owners []string) {
		require.NoError(t, s.read(ctx, "look", who, func(t *tx) error {
			return t.list(ctx, &owners, fmt.Sprintf(`SELECT DISTINCT %s FROM %s ORDER BY 1`, column, table))
		}))
		return owners
	}

	for table, column := range ofOrganizations() {
		own, all := []string{"acme"}, []string{"acme", "other"}
		if table == "scan_durations" { // with the average over all, which is everybody's
			own, all = append([]string{""}, own...), append([]string{""}, all...)
		}
		assert.Equal(t, own, seen(of("acme"), table, column), table)
		assert.Equal(t, all, seen(allOrganizations, table, column), table)
		assert.Empty(t, seen(of("stranger"), table, column)[len(own)-1:], table)

		for _, nobody := range []string{"", "*"} { // neither is an organization's name
			assert.Empty(t, seen(of(nobody), table, column), "%s as %q", table, nobody)
		}

		// A connection that did say for whom, in a transaction that has ended.
		var n int
		require.NoError(t, s.pools.reader.GetContext(ctx, &n, "SELECT COUNT(*) FROM "+table))
		assert.Zero(t, n, table)
	}

	// A connection that never did, such as pg_dump's: an empty dump would look
	// like a good one.
	fresh, err := sql.Open("postgres", s.database)
	require.NoError(t, err)
	defer fresh.Close()

	for table := range ofOrganizations() {
		var n int
		err := fresh.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n)
		assert.ErrorContains(t, err, "prwarden.organization", table)
	}
}

// TestNothingOfOthersIsWritten changes and deletes everything there is.
func TestNothingOfOthersIsWritten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	populate(t, s, "acme")
	theirs := populate(t, s, "other")
	before, err := s.GetReview(ctx, "other", theirs)
	require.NoError(t, err)

	as := func(who scope, query string, args ...any) (n int64, err error) {
		err = s.write(ctx, "write", who, func(t *tx) (err error) {
			n, err = t.exec(ctx, query, args...)
			return err
		})

		return n, err
	}

	n, err := as(of("acme"), `UPDATE reviews SET repo = 'acme/stolen'`)
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)

	for _, table := range []string{"findings", "skips", "rules", "rules_files", "idempotency_keys", "api_keys"} {
		for _, nobody := range []scope{of(""), of("*"), of("stranger")} {
			n, err := as(nobody, "DELETE FROM "+table)
			require.NoError(t, err, table)
			assert.Zero(t, n, "%s as %q", table, nobody)
		}
		_, err := as(of("acme"), "DELETE FROM "+table)
		require.NoError(t, err, table)
		var left int
		require.NoError(t, s.read(ctx, "count", of("other"),
			func(t *tx) error { return t.get(ctx, &left, "SELECT COUNT(*) FROM "+table) }))
		assert.Positive(t, left, table)
	}

	const insertSkip = `INSERT INTO skips VALUES (?, 99, '', 1, '', 'binary')`
	const insertReview = `INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at)
		VALUES (?, ?, 'o/r', 1, 'o/r', 'queued', 0)`
	const insertFinding = `INSERT INTO findings (review_id, kind, position, rule_id, severity, file, line, end_line,
			col, end_col, utf16_col, utf16_end_col, message, snippet, fingerprint, line_hash, state,
			suppress_reason, suppress_until, suppress_line)
		VALUES (?, 'fixed', 99, 'custom/r', 'low', '', 1, 1, 1, 1, 1, 1, '', '', '', '', 'fixed', '', '', 0)`
	require.NoError(t, addKey(ctx, s, "acme"))
	for name, write := range map[string]struct {
		who   scope
		query string
		args  []any
	}{
		"a review of another":             {of("acme"), insertReview, []any{"rev_x", "other"}},
		"a review of nobody":              {of("acme"), insertReview, []any{"rev_x", ""}},
		"a review, by nobody":             {of(""), insertReview, []any{"rev_x", "acme"}},
		"one's own given away":            {of("acme"), `UPDATE reviews SET organization = 'other'`, nil},
		"a finding in another's review":   {of("acme"), insertFinding, []any{theirs}},
		"a finding given away":            {of("other"), `UPDATE findings SET organization = 'acme'`, nil},
		"a skip in another's review":      {of("acme"), insertSkip, []any{theirs}},
		"a key of another":                {of("acme"), `UPDATE api_keys SET organization = 'other'`, nil},
		"an average of another":           {of("acme"), `INSERT INTO scan_durations VALUES ('other', 'x', 1, 1)`, nil},
		"an average over all, by nobody":  {of(""), `INSERT INTO scan_durations VALUES ('', 'x', 1, 1)`, nil},
		"an organization of another name": {of("acme"), `INSERT INTO organizations (name) VALUES ('third')`, nil},
	} {
		n, err := as(write.who, write.query, write.args...)
		var refusal *pq.Error
		if assert.ErrorAs(t, err, &refusal, "%s: %d rows", name, n) {
			assert.Equal(t, pqerror.InsufficientPrivilege, refusal.Code, "%s: %v", name, err)
		}
	}

	// No organization has the name that stands for all.
	for _, star := range []func() error{
		func() error { return addKey(ctx, s, "*") },
		func() error { _, err := s.CreateReview(ctx, newReview("*", "rev_star"), 10); return err },
	} {
		require.Error(t, star())
	}

	_, err = as(allOrganizations, insertFinding, theirs)
	require.Error(t, err, "for all there are no findings to write")

	after, err := s.GetReview(ctx, "other", theirs)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func addKey(ctx context.Context, s *Store, org string) error {
	k := auth.Key{ID: "key_2" + org, Organization: org, Name: "ci", Hash: "2nd hash of " + org}
	_, err := s.CreateKey(ctx, k, auth.Quota)
	return err
}

// TestEveryTableIsGuarded fails for a table that a migration adds without row
// security, or that these tests don't know.
func TestEveryTableIsGuarded(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	var tables []struct {
		Name    string
		Guarded bool
	}

	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &tables,
		`SELECT relname AS name, relrowsecurity AND relforcerowsecurity AND
			EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) AS guarded
		FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`))
	// What belongs to no organization: names in rate_limits are keys and client
	// addresses of all.
	free := map[string]bool{"goose_db_version": true, "rate_limits": true, "write_check": true}
	known := ofOrganizations()
	for _, table := range tables {
		if !free[table.Name] {
			assert.True(t, table.Guarded, table.Name)
			assert.Contains(t, known, table.Name, "is missing in these tests")
			delete(known, table.Name)
		}
	}

	assert.Empty(t, known)
}

func TestRoleThatSeesAllIsRefused(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, nil)
	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	_, err := Open(t.Context(), Options{Database: c.SuperuserDSN("app")})
	require.ErrorContains(t, err, "the role postgres is a superuser")
	require.ErrorContains(t, err, "CREATE ROLE")

	openAt(t, Options{Database: c.DSN("app")})
	require.NoError(t, c.Exec(t.Context(), "app", "ALTER ROLE app BYPASSRLS"))
	_, err = Open(t.Context(), Options{Database: c.DSN("app")})
	require.ErrorContains(t, err, "has BYPASSRLS")
}
