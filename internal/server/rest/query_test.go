package rest

import (
	"net/url"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func TestRoutesAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	rs, err := readRoutes()
	require.NoError(t, err)
	got := map[string]int{}
	for name, rt := range rs {
		got[name] = rt.success
	}
	assert.Equal(t, map[string]int{
		"POST /v1/reviews":                       202,
		"GET /v1/reviews/{review_id=*}":          200,
		"GET /v1/reviews":                        200,
		"POST /v1/reviews/{review_id=*}:cancel":  200,
		"GET /v1/reviews/{review_id=*}:watch":    200,
		"GET /v1/reviews/{review_id=*}/findings": 200,
		"GET /v1/reviews/{review_id=*}/sarif":    200,
		"GET /v1/rules":                          200,
		"GET /v1/rulesets/{name=**}/rules":       200,
		"GET /v1/rules/{id=**}":                  200,
		"POST /v1/rules":                         201,
		"POST /v1/rules:test":                    200,
		"DELETE /v1/rules/{id=**}":               204,
		"POST /v1/keys":                          201,
		"GET /v1/keys":                           200,
		"DELETE /v1/keys/{key_id=*}":             204,
	}, got)
}

// What checkQuery accepts, grpc-gateway reads without an error.
func FuzzCheckQuery(f *testing.F) {
	for _, seed := range []string{
		"repo=a%2Fb&pr_number=7&status=in_progress&page_size=200&page_token=x",
		"pr_number=-0", "pr_number=+1", "status=1", "repo=%ff", "a;b", "repo", "page_token=%00", "prNumber=1", "repo.x=1", "repo[a]=1",
	} {
		f.Add(seed)
	}
	rs, err := readRoutes()
	require.NoError(f, err)
	allowed := rs.find("GET", "/v1/reviews").query
	f.Fuzz(func(t *testing.T, raw string) {
		if len(checkQuery(raw, allowed)) > 0 {
			return
		}
		values, err := url.ParseQuery(raw)
		require.NoError(t, err)
		var m prwardenv1.ListReviewsRequest
		require.NoError(t, runtime.PopulateQueryParameters(&m, values, utilities.NewDoubleArray(nil)))
		for name, v := range values {
			fd := m.ProtoReflect().Descriptor().Fields().ByName(allowed[name].Name())
			require.True(t, m.ProtoReflect().Has(fd), "%s=%q is accepted and not read", name, v)
		}
	})
}
