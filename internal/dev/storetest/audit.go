package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/page"
)

// as returns the test's context with an actor.
func as(t *testing.T, kind audit.Kind, id string) context.Context {
	t.Helper()
	return audit.NewContext(t.Context(), audit.Actor{Kind: kind, ID: id, Address: "192.0.2.7", RequestID: "req-1"})
}

// events returns an organization's events, the newest first.
func events(t *testing.T, h Harness, org string, f audit.Filter) []audit.Event {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 1000
	}
	list, err := h.Store.Events(t.Context(), org, f)
	require.NoError(t, err)

	return list
}

// newest returns the only event that there is beside so many older ones, without
// its identifier.
func newest(t *testing.T, h Harness, org string, older int) audit.Event {
	t.Helper()
	list := events(t, h, org, audit.Filter{})
	require.Len(t, list, older+1)
	assert.Regexp(t, `^evt_[a-z2-7]{26}$`, list[0].ID)
	list[0].ID = ""

	return list[0]
}

func changesAudited(t *testing.T, h Harness) {
	ctx := as(t, audit.Key, "key_admin")
	event := func(org string, c audit.Change) audit.Event {
		return audit.Event{
			Organization: org, At: h.Clock.Stored(), Actor: "key:key_admin", Address: "192.0.2.7", RequestID: "req-1",
			Change: c,
		}
	}
	steps := []struct {
		do   func() error
		want audit.Change
	}{
		{func() error {
			_, err := h.Store.CreateKey(ctx, auth.Key{
				ID: "key_a", Organization: acme, Name: "ci", Hash: hashOf("key_a"), Scopes: auth.DefaultScopes()[:2],
				RateLimit: 30, ExpiresAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
			}, auth.Quota)
			return err
		}, audit.Change{Action: audit.KeyCreate, Target: "key_a", Fields: []audit.Field{
			{Name: "expires_at", After: "2027-01-01T00:00:00Z"}, {Name: "name", After: "ci"},
			{Name: "rate_limit", After: "30"}, {Name: "scopes", After: "reviews:read, reviews:write"},
		}}},
		{func() error { return revokeKey(ctx, h, acme, "key_a") }, audit.Change{
			Action: audit.KeyRevoke, Target: "key_a", Fields: []audit.Field{},
		}},
		{func() error { _, err := h.Store.CreateRule(ctx, acme, orgRule("no-x"), 10); return err }, audit.Change{
			Action: audit.RuleCreate, Target: "custom/no-x",
			Fields: []audit.Field{{Name: "severity", After: "warning"}, {Name: "pattern", After: "x"}},
		}},
		{func() error {
			after := orgRule("no-x")
			after.Pattern, after.Disabled, after.Cases.Match = "y", true, []string{"a secret"}
			_, err := h.Store.UpdateRule(ctx, acme, after, orgRule("no-x").Document().Etag())
			return err
		}, audit.Change{Action: audit.RuleUpdate, Target: "custom/no-x", Fields: []audit.Field{
			{Name: "pattern", Before: "x", After: "y"}, {Name: "enabled", Before: "true", After: "false"},
		}}},
		{func() error { return h.Store.DeleteRule(ctx, acme, "custom/no-x") }, audit.Change{
			Action: audit.RuleDelete, Target: "custom/no-x", Fields: []audit.Field{},
		}},
	}
	for i, step := range steps {
		require.NoError(t, step.do())
		assert.Equal(t, event(acme, step.want), newest(t, h, acme, i))
		h.Clock.Advance(time.Second)
	}

	// One organization, three changes.
	o := organization.Organization{Name: "new", Repositories: []string{"a/*"}}
	require.NoError(t, h.Store.CreateOrganization(ctx, o))
	assert.Equal(t, event("new", audit.Change{Action: audit.OrganizationCreate, Target: "new", Fields: []audit.Field{
		{Name: "repositories", After: "a/*"},
	}}), newest(t, h, "new", 0))
	h.Clock.Advance(time.Second)
	require.NoError(t, h.Store.UpdateOrganization(ctx, "new", func(o *organization.Organization) error {
		o.Repositories, o.Host.URL = []string{"a/*", "b/*"}, "https://x/{repo}"
		return nil
	}))
	assert.Equal(t, event("new", audit.Change{Action: audit.OrganizationUpdate, Target: "new", Fields: []audit.Field{
		{Name: "host.url", After: "https://x/{repo}"}, {Name: "repositories", Before: "a/*", After: "a/*, b/*"},
	}}), newest(t, h, "new", 1))
	h.Clock.Advance(time.Second)
	declare(t, h.Store, organization.Organization{Name: "new", Repositories: []string{"a/*"}})
	declared := newest(t, h, "new", 2)
	assert.Equal(t, "system", declared.Actor, "nobody was named")
	assert.Equal(t, []audit.Field{
		{Name: "host.url", Before: "https://x/{repo}"}, {Name: "repositories", Before: "a/*, b/*", After: "a/*"},
		{Name: "declared", Before: "false", After: "true"},
	}, declared.Fields)
	h.Clock.Advance(time.Second)
	declare(t, h.Store)
	assert.Equal(t, []audit.Field{{Name: "declared", Before: "true", After: "false"}}, newest(t, h, "new", 3).Fields)
}

func nothingAudited(t *testing.T, h Harness) {
	ctx := as(t, audit.CLI, "root@here")
	o := organization.Organization{Name: "new", Repositories: []string{"a/*"}}
	declare(t, h.Store, o)
	addKey(t, h, "new", "key_a")
	addRule(t, h, "new", orgRule("r"))
	before := len(events(t, h, "", audit.Filter{}))
	require.Equal(t, 3, before)

	declare(t, h.Store, o)
	require.Error(t, h.Store.CreateOrganization(ctx, o))
	require.Error(t, h.Store.UpdateOrganization(ctx, "new", func(*organization.Organization) error { return nil }))
	_, err := h.Store.CreateRule(ctx, "new", orgRule("r"), 10)
	wantError(t, err, errs.AlreadyExists, errs.ReasonRuleExists)
	_, err = h.Store.CreateRule(ctx, "new", orgRule("r2"), 1)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonRuleQuota)
	require.Error(t, h.Store.DeleteRule(ctx, "new", "custom/none"))
	require.Error(t, revokeKey(ctx, h, "new", "key_none"))
	again := auth.Key{ID: "key_a", Organization: "new", Name: "n", Hash: hashOf("key_b")}
	_, err = h.Store.CreateKey(ctx, again, auth.Quota)
	require.Error(t, err)
	require.NoError(t, h.Store.TouchKeys(ctx, map[string]time.Time{"key_a": h.Clock.Now()}))

	create(t, h, "new", "rev_a")
	cancel(t, h, "new", "rev_a")
	declare(t, h.Store)
	require.NoError(t, h.Store.UpdateOrganization(ctx, "new", func(*organization.Organization) error { return nil }))
	assert.Len(t, events(t, h, "", audit.Filter{}), before+1, "only what declares no more")
}

func auditPages(t *testing.T, h Harness) {
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("key_%d", i)
		addKey(t, h, acme, id)
		want = append([]string{id}, want...)
		if i%2 == 1 {
			h.Clock.Advance(time.Microsecond)
		} // else two have the same time
	}
	var got, seen []string
	f := audit.Filter{Limit: 2}
	for {
		some := events(t, h, acme, f)
		if len(some) == 0 {
			break
		}
		for _, e := range some {
			got, seen = append(got, e.Target), append(seen, e.ID)
		}
		last := some[len(some)-1]
		f.After = page.Cursor{At: last.At, ID: last.ID}
	}
	assert.ElementsMatch(t, want, got)
	assert.Equal(t, want[0], got[0])
	all := events(t, h, acme, audit.Filter{})
	for i, e := range all {
		assert.Equal(t, seen[i], e.ID)
	}
}

func auditFilters(t *testing.T, h Harness) {
	begin := h.Clock.Stored()
	addKey(t, h, acme, "key_a")
	h.Clock.Advance(time.Minute)
	require.NoError(t, revokeKey(as(t, audit.CLI, "root@here"), h, acme, "key_a"))
	h.Clock.Advance(time.Minute)
	addKey(t, h, acme, "key_b")

	for name, tc := range map[string]struct {
		filter audit.Filter
		want   []audit.Action
	}{
		"none":   {audit.Filter{}, []audit.Action{audit.KeyCreate, audit.KeyRevoke, audit.KeyCreate}},
		"action": {audit.Filter{Action: audit.KeyRevoke}, []audit.Action{audit.KeyRevoke}},
		"actor":  {audit.Filter{Actor: "cli:root@here"}, []audit.Action{audit.KeyRevoke}},
		"nobody": {audit.Filter{Actor: "root@here"}, []audit.Action{}},
		"since":  {audit.Filter{Since: begin.Add(time.Minute)}, []audit.Action{audit.KeyCreate, audit.KeyRevoke}},
		"until":  {audit.Filter{Until: begin.Add(time.Minute)}, []audit.Action{audit.KeyCreate}},
		"limit":  {audit.Filter{Limit: 1}, []audit.Action{audit.KeyCreate}},
	} {
		got := []audit.Action{}
		for _, e := range events(t, h, acme, tc.filter) {
			got = append(got, e.Action)
		}
		assert.Equal(t, tc.want, got, name)
	}
}

func auditApart(t *testing.T, h Harness) {
	addKey(t, h, acme, "key_a")
	addKey(t, h, other, "key_b")
	assert.Equal(t, "key_a", newest(t, h, acme, 0).Target)
	assert.Equal(t, "key_b", newest(t, h, other, 0).Target)
	assert.Empty(t, events(t, h, "nobody", audit.Filter{}))
	assert.Len(t, events(t, h, "", audit.Filter{}), 2)
}

func auditBounded(t *testing.T, h Harness) {
	token := auth.NewToken()
	_, err := h.Store.CreateKey(t.Context(), auth.Key{
		ID: "key_a", Organization: acme, Name: token + strings.Repeat("é", 5_000), Hash: hashOf("key_a"),
	}, auth.Quota)
	require.NoError(t, err)
	e := newest(t, h, acme, 0)
	require.Len(t, e.Fields, 1)
	assert.NotContains(t, e.Fields[0].After, token[4:])
	assert.LessOrEqual(t, len(e.Fields[0].After), 2<<10+len("…"))
	assert.Regexp(t, `^prw_\*\*\*é+…$`, e.Fields[0].After)
}
