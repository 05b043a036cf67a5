package api_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/api"
)

// heldRules tries patterns until it is released.
type heldRules struct {
	api.RuleService
	running chan struct{}
	release chan struct{}
}

func (h heldRules) TestRule(context.Context, rule.Rule, string) ([]match.Hit, bool, error) {
	h.running <- struct{}{}
	<-h.release
	return nil, false, nil
}

func TestPatternsTriedAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := runtime.GOMAXPROCS(0)
		service := heldRules{running: make(chan struct{}, places+1), release: make(chan struct{})}
		h := api.NewRules(service, nil, nil, true)
		var held sync.WaitGroup
		for range places {
			held.Go(func() {
				_, err := h.TestRule(t.Context(), &prwardenv1.TestRuleRequest{})
				assert.NoError(t, err)
			})
		}

		synctest.Wait()
		require.Len(t, service.running, places)

		begun := time.Now()
		_, err := h.CreateRule(t.Context(), &prwardenv1.CreateRuleRequest{Rule: &prwardenv1.Rule{}})
		assert.Equal(t, errs.Unavailable, errs.KindOf(err))
		assert.Equal(t, time.Second, time.Since(begun))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = h.TestRule(gone, &prwardenv1.TestRuleRequest{})
		require.ErrorIs(t, err, context.Canceled)

		close(service.release)
		held.Wait()
		_, err = h.TestRule(t.Context(), &prwardenv1.TestRuleRequest{})
		assert.NoError(t, err, "there is room again")
	})
}

// One organization that tries patterns leaves room for another.
func TestPatternsOfOneOrganizationLeaveRoom(t *testing.T) {
	t.Parallel()
	share := max(1, runtime.GOMAXPROCS(0)/2)
	if share == runtime.GOMAXPROCS(0) {
		share = 0 // one processor is one organization's at a time
	}

	synctest.Test(t, func(t *testing.T) {
		service := heldRules{running: make(chan struct{}, 100), release: make(chan struct{})}
		h := api.NewRules(service, nil, nil, true)
		try := func(organization string) error {
			ctx := auth.NewContext(t.Context(), auth.Caller{Organization: organization})
			_, err := h.TestRule(ctx, &prwardenv1.TestRuleRequest{})
			return err
		}

		var held sync.WaitGroup
		for range share {
			held.Go(func() { assert.NoError(t, try("acme")) })
		}

		synctest.Wait()
		if share > 0 {
			assert.Equal(t, errs.Unavailable, errs.KindOf(try("acme")), "it has its share")
		}

		held.Go(func() { assert.NoError(t, try("globex")) })
		synctest.Wait()
		assert.Len(t, service.running, share+1)
		close(service.release)
		held.Wait()
	})
}
