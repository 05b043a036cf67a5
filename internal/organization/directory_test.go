package organization_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/organization"
)

// rows is an organization.Store that counts how often it is read.
type rows struct {
	organization.Store
	list  []organization.Organization
	err   error
	reads int

	created   []organization.Organization
	errCreate error
}

func (r *rows) CreateOrganization(_ context.Context, o organization.Organization) error {
	r.created = append(r.created, o)

	return r.errCreate
}

func (r *rows) Organizations(context.Context) ([]organization.Organization, error) {
	r.reads++
	<-time.After(10 * time.Millisecond)

	return r.list, r.err
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		acme := organization.Organization{Name: "acme", Repositories: []string{"acme/*"}, MaxQueued: 7}
		store := &rows{list: []organization.Organization{acme}}
		var log strings.Builder
		d, err := organization.NewDirectory(t.Context(), store, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)

		assert.True(t, d.Allowed("acme", "acme/web"))
		assert.Equal(t, 7, d.MaxQueued("acme"))
		assert.Equal(t, organization.MaxQueued, d.MaxQueued("nobody"))
		for range 10 {
			assert.False(t, d.Allowed("acme", "other/web"))
		}
		assert.Equal(t, 1, store.reads, "refusals within half a second read nothing")

		store.list = append(store.list, organization.Organization{Name: "made", Repositories: []string{"*/*"}})
		assert.True(t, d.Allowed("made", "other/web"), "a new organization is known at once")

		store.list[0].Repositories = []string{"*/*"}
		assert.False(t, d.Allowed("acme", "other/web"))
		<-time.After(500 * time.Millisecond)
		assert.True(t, d.Allowed("acme", "other/web"), "what was allowed a moment ago")

		store.list[0].Repositories = []string{"acme/*"}
		<-time.After(3 * time.Second)
		assert.False(t, d.Allowed("acme", "other/web"), "what was taken away is known after two seconds")

		store.err = errors.New("away")
		<-time.After(time.Minute)
		before := store.reads
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				assert.True(t, d.Allowed("acme", "acme/web"), "while the database is away, the last reading holds")
			})
		}

		callers.Wait()
		assert.Equal(t, 1, store.reads-before, "callers at the same time share a reading")
		assert.Equal(t, 1, strings.Count(log.String(), "away"), "which is logged once")
	})
}

// Without a declaration there is an organization all the same, but only one that
// nobody else has made.
func TestApplyNothing(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	made := []organization.Organization{organization.NewDefault()}
	for name, tc := range map[string]struct {
		store   rows
		created []organization.Organization
		err     error
	}{
		"none":                 {rows{}, made, nil},
		"another one":          {rows{list: []organization.Organization{{Name: "acme"}}}, nil, nil},
		"one made meanwhile":   {rows{errCreate: organization.ErrExists}, made, nil},
		"it can't be made":     {rows{errCreate: away}, made, away},
		"nobody knows of them": {rows{err: away}, nil, away},
	} {
		err := organization.Apply(t.Context(), &tc.store, nil, slog.New(slog.DiscardHandler))
		require.ErrorIs(t, err, tc.err, name)
		assert.Equal(t, tc.created, tc.store.created, name)
	}
}
