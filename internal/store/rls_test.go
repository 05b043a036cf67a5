package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
	"github.com/prwarden/prwarden/internal/webhook"
)

// ofOrganizations are the tables with rows of organizations, and the column
// that says whose they are.
func ofOrganizations() map[string]string {
	return map[string]string{
		"organizations": "name", "reviews": "organization", "findings": "organization", "skips": "organization",
		"scan_durations": "organization", "idempotency_keys": "organization", "rules": "organization",
		"rule_history": "organization", "rules_files": "organization", "policies": "organization",
		"api_keys": "organization", "audit_events": "organization",
		"triage": "organization", "triage_changes": "organization", "commands": "organization",
		"finding_days": "organization", "open_days": "organization", "finding_lives": "organization", "pull_requests": "organization", "threads": "organization",
		"published": "organization", "connection_calls": "organization",
		"connections": "organization", "connection_setups": "organization", "deliveries": "organization", "sweeps": "organization",
		"webhooks": "organization", "webhook_messages": "organization", "webhook_deliveries": "organization",
		"memberships": "organization", "invitations": "organization",
	}
}

// ofPeople are the tables of people, who belong to no organization, and the column
// that names them.
func ofPeople() map[string]string {
	return map[string]string{"users": "id", "identities": "user_id", "sessions": "user_id", "account_links": "user_id"}
}

// populateMembers gives an organization an owner with a row in each table of people,
// and an invitation.
func populateMembers(t *testing.T, s *Store, org string) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, s.CreateOrganization(ctx, named(org)))
	u := account.User{ID: "usr_" + org, Email: org + "@example.com"}
	_, _, err := s.AddUser(ctx, u, account.Membership{Organization: org, Role: auth.Owner})
	require.NoError(t, err)
	later := s.Now().Add(time.Hour)
	require.NoError(t, s.CreateLink(ctx, account.Link{Hash: org, Kind: account.ResetLink, UserID: u.ID, ExpiresAt: later}))
	require.NoError(t, s.CreateSession(ctx, account.Session{
		ID: "ses_" + org, Hash: org, UserID: u.ID, Method: account.ByPassword, FreshUntil: later, ExpiresAt: later,
	}, 10))
	by := auth.Caller{UserID: u.ID}
	_, err = s.Invite(ctx, account.Invitation{
		ID: "inv_" + org, Organization: org, Email: "b@example.com", Role: auth.Viewer, Hash: org, ExpiresAt: later,
	}, by)
	require.NoError(t, err)
	require.NoError(t, s.write(ctx, "link", allOrganizations, func(t *tx) error {
		_, err := t.exec(ctx, `INSERT INTO identities (issuer, subject, user_id, linked_at) VALUES ('i', ?, ?, 1)`, org, u.ID)

		return err
	}))
}

// populateWebhooks gives an organization a webhook with a message and an attempt.
func populateWebhooks(t *testing.T, s *Store, org string) {
	t.Helper()
	ctx := t.Context()
	_, err := s.CreateWebhook(ctx, webhook.Stored{
		Webhook: webhook.Webhook{ID: "whk_" + org, Organization: org, Format: webhook.Standard, State: webhook.Active},
		Sealed:  []byte("sealed"),
	}, 1)
	require.NoError(t, err)
	require.NoError(t, s.QueueTest(ctx, org, "whk_"+org, "msg_1"))
	c, err := s.ClaimMessage(ctx, webhook.Except{}, time.Minute, time.Second)
	require.NoError(t, err)
	require.Equal(t, org, c.To.Organization)
	end := webhook.End{Attempt: webhook.Attempt{At: time.Now()}, State: webhook.Delivered}
	require.NoError(t, s.EndAttempt(ctx, *c, end))
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
	o.Suppressed = []finding.Finding{{RuleID: "custom/r", Severity: rule.Low, Confidence: rule.ConfidenceLow, File: "a", Line: 1, Fingerprint: "s",
		Suppression: &finding.Suppression{Line: 1}}}
	o.Skips = []finding.Skip{{File: "a.png", Reason: "binary"}}
	own := rule.Rule{ID: "r", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg}
	o.RulesFile, o.RulesFileValid = []rule.Rule{own}, true
	require.NoError(t, s.Finish(ctx, c, o))
	_, err = s.CreateRule(ctx, org, own, 10)
	require.NoError(t, err)
	_, err = s.KeepDelivery(ctx, inbox.Delivery{Organization: org, Connection: "con_1", ID: "d"})
	require.NoError(t, err)
	populateWebhooks(t, s, org)
	populateMembers(t, s, org)
	_, err = s.SetPolicy(ctx, org, policy.Policy{FailOn: "low"}, "")
	require.NoError(t, err)
	require.NoError(t, s.UpsertPullRequest(ctx, publish.PullRequest{
		Organization: org, Connection: "con_" + org,
		PullRequest: codehost.PullRequest{Repository: codehost.Repository{Name: "o/r"}, Number: 1, State: codehost.Open},
	}))
	require.NoError(t, s.write(ctx, "want", of(org), func(t *tx) error { return t.wantPublication(ctx, org, "o/r", 1) }))
	held, err := s.ClaimPublication(ctx, "me", time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Record(ctx, *held, publish.Known{
		Threads:   []publish.Thread{{Fingerprint: "f", State: publish.ThreadOpen}},
		Published: []publish.Published{{Sink: publish.SummarySink}},
	}))
	require.NoError(t, s.EndPublication(ctx, *held, publish.End{Done: true}))
	_, err = s.KeepCommand(ctx, org, "con_"+org, "comment:1")
	require.NoError(t, err)
	_, err = s.SetTriage(ctx, org, triage.Change{
		ID: "trg_" + org, Repo: "o/r", Fingerprints: []string{"0f"}, Decision: finding.Accepted,
	}, map[string]finding.Finding{"0f": {RuleID: "custom/r", Severity: rule.Low}})
	require.NoError(t, err)
	_, err = s.CreateConnection(ctx, connection.Stored{
		Sealed: []byte("sealed"), Connection: connection.Connection{ID: "con_" + org, Organization: org, State: "active"},
	}, 1)
	require.NoError(t, err)
	_, err = s.CreateSetup(ctx, connection.Setup{
		Connection: connection.Connection{ID: "con_2", Organization: org, Name: "setup"}, StateHash: "hash of " + org,
	}, time.Hour, 10)
	require.NoError(t, err)
	_, err = s.ClaimSweep(ctx, time.Hour)
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

	for table, column := range ofPeople() {
		assert.Equal(t, []string{"usr_acme"}, seen(of("acme"), table, column), table)
		assert.Equal(t, []string{"usr_acme", "usr_other"}, seen(allOrganizations, table, column), table)
		for _, nobody := range []string{"", "*", "stranger"} {
			assert.Empty(t, seen(of(nobody), table, column), "%s as %q", table, nobody)
		}
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

	for _, table := range []string{"findings", "skips", "rules", "rules_files", "idempotency_keys", "api_keys", "connections"} {
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
			suppress_reason, suppress_until, suppress_line, confidence)
		VALUES (?, 'fixed', 99, 'custom/r', 'low', '', 1, 1, 1, 1, 1, 1, '', '', '', '', 'fixed', '', '', 0, 'low')`
	require.NoError(t, addKey(ctx, s, "acme"))
	for name, write := range map[string]struct {
		who   scope
		query string
		args  []any
	}{
		"a review of another":            {of("acme"), insertReview, []any{"rev_x", "other"}},
		"a review of nobody":             {of("acme"), insertReview, []any{"rev_x", ""}},
		"a review, by nobody":            {of(""), insertReview, []any{"rev_x", "acme"}},
		"one's own given away":           {of("acme"), `UPDATE reviews SET organization = 'other'`, nil},
		"a finding in another's review":  {of("acme"), insertFinding, []any{theirs}},
		"a finding given away":           {of("other"), `UPDATE findings SET organization = 'acme'`, nil},
		"a skip in another's review":     {of("acme"), insertSkip, []any{theirs}},
		"a key of another":               {of("acme"), `UPDATE api_keys SET organization = 'other'`, nil},
		"a connection given away":        {of("other"), `UPDATE connections SET organization = 'acme'`, nil},
		"an average of another":          {of("acme"), `INSERT INTO scan_durations VALUES ('other', 'x', 1, 1)`, nil},
		"an average over all, by nobody": {of(""), `INSERT INTO scan_durations VALUES ('', 'x', 1, 1)`, nil},
		"a member of another":            {of("acme"), `UPDATE memberships SET organization = 'other'`, nil},
		"somebody who is no member": {of("acme"), `INSERT INTO users (id, email, name, password, created_at)
			VALUES ('usr_x', 'x', 'x', '', 1)`, nil},
		"a session of another's member": {of("acme"), `INSERT INTO sessions VALUES ('x', 'x', 'usr_other', 'password',
			'', '', 1, 1, 1, 1)`, nil},
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
	maps.Copy(known, ofPeople())
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
