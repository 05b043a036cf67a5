package hosttest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// refusals are answers that a host can give at any time, to reading and to writing.
var refusals = map[string]struct {
	status int
	header map[string]string
	want   codehost.Fault
	after  time.Duration
}{
	"unauthorized":            {401, nil, codehost.Revoked, 0},
	"forbidden":               {403, nil, codehost.Forbidden, 0},
	"not found":               {404, nil, codehost.Gone, 0},
	"gone":                    {410, nil, codehost.Gone, 0},
	"too many":                {429, nil, codehost.Limited, 0},
	"too many, with a time":   {429, map[string]string{"Retry-After": "17"}, codehost.Limited, 17 * time.Second},
	"broken":                  {500, nil, codehost.Passing, 0},
	"unavailable":             {503, nil, codehost.Passing, 0},
	"unavailable until later": {503, map[string]string{"Retry-After": "9"}, codehost.Passing, 9 * time.Second},
}

// faults are the cases of what goes wrong between us and the host.
func faults() []test {
	return []test{
		{"a mutation in a repository with a new name", func(t Traits) bool { return t.ByID }, func(t *testing.T, b *bed) {
			p := b.pull(t)
			b.fake.Rename("acme/site")
			require.NoError(t, b.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker}))
			assert.Len(t, b.fake.Comments(), 1)
		}},
		{"a mutation follows no redirect", func(t Traits) bool { return !t.ByID }, func(t *testing.T, b *bed) {
			p := b.pull(t)
			b.fake.Rename("acme/site")
			b.faults.Calls()
			err := b.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
			assert.Equal(t, codehost.Moved, codehost.FaultOf(err), "%v", err)
			assert.Empty(t, b.fake.Comments())
			assert.Len(t, b.faults.Calls(), 1)
			b.do(t, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
		}},
		{"token that was revoked", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			b.fake.Revoke()
			_, err := b.Observe(t.Context(), p)
			assert.Equal(t, codehost.Revoked, codehost.FaultOf(err), "%v", err)
			err = b.Do(t.Context(), p, codehost.Step{Action: codehost.SetCheck, Check: check(Head, codehost.Success)})
			assert.Equal(t, codehost.Revoked, codehost.FaultOf(err), "%v", err)
		}},
		{"token that may only read", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			b.fake.Restrict()
			err := b.Do(t.Context(), p, codehost.Step{Action: codehost.SetCheck, Check: check(Head, codehost.Success)})
			var e *codehost.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, codehost.Forbidden, e.Fault, "%v", err)
			assert.NotEmpty(t, e.Scope)
		}},
		{"cut off before the work is done", nil, func(t *testing.T, b *bed) { cutOff(t, b, Fault{Cut: true}, 0) }},
		{"cut off after it", nil, func(t *testing.T, b *bed) { cutOff(t, b, Fault{Cut: true, Done: true}, 1) }},
		{"work that is done late", nil, func(t *testing.T, b *bed) {
			cutOff(t, b, Fault{Cut: true, Late: time.Second}, 0)
			b.faults.Close()
			assert.Len(t, b.observe(t).Summaries, 1)
		}},
		{"cut off in reading", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			b.faults.Next(Fault{Cut: true, Match: every, Again: 9}) // net/http repeats some
			_, err := b.Observe(t.Context(), p)
			assert.Equal(t, codehost.Passing, codehost.FaultOf(err), "%v", err)
		}},
		{"no answer in time", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			ctx, cancel := context.WithCancel(t.Context())
			b.faults.Random(func(*http.Request) *Fault {
				cancel() // while the request is under way
				return &Fault{Cut: true, Late: time.Millisecond}
			})
			err := b.Do(ctx, p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
			assert.Equal(t, codehost.Unknown, codehost.FaultOf(err), "%v", err)
		}},
		{"answer that is none of the host", nil, func(t *testing.T, b *bed) {
			b.faults.Next(Fault{Match: every, Status: 200, Body: "<html>Welcome</html>"})
			_, err := b.PullRequest(t.Context(), repository(), Number)
			assert.Equal(t, codehost.Passing, codehost.FaultOf(err), "%v", err)
		}},
		{"errors tell no secret", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			for _, status := range []int{401, 403, 404, 422, 500} {
				b.faults.Next(Fault{Match: every, Status: status, Body: `{"message": "bad token ` + Token + `"}`, Again: 9})
				_, err := b.PullRequest(t.Context(), p.Repository, Number)
				require.Error(t, err)
				assert.NotContains(t, err.Error(), Token)
				err = b.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
				require.Error(t, err)
				assert.NotContains(t, err.Error(), Token)
				b.faults.forget()
			}
		}},
	}
}

// refused are the cases of refusals.
func refused() (all []test) {
	for name, r := range refusals {
		all = append(all, test{name, nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			fault := Fault{Match: every, Status: r.status, Header: r.header, Body: "{}", Again: 99}
			b.faults.Next(fault)
			_, err := b.Observe(t.Context(), p)
			assert.Equal(t, r.want, codehost.FaultOf(err), "%v", err)

			err = b.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
			var e *codehost.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, r.want, e.Fault, "%v", err)
			assert.Equal(t, r.after, e.After)
			assert.False(t, strings.HasSuffix(err.Error(), ": "), "it says something")
			assert.Empty(t, b.fake.Comments())
		}})
	}

	return all
}

// every matches all requests.
func every(*http.Request) bool { return true }

// cutOff checks that a step that was cut off is unknown, and that its effect is seen.
func cutOff(t *testing.T, b *bed, fault Fault, want int) {
	t.Helper()
	p := b.pull(t)
	b.faults.Next(fault)
	err := b.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
	assert.Equal(t, codehost.Unknown, codehost.FaultOf(err), "%v", err)
	assert.Len(t, b.observe(t).Summaries, want)
}
