package store

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/triage"
)

// TestTooManyWait holds that a connection, such as a broken one, keeps no more deliveries
// than whoever claims others can pass over.
func TestTooManyWait(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db")})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	require.NoError(t, s.Migrate(t.Context()))
	require.NoError(t, s.write(t.Context(), "fill", of("acme"), func(t *tx) error {
		_, err := t.Exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO deliveries
				(organization, connection_id, id, event, subject, hints, received_at, outcome, reason, not_before)
			SELECT 'acme', 'con_a', i, 'pull_request', '', '[]', i, 'waiting', '', i FROM n`, inbox.MaxWaiting)

		return err
	}))

	d := inbox.Delivery{Organization: "acme", Connection: "con_a", ID: "last", Event: string(codehost.HintPullRequest)}
	kept, err := s.KeepDelivery(t.Context(), d)
	require.NoError(t, err)
	assert.True(t, kept)
	d.ID = "another"
	_, err = s.KeepDelivery(t.Context(), d)
	assert.Equal(t, errs.ResourceExhausted, errs.KindOf(err), "%v", err)
	d.Connection = "con_b"
	kept, err = s.KeepDelivery(t.Context(), d)
	require.NoError(t, err)
	assert.True(t, kept)
	d.Connection, d.Event = "con_a", string(codehost.HintInstallation)
	kept, err = s.KeepDelivery(t.Context(), d)
	require.NoError(t, err, "it may be what the others wait for")
	assert.True(t, kept)
}

// TestLatestOf holds that older reviews of a pull request, which no decision is applied
// to, leave room for those of others.
func TestLatestOf(t *testing.T) {
	t.Parallel()
	all := []decidable{{ID: "a", PRNumber: 1, FindingRows: triage.MaxRows / 2}}
	for range 10 {
		all = append(all, decidable{ID: "old", PRNumber: 1, FindingRows: triage.MaxRows / 2})
	}
	all = append(all, decidable{ID: "b", PRNumber: 2, FindingRows: triage.MaxRows / 2}, decidable{ID: "c", PRNumber: 3, FindingRows: 1})
	var ids []string
	for _, r := range latestOf(all) {
		ids = append(ids, r.ID)
	}
	assert.Equal(t, []string{"a", "b"}, ids)
}
