package connection

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/seal"
)

// oneStored is a store of one connection.
type oneStored struct {
	Store
	c Stored
}

func (s *oneStored) ReadConnection(context.Context, string, string) (Stored, error) { return s.c, nil }

func (s *oneStored) ChangeConnection(
	_ context.Context, _, _ string, change func(*Stored) (audit.Change, error),
) (Stored, error) {
	_, err := change(&s.c)
	s.c.UpdatedAt = s.c.UpdatedAt.Add(time.Second)

	return s.c, err
}

func (s *oneStored) DeleteConnection(_ context.Context, _, _ string, check func(Connection) error) error {
	return check(s.c.Connection)
}

// Hosts of old secrets are not kept in memory.
func TestOpenHosts(t *testing.T) {
	t.Parallel()
	one := &oneStored{c: Stored{Connection: Connection{
		ID: "con_a", Organization: "acme", Name: "a", Kind: codehost.Gitea, URL: "https://git.example.com",
		Repositories: []string{"acme/*"},
	}}}
	s := NewService(Config{
		Store: one, Sealer: seal.Beside(t.TempDir()+"/x.db", nil),
		Hosts: Factory{codehost.Gitea: func(Options) (codehost.Host, error) { return nil, nil }},
	})
	var err error
	one.c.Sealed, err = s.seal(one.c.Connection, Secrets{Token: "old", Webhook: []string{"0123456789abcdef0123456789abcdef"}})
	require.NoError(t, err)
	open := func(at time.Time) {
		one.c.UpdatedAt = at
		_, _, err := s.Open(t.Context(), "con_a")
		require.NoError(t, err)
		assert.Equal(t, 1, s.open.Len())
	}

	open(time.Unix(1, 0))
	open(time.Unix(2, 0)) // another server changed it
	_, err = s.Rotate(t.Context(), Caller{}, "con_a", Rotation{Token: "new"})
	require.NoError(t, err)
	assert.Zero(t, s.open.Len())
	open(time.Unix(3, 0))
	require.NoError(t, s.Delete(t.Context(), Caller{}, "con_a"))
	assert.Zero(t, s.open.Len())
}
