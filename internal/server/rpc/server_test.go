package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

func as(ctx context.Context, token string, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, append([]string{"authorization", "Bearer " + token}, pairs...)...)
}

func TestCallCarriesTheCallerIn(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{Limit: 60})
	key, token := b.Key(t, auth.ReviewsRead)
	b.Reviews.GetFunc = func(org, id string) (review.Review, error) {
		assert.Equal(t, "acme", org)
		return review.Review{ID: id, Status: review.Queued}, nil
	}

	var header metadata.MD
	resp, err := prwardenv1.NewReviewServiceClient(b.Conn(t)).GetReview(as(t.Context(), token, "x-request-id", "my-id"),
		&prwardenv1.GetReviewRequest{ReviewId: "rev_1"}, grpc.Header(&header))
	require.NoError(t, err)
	assert.Equal(t, "rev_1", resp.GetReview().GetReviewId())
	assert.Equal(t, []string{"my-id"}, header.Get("x-request-id"))
	assert.Equal(t, []string{"60"}, header.Get("x-ratelimit-limit"))
	assert.Equal(t, []string{"59"}, header.Get("x-ratelimit-remaining"))
	var reset int64
	require.NoError(t, json.Unmarshal([]byte(header.Get("x-ratelimit-reset")[0]), &reset))
	assert.Equal(t, b.Clock.Add(time.Minute+time.Second-time.Nanosecond).Unix(), reset, "rounded up")

	lines := b.Logs.Lines("call")
	require.Len(t, lines, 1)
	assert.Equal(t, "my-id", lines[0]["request_id"])
	assert.Equal(t, "/prwarden.v1.ReviewService/GetReview", lines[0]["method"])
	assert.Equal(t, "OK", lines[0]["code"])
	assert.Equal(t, key.ID, lines[0]["key_id"])
	assert.Equal(t, "acme", lines[0]["organization"])
	assert.Contains(t, lines[0]["peer"], "127.0.0.1:")
	assert.NotContains(t, b.Logs.String(), token)
	assert.NotContains(t, b.Logs.String(), "rev_1", "messages are not logged")
}

func TestEveryFailureHasItsShapeAndItsHeaders(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t)
	_, reader := b.Key(t, auth.RulesRead)
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		switch id {
		case "rev_panic":
			panic("a secret")
		case "rev_odd":
			return review.Review{}, errors.New("a secret")
		}

		return review.Review{}, errs.New(errs.NotFound, errs.ReasonReviewNotFound, "There is no such review.")
	}

	conn := b.Conn(t)
	get := func(id string) func(context.Context, ...grpc.CallOption) error {
		return func(ctx context.Context, o ...grpc.CallOption) error {
			_, err := prwardenv1.NewReviewServiceClient(conn).GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: id}, o...)
			return err
		}
	}

	tests := map[string]struct {
		token  string
		call   func(context.Context, ...grpc.CallOption) error
		code   codes.Code
		reason string
	}{
		"no key":        {"", get("rev_x"), codes.Unauthenticated, errs.ReasonKeyInvalid},
		"missing scope": {reader, get("rev_x"), codes.PermissionDenied, errs.ReasonScopeMissing},
		"not found":     {token, get("rev_x"), codes.NotFound, errs.ReasonReviewNotFound},
		"panic":         {token, get("rev_panic"), codes.Internal, errs.ReasonInternal},
		"unexpected":    {token, get("rev_odd"), codes.Internal, errs.ReasonInternal},
		"invalid": {token, func(ctx context.Context, o ...grpc.CallOption) error {
			_, err := prwardenv1.NewReviewServiceClient(conn).CreateReview(ctx, &prwardenv1.CreateReviewRequest{Repo: "x"}, o...)
			return err
		}, codes.InvalidArgument, errs.ReasonInvalidArgument},
		"stream with NUL": {token, func(ctx context.Context, o ...grpc.CallOption) error {
			s, err := prwardenv1.NewReviewServiceClient(conn).WatchReview(ctx,
				&prwardenv1.WatchReviewRequest{ReviewId: "rev_\x00"}, o...)
			if err == nil {
				_, err = s.Recv()
			}
			return err
		}, codes.InvalidArgument, errs.ReasonInvalidArgument},
		"stream without scope": {reader, func(ctx context.Context, o ...grpc.CallOption) error {
			s, err := prwardenv1.NewReviewServiceClient(conn).WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: "rev_x"},
				o...)
			if err == nil {
				_, err = s.Recv()
			}
			return err
		}, codes.PermissionDenied, errs.ReasonScopeMissing},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header metadata.MD
			err := tc.call(as(t.Context(), tc.token, "x-request-id", strings.ReplaceAll(name, " ", "-")), grpc.Header(&header))
			s := status.Convert(err)
			assert.Equal(t, tc.code, s.Code(), "%v", err)
			assert.Equal(t, tc.reason, rpc.Reason(s))
			assert.NotContains(t, s.String(), "secret")
			for _, k := range []string{"x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} {
				assert.Len(t, header.Get(k), 1, k)
			}
			found := false
			for _, line := range b.Logs.Lines("call") {
				if line["request_id"] == strings.ReplaceAll(name, " ", "-") {
					found = true
					assert.Equal(t, tc.code.String(), line["code"])
					assert.Equal(t, tc.reason, line["reason"])
				}
			}
			assert.True(t, found, "every call is logged")
		})
	}
}

// Callers choose the names of methods that there are not.
func TestUnknownMethodsPassTheChain(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{Limit: 2})
	_, token := b.Key(t)
	conn := b.Conn(t)
	call := func(ctx context.Context, method string) codes.Code {
		err := conn.Invoke(ctx, method, &prwardenv1.GetReviewRequest{}, &prwardenv1.GetReviewResponse{})
		assert.NotContains(t, err.Error(), "Secret")
		return status.Code(err)
	}

	for _, method := range []string{"/prwarden.v1.ReviewService/Secret", "/grpc.health.Secret/x"} {
		assert.Equal(t, codes.Unauthenticated, call(t.Context(), method))
		assert.Equal(t, codes.Unimplemented, call(as(t.Context(), token), method))
	}

	assert.Equal(t, codes.ResourceExhausted, call(as(t.Context(), token), "/x/y"))
	lines := b.Logs.Lines("call")
	require.Len(t, lines, 5)
	assert.Equal(t, "/unknown/unknown", lines[0]["method"])
	assert.NotContains(t, b.Logs.String(), "Secret")
}

func TestViolationsNameTheField(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t)
	conn := b.Conn(t)
	reviews, rules, keys := prwardenv1.NewReviewServiceClient(conn), prwardenv1.NewRuleServiceClient(conn),
		prwardenv1.NewKeyServiceClient(conn)
	ptr := func(n int32) *int32 { return &n }
	str := func(s string) *string { return &s }
	allScopes := "must be in list [reviews:read, reviews:write, rules:read, rules:write, keys:admin, policy:read, " +
		"policy:write, audit:read, findings:triage, hosts:read, hosts:write, webhooks:read, webhooks:write, " +
		"source:read, members:admin, organization:admin]"
	tests := map[string]struct {
		call func(context.Context) error
		want map[string]string
	}{
		"create review": {func(ctx context.Context) error {
			_, err := reviews.CreateReview(ctx, &prwardenv1.CreateReviewRequest{Repo: "x", Ruleset: str("")})
			return err
		}, map[string]string{
			"repo":      "must be `<owner>/<repository>`, each of 1 to 100 letters, digits, dots, hyphens and underscores",
			"pr_number": "must be at least 1; it is 0",
			"ruleset":   "must be at least 1 characters",
		}},
		"list reviews": {func(ctx context.Context) error {
			_, err := reviews.ListReviews(ctx, &prwardenv1.ListReviewsRequest{
				PageSize: ptr(201), PageToken: str(strings.Repeat("é", 501)), Status: prwardenv1.Review_Status(99).Enum(),
			})
			return err
		}, map[string]string{
			"page_size":  "must be greater than or equal to 1 and less than or equal to 200",
			"page_token": "must be at most 500 characters",
			"status":     "must be one of queued, in_progress, complete, failed, canceled",
		}},
		"rule": {func(ctx context.Context) error {
			_, err := rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: &prwardenv1.Rule{
				Message: "a\x00b", Paths: &prwardenv1.Rule_Paths{Include: []string{"a", ""},
					Exclude: slices.Repeat([]string{"a"}, 101)},
				Cases: &prwardenv1.Rule_Cases{Match: []string{strings.Repeat("x", 16385)}},
			}})
			return err
		}, map[string]string{
			"message":          "must not contain the character U+0000",
			"paths.include[1]": "must be at least 1 characters",
			"paths.exclude":    "must contain no more than 100 item(s)",
			"cases.match[0]":   "must be at most 16384 bytes",
		}},
		"key": {func(ctx context.Context) error {
			_, err := keys.CreateKey(ctx, &prwardenv1.CreateKeyRequest{Scopes: []string{"root", "root"}})
			return err
		}, map[string]string{
			"name":      "must be at least 1 characters",
			"scopes":    "repeated value must contain unique items",
			"scopes[0]": allScopes,
			"scopes[1]": allScopes,
		}},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := status.Convert(tc.call(as(t.Context(), token)))
			assert.Equal(t, codes.InvalidArgument, s.Code())
			assert.Equal(t, tc.want, fieldsOf(s))
		})
	}
}
