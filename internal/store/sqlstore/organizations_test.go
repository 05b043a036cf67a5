package sqlstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// eachKind runs a test with a new database of each kind.
func eachKind(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database(t))
		})
	}
}

func TestClaimsAreOfNamedOrganizations(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		open := func(organizations ...string) *Store {
			return openAt(t, Options{Database: database, Organizations: organizations})
		}
		claim := func(s *Store) string {
			c, err := s.Claim(t.Context(), "worker", time.Minute)
			require.NoError(t, err)
			if c == nil {
				return ""
			}
			return c.Organization
		}
		all, both, one := open(), open("acme", `o"dd', ]`), open("acme")
		none := open("unknown")
		for _, org := range []string{"acme", "acme", "removed", `o"dd', ]`, "removed"} {
			_, err := all.CreateReview(t.Context(), newReview(org, review.NewID()), 10)
			require.NoError(t, err)
		}
		assert.Empty(t, claim(none))
		assert.Equal(t, "acme", claim(one))
		assert.Equal(t, "acme", claim(one), "the others go first, if they are one's own")
		assert.Empty(t, claim(one))
		assert.Equal(t, `o"dd', ]`, claim(both))
		assert.Empty(t, claim(both))
		assert.Equal(t, "removed", claim(all))
		assert.Equal(t, "removed", claim(open("removed")))
	})
}
