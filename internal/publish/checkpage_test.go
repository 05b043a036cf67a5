package publish_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
)

// oneConnection and onePolicy answer the same whoever asks.
type (
	oneConnection struct {
		connection.Connection
		err error
	}
	onePolicy struct{ is policy.Policy }
)

func (c oneConnection) ReadConnection(context.Context, string, string) (connection.Stored, error) {
	return connection.Stored{Connection: c.Connection}, c.err
}

func (p onePolicy) Policy(context.Context, string) (policy.Policy, error) { return p.is, nil }

func TestCheckPages(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	for _, number := range []int32{7, 9} {
		p := s.push(number, sha(1))
		p.URL = fmt.Sprintf("https://github.com/acme/shop/pull/%d", number)
		p.UpdatedAt = s.now()
		s.keep(p)
	}
	s.create(9, sha(1))
	for range 2 {
		claimed, err := s.store.ClaimPublication(t.Context(), "w", time.Minute)
		require.NoError(t, err)
		end := publish.End{Done: true}
		if claimed.Number == 9 {
			end.Problem = "No permission."
		}
		require.NoError(t, s.store.EndPublication(t.Context(), *claimed, end))
	}
	away := errors.New("away")
	off := policy.Default()
	off.Publish.Check = false

	type input struct {
		review     review.Review
		connection oneConnection
		policy     policy.Policy
	}
	for name, c := range map[string]struct {
		change func(*input)
		want   string
		err    error
	}{
		"an App":            {func(*input) {}, "https://github.com/acme/shop/pull/7/checks", nil},
		"it goes on":        {func(in *input) { in.review.Status = review.InProgress }, "", nil},
		"other rules":       {func(in *input) { in.review.Ruleset = "default" }, "", nil},
		"another commit":    {func(in *input) { in.review.HeadSHA = sha(2) }, "", nil},
		"not known":         {func(in *input) { in.review.PRNumber = 8 }, "", nil},
		"a problem":         {func(in *input) { in.review.PRNumber = 9 }, "", nil},
		"a token":           {func(in *input) { in.connection.AppID = 0 }, "", nil},
		"another host":      {func(in *input) { in.connection.Kind = codehost.Gitea }, "", nil},
		"suspended":         {func(in *input) { in.connection.State = connection.Suspended }, "", nil},
		"no connection":     {func(in *input) { in.connection.err = connection.NotFound("con_a") }, "", nil},
		"the store is away": {func(in *input) { in.connection.err = away }, "", away},
		"no check":          {func(in *input) { in.policy = off }, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input{
				review: review.Review{
					Status: review.Complete, Repo: "acme/shop", Ruleset: "acme/shop", PRNumber: 7, HeadSHA: sha(1),
				},
				connection: oneConnection{Connection: connection.Connection{
					Kind: codehost.GitHub, AppID: 1, State: connection.Active,
				}},
				policy: policy.Default(),
			}
			c.change(&in)
			pages := publish.NewCheckPages(s.store, in.connection, onePolicy{in.policy})
			got, err := pages.Page(t.Context(), "acme", in.review)
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, got)
		})
	}
}
