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

// storedRules has rules that were stored, and matches nothing.
type storedRules struct {
	api.RuleService
	rules []rule.Rule
}

func (s storedRules) ListRules(context.Context, string, string) ([]rule.Rule, error) {
	return s.rules, nil
}

func (s storedRules) GetRule(_ context.Context, _, id string) (rule.Rule, error) {
	for _, r := range s.rules {
		if r.ID == id {
			return r, nil
		}
	}

	return rule.Rule{}, errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no such rule.")
}

func (s storedRules) CreateRule(_ context.Context, _ string, r rule.Rule) (rule.Rule, error) {
	return r, nil
}

func (s storedRules) TestRule(context.Context, rule.TestInput) ([]match.Hit, bool, error) {
	return nil, false, nil
}

func TestWhatARuleCosts(t *testing.T) {
	t.Parallel()
	strong := rule.Rule{ID: "strong", Pattern: `frobnicate\(`}
	dear := rule.Rule{ID: "dear", Pattern: `\d+\s`}
	weak := rule.Rule{ID: "weak", Pattern: `[a-z]+$`, Multiline: true}
	other := rule.Rule{ID: "other", Pattern: `a(?<=b)`}
	h := api.NewRules(storedRules{rules: []rule.Rule{strong, dear, weak, other}})
	for _, r := range []rule.Rule{strong, dear, weak} {
		want, err := r.Cost()
		require.NoError(t, err)
		got, err := h.GetRule(t.Context(), &prwardenv1.GetRuleRequest{Id: r.ID})
		require.NoError(t, err)
		made, err := h.CreateRule(t.Context(),
			&prwardenv1.CreateRuleRequest{Rule: &prwardenv1.Rule{Id: r.ID, Pattern: r.Pattern, Multiline: r.Multiline}})
		require.NoError(t, err)
		tried, err := h.TestRule(t.Context(), &prwardenv1.TestRuleRequest{Pattern: r.Pattern, Multiline: r.Multiline})
		require.NoError(t, err)
		for _, c := range []*prwardenv1.MatchingCost{got.GetRule().GetMatchingCost(), made.GetRule().GetMatchingCost(),
			tried.GetMatchingCost()} {
			require.NotNil(t, c, r.ID)
			micros := time.Duration(c.GetMicrosecondsPerMib()) * time.Microsecond
			assert.GreaterOrEqual(t, micros, want.PerMiB, r.ID)
			assert.Less(t, micros, want.PerMiB+time.Microsecond, "rounded up")
			assert.Equal(t, want.Weak, c.GetWeak(), r.ID)
			assert.Equal(t, want.Advice, c.GetAdvice(), r.ID)
			assert.Equal(t, r.ID == strong.ID, c.Advice == nil, r.ID)
		}
	}

	got, err := h.GetRule(t.Context(), &prwardenv1.GetRuleRequest{Id: "other"})
	require.NoError(t, err, "it can be read")
	assert.Nil(t, got.GetRule().GetMatchingCost())
	listed, err := h.ListRules(t.Context(), &prwardenv1.ListRulesRequest{Name: "custom"})
	require.NoError(t, err)
	require.Len(t, listed.GetRules(), 4)
	for _, r := range listed.GetRules() {
		assert.Nil(t, r.GetMatchingCost(), "too many to estimate")
	}
}

// heldRules tries patterns until it is released.
type heldRules struct {
	api.RuleService
	running chan struct{}
	release chan struct{}
}

func (h heldRules) TestRule(context.Context, rule.TestInput) ([]match.Hit, bool, error) {
	h.running <- struct{}{}
	<-h.release
	return nil, false, nil
}

func TestPatternsTriedAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := runtime.GOMAXPROCS(0)
		service := heldRules{running: make(chan struct{}, places+1), release: make(chan struct{})}
		h := api.NewRules(service)
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
		assert.Equal(t, 10*time.Second, time.Since(begun))
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
		h := api.NewRules(service)
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
