package rest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestRoutesAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	rs, err := readRoutes()
	require.NoError(t, err)
	got := map[string]int{}
	for _, rt := range rs {
		got[rt.verb+" "+rt.pattern] = rt.success
	}

	assert.Equal(t, map[string]int{
		"POST /v1/reviews":                     202,
		"GET /v1/reviews/{review_id}":          200,
		"GET /v1/reviews":                      200,
		"GET /v1/reviews:count":                200,
		"GET /v1/findings":                     200,
		"GET /v1/stats/trends":                 200,
		"GET /v1/repositories":                 200,
		"POST /v1/reviews/{review_id}:cancel":  200,
		"GET /v1/reviews/{review_id}:watch":    200,
		"GET /v1/reviews/{review_id}/findings": 200,
		"GET /v1/reviews/{review_id}/diff":     200,
		"GET /v1/reviews/{review_id}/sarif":    200,
		"GET /v1/rules":                        200,
		"GET /v1/rulesets/{name=**}/rules":     200,
		"GET /v1/stats/rules":                  200,
		"GET /v1/audit":                        200,
		"POST /v1/findings:triage":             200,
		"POST /v1/triage/{change_id}:undo":     200,
		"GET /v1/triage":                       200,
		"GET /v1/rules/{id=**}":                200,
		"POST /v1/rules":                       201,
		"POST /v1/rules:test":                  200,
		"PATCH /v1/rules/{id=**}":              200,
		"POST /v1/rules:try":                   200,
		"POST /v1/rules:batch":                 200,
		"GET /v1/rules:export":                 200,
		"GET /v1/rules/{id=**}:history":        200,
		"DELETE /v1/rules/{id=**}":             204,
		"POST /v1/keys":                        201,
		"GET /v1/keys":                         200,
		"GET /v1/policy":                       200,
		"GET /v1/pull-requests":                200, "GET /v1/pull-requests/{pr_number}": 200,
		"GET /v1/pull-requests/{pr_number}/threads": 200, "POST /v1/pull-requests/{pr_number}:republish": 200,
		"PUT /v1/policy":           200,
		"DELETE /v1/keys/{key_id}": 204,

		"POST /v1/connections":                             201,
		"POST /v1/connections:setup":                       200,
		"GET /v1/connections":                              200,
		"GET /v1/connections/{connection_id}":              200,
		"PATCH /v1/connections/{connection_id}":            200,
		"DELETE /v1/connections/{connection_id}":           204,
		"POST /v1/connections/{connection_id}:rotate":      200,
		"POST /v1/connections/{connection_id}:test":        200,
		"GET /v1/connections/{connection_id}/repositories": 200,

		"GET /v1/account":                          200,
		"PATCH /v1/account":                        200,
		"GET /v1/members:names":                    200,
		"GET /v1/single-sign-on":                   200,
		"POST /v1/account:changePassword":          204,
		"GET /v1/account/sessions":                 200,
		"DELETE /v1/account/sessions/{session_id}": 204,
		"POST /v1/account/sessions:endAll":         204,
		"GET /v1/members":                          200,
		"PATCH /v1/members/{user_id}":              200,
		"DELETE /v1/members/{user_id}":             204,
		"POST /v1/members/{user_id}:resetPassword": 200,
		"POST /v1/invitations":                     201,
		"GET /v1/invitations":                      200,
		"DELETE /v1/invitations/{invitation_id}":   204,

		"POST /v1/webhooks":                                              201,
		"GET /v1/webhooks":                                               200,
		"GET /v1/webhooks/{webhook_id}":                                  200,
		"PATCH /v1/webhooks/{webhook_id}":                                200,
		"DELETE /v1/webhooks/{webhook_id}":                               204,
		"POST /v1/webhooks/{webhook_id}:rotate":                          200,
		"POST /v1/webhooks/{webhook_id}:test":                            200,
		"GET /v1/webhooks/{webhook_id}/messages":                         200,
		"POST /v1/webhooks/{webhook_id}/messages/{message_id}:redeliver": 200,
	}, got)
}

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	review, key, rule := &prwardenv1.CreateReviewRequest{}, &prwardenv1.CreateKeyRequest{}, &prwardenv1.Rule{}
	for name, tc := range map[string]struct {
		into proto.Message
		body string
		want string // `field: text` of the violation, "" when the body is read
	}{
		"right":                {review, `{"repo":"a/b","pr_number":1}`, ""},
		"empty":                {review, " \n", ""},
		"what protojson takes": {review, `{"repo":null,"prNumber":"1"}`, ""},
		"unknown field":        {review, `{"x":1}`, "x: unknown field (line 1, column 2)"},
		"field without a name": {review, `{"":1}`,
			`body: is not valid JSON for this call: unknown field "" (line 1, column 2)`},
		"twice":               {review, `{"repo":"a","repo":"b"}`, "repo: duplicate field (line 1, column 13)"},
		"number for a string": {review, `{"repo":1}`, "repo: must be a string (line 1, column 9)"},
		"fraction": {review, "{\n\"pr_number\":1.5}",
			"pr_number: must be an integer from -2147483648 to 2147483647 (line 2, column 13)"},
		"large number": {review, `{"pr_number":2147483648}`,
			"pr_number: must be an integer from -2147483648 to 2147483647 (line 1, column 14)"},
		"unknown word": {rule, `{"type":"ast"}`, "type: must be one of `regex`, `structure`, `taint`, `spelling` (line 1, column 9)"},
		"item of a list": {rule, `{"paths":{"include":[1]}}`, "body: is not valid JSON for this call: " +
			"invalid value for string field include: 1 (line 1, column 22)"},
		"time": {key, `{"expires_at":"x"}`,
			`expires_at: must be a time as in RFC 3339, such as "2026-11-20T09:30:00Z" (line 1, column 15)`},
		"not JSON":    {review, `repo=a`, "body: is not valid JSON for this call: invalid value repo (line 1, column 1)"},
		"trailing":    {review, `{}x`, "body: is not valid JSON for this call: invalid value x (line 1, column 3)"},
		"two objects": {review, `{}{}`, "body: is not valid JSON for this call: unexpected token { (line 1, column 3)"},
		"cut off":     {review, `{"repo":`, "body: is not valid JSON for this call: unexpected EOF"},
		"null":        {review, `null`, "body: is not valid JSON for this call: unexpected token null (line 1, column 1)"},
		"not UTF-8": {review, "{\"repo\":\"\xff\"}",
			"body: is not valid JSON for this call: invalid UTF-8 in string (line 1, column 9)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkJSON([]byte(tc.body), proto.Clone(tc.into))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			require.Len(t, e.Fields, 1)
			assert.Equal(t, tc.want, e.Fields[0].Field+": "+e.Fields[0].Description)
		})
	}
}

// Whatever was sent, the error is short.
func TestCheckJSONCutsWhatItRepeats(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	for _, body := range []string{`{"` + long + `":1}`, `{"pr_number":"` + long + `"}`, `{"fail_on":"` + long + `"}`, long,
		strings.Repeat("[", 100_000)} {
		var e *errs.Error
		require.ErrorAs(t, checkJSON([]byte(body), &prwardenv1.CreateReviewRequest{}), &e)
		assert.Less(t, len(e.Message), 500)
	}
}

// What checkQuery accepts, grpc-gateway reads without an error.
func FuzzCheckQuery(f *testing.F) {
	for _, seed := range []string{
		"repo=a%2Fb&pr_number=7&status=in_progress&page_size=200&page_token=x",
		"pr_number=-0", "pr_number=+1", "status=1", "repo=%ff", "a;b", "repo", "page_token=%00", "prNumber=1", "repo.x=1",
		"repo[a]=1",
	} {
		f.Add(seed)
	}

	rs, err := readRoutes()
	require.NoError(f, err)
	rt, _ := match(rs, "GET", "/v1/reviews")
	allowed := rt.query
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
