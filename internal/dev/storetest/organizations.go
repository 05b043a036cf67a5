package storetest

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/organization"
)

// organizationOf returns an organization with a value in every setting.
func organizationOf(name string) organization.Organization {
	return organization.Organization{
		Name: name, Repositories: []string{name + "/*", "x/y"},
		Host: organization.Host{
			Kind: organization.KindGit, URL: "https://git.example.com/{repo}.git", TokenEnv: "PRWARDEN_TOKEN",
			Username: "u", HeadRef: "refs/h/{number}", MergeRef: "refs/m/{number}",
		},
		MaxScans: 3, MaxQueued: 20, RateLimit: 700,
	}
}

func wantOrganizations(t *testing.T, s Store, want ...organization.Organization) {
	t.Helper()
	list, err := s.Organizations(t.Context())
	require.NoError(t, err)
	assert.Equal(t, append([]organization.Organization{}, want...), list)
}

func declare(t *testing.T, s Store, declared ...organization.Organization) (changed []string) {
	t.Helper()
	changed, err := s.DeclareOrganizations(t.Context(), declared)
	require.NoError(t, err)

	return changed
}

func organizationLife(t *testing.T, h Harness) {
	o := organizationOf("acme")
	require.NoError(t, h.Store.CreateOrganization(t.Context(), o))
	require.ErrorIs(t, h.Store.CreateOrganization(t.Context(), o), organization.ErrExists)
	wantOrganizations(t, h.Store, o)

	change := func(o *organization.Organization) error {
		o.Repositories, o.MaxScans = []string{"*/*"}, 0

		return nil
	}
	require.NoError(t, h.Store.UpdateOrganization(t.Context(), "acme", change))
	require.NoError(t, change(&o))
	wantOrganizations(t, h.Store, o)
	require.ErrorIs(t, h.Store.UpdateOrganization(t.Context(), "other", change), organization.ErrNotFound)

	failing := func(*organization.Organization) error { return organization.ErrExists }
	require.ErrorIs(t, h.Store.UpdateOrganization(t.Context(), "acme", failing), organization.ErrExists)
}

// Each change is made once, and leaves one event.
func organizationsRace(t *testing.T, h Harness) {
	const servers = 8
	var made atomic.Int64
	together(t, servers, func(ctx context.Context, i int) error {
		err := h.Store.CreateOrganization(ctx, organizationOf("a"))
		if errors.Is(err, organization.ErrExists) {
			return nil
		}
		made.Add(1)

		return err
	})
	assert.EqualValues(t, 1, made.Load())
	assert.Len(t, events(t, h, "a", audit.Filter{}), 1)

	for _, declared := range [][]organization.Organization{{organizationOf("a"), organizationOf("b")}, nil} {
		together(t, servers, func(ctx context.Context, _ int) error {
			_, err := h.Store.DeclareOrganizations(ctx, declared)

			return err
		})
	}
	for name, want := range map[string]int{"a": 3, "b": 2} {
		assert.Len(t, events(t, h, name, audit.Filter{}), want, name)
	}
}

func organizationsDeclared(t *testing.T, h Harness) {
	a, b, c := organizationOf("a"), organizationOf("b"), organizationOf("c")
	require.NoError(t, h.Store.CreateOrganization(t.Context(), c))
	require.NoError(t, h.Store.CreateOrganization(t.Context(), a))

	a.Declared, b.Declared = true, true
	assert.Empty(t, declare(t, h.Store, b, a), "nothing was declared before")
	wantOrganizations(t, h.Store, a, b, c)
	assert.Empty(t, declare(t, h.Store, a, b), "the same again")
	require.ErrorIs(t, h.Store.UpdateOrganization(t.Context(), "a", func(*organization.Organization) error {
		return nil
	}), organization.ErrDeclared)

	b.MaxQueued = 7 // another file
	assert.Equal(t, []string{"b"}, declare(t, h.Store, b))
	a.Declared = false
	wantOrganizations(t, h.Store, a, b, c)
	require.NoError(t, h.Store.UpdateOrganization(t.Context(), "a", func(o *organization.Organization) error {
		o.MaxQueued = 1

		return nil
	}), "what no file names any more can be changed")
}

func organizationDefault(t *testing.T, h Harness) {
	start := func(ctx context.Context, _ int) error {
		return organization.Apply(ctx, h.Store, nil, slog.New(slog.DiscardHandler))
	}
	together(t, 8, start)
	o := organization.NewDefault()
	wantOrganizations(t, h.Store, o)

	o.MaxQueued = 7
	require.NoError(t, h.Store.UpdateOrganization(t.Context(), o.Name, func(stored *organization.Organization) error {
		stored.MaxQueued = 7

		return nil
	}))
	together(t, 8, start)
	wantOrganizations(t, h.Store, o)
}
