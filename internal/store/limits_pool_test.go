package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
)

// A call that finds every connection taken waits for a while and then says
// that the database can't be used, in every way that there is to ask it.
func TestWaitForAConnectionIsBounded(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Database: newDatabase(t)})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.Equal(t, poolWait, s.pools.wait)
	for name, options := range map[string]func(testing.TB) Options{ // as servers have them
		"SQLite":   func(t testing.TB) Options { return Options{Database: newDatabase(t), Exclusive: true} },
		"Postgres": func(t testing.TB) Options { return Options{Database: pgtest.New(t), Connections: 2} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, options(t))
			s.pools.reader.SetMaxOpenConns(2)
			var held []interface{ Close() error }
			for range 2 {
				c, err := s.pools.reader.Conn(t.Context())
				require.NoError(t, err)
				held = append(held, c)
			}
			if s.pools.writer != s.pools.reader {
				c, err := s.pools.writer.Conn(t.Context())
				require.NoError(t, err)
				held = append(held, c)
			}
			calls := map[string]func(context.Context) error{
				"read":  func(ctx context.Context) error { _, err := s.ListKeys(ctx, "acme"); return err },
				"write": func(ctx context.Context) error { return s.RevokeKey(ctx, "acme", "key_x") },
				"ask":   func(ctx context.Context) error { _, err := s.GetReview(ctx, "acme", "rev_x"); return err },
			}
			require.Equal(t, patience, s.pools.wait)
			var all sync.WaitGroup
			for name, call := range calls {
				all.Go(func() {
					ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
					defer leave()
					assert.ErrorIs(t, call(ctx), context.DeadlineExceeded, "%s of one who leaves", name)
				})
			}
			all.Wait()
			s.pools.wait = 200 * time.Millisecond
			for name, call := range calls {
				all.Go(func() {
					began := time.Now()
					assert.Equal(t, errs.Unavailable, errs.KindOf(call(t.Context())), name)
					assert.GreaterOrEqual(t, time.Since(began), s.pools.wait, name)
				})
			}
			all.Wait()
			s.pools.wait = patience
			for _, c := range held {
				require.NoError(t, c.Close())
			}
			for name, call := range calls {
				assert.NotEqual(t, errs.Unavailable, errs.KindOf(call(t.Context())), "%s when there is a connection", name)
			}
		})
	}
}
