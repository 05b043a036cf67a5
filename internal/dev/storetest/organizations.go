package storetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/organization"
)

func organizationTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"a created one is read and changed":              organizationLife,
		"a file declares, and the last file applies":     organizationsDeclared,
		"the default one is made where there is none":    organizationDefault,
		"an organization survives a restart as it was":   organizationReopened,
		"what counts reviews alone is no organization":   organizationCounted,
		"a file that no longer names one leaves its cap": organizationCap,
	}
}

// organizationOf returns an organization with a value in every setting.
func organizationOf(name string) organization.Organization {
	return organization.Organization{
		Name: name, Repositories: []string{name + "/*", "x/y"},
		Host: organization.Host{
			Kind: organization.KindGit, URL: "https://git.example.com/{repo}.git", TokenEnv: "PRWARDEN_TOKEN",
			Username: "u", HeadRef: "refs/h/{number}", MergeRef: "refs/m/{number}",
		},
		MaxScans: 3, MaxQueued: 20, RequireSuppressionReason: true,
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

	failure := organization.ErrExists
	err := h.Store.UpdateOrganization(t.Context(), "acme", func(*organization.Organization) error { return failure })
	require.ErrorIs(t, err, failure)
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
	o := organization.NewDefault()
	for range 2 {
		require.NoError(t, h.Store.CreateDefaultOrganization(t.Context(), o))
		wantOrganizations(t, h.Store, o)
	}

	b := organizationOf("b")
	require.NoError(t, h.Store.CreateOrganization(t.Context(), b))
	other := o
	other.Name = "never"
	require.NoError(t, h.Store.CreateDefaultOrganization(t.Context(), other))
	wantOrganizations(t, h.Store, b, o)
}

func organizationReopened(t *testing.T, h Harness) {
	o := organizationOf("acme")
	o.Declared = true
	declare(t, h.Store, o)
	wantOrganizations(t, h.Reopen(t), o)
}

func organizationCounted(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	wantOrganizations(t, h.Store)
	require.NoError(t, h.Store.CreateDefaultOrganization(t.Context(), organization.NewDefault()))
	wantOrganizations(t, h.Store, organization.NewDefault())
}

func organizationCap(t *testing.T, h Harness) {
	o := organizationOf(acme)
	o.MaxScans = 1
	declare(t, h.Store, o)
	declare(t, h.Store)
	createMany(t, h, acme, 2)
	claim(t, h)
	noClaim(t, h)
}
