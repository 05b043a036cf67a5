package blackbox_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// details returns what an error carries for programs.
func details(t *testing.T, err error) (reason string, fields []string) {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			assert.Equal(t, "prwarden", d.GetDomain())
			reason = d.GetReason()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}

	return reason, fields
}

func TestEveryCallOverGRPC(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	planted(t, h, "acme/api")
	rpc := s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, c.token))

	rule := &prwardenv1.Rule{
		Id: "no-frobnicate", Type: prwardenv1.Rule_regex.Enum(), Pattern: `frobnicate\(`, Message: "Call adjust instead.",
		Severity: prwardenv1.Severity_warning.Enum(),
	}
	made, err := rpc.rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: rule})
	require.NoError(t, err)
	assert.Equal(t, "no-frobnicate", made.GetRule().GetId())
	got, err := rpc.rules.GetRule(ctx, &prwardenv1.GetRuleRequest{Id: "custom/no-frobnicate"})
	require.NoError(t, err)
	assert.Equal(t, made.GetRule().GetCreatedAt().AsTime(), got.GetRule().GetCreatedAt().AsTime())
	sets, err := rpc.rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{})
	require.NoError(t, err)
	assert.Len(t, sets.GetRulesets(), 2)
	rules, err := rpc.rules.ListRules(ctx, &prwardenv1.ListRulesRequest{Name: "custom"})
	require.NoError(t, err)
	assert.Len(t, rules.GetRules(), 1)
	tried, err := rpc.rules.TestRule(ctx, &prwardenv1.TestRuleRequest{Pattern: "b", Text: "ab"})
	require.NoError(t, err)
	assert.Equal(t, int32(2), tried.GetHits()[0].GetColumn())

	idempotent := metadata.NewOutgoingContext(t.Context(), with(t, c.token, "idempotency-key", "g-1"))
	created, err := rpc.reviews.CreateReview(idempotent, &prwardenv1.CreateReviewRequest{Repo: "acme/api", PrNumber: 1})
	require.NoError(t, err)
	assert.Equal(t, prwardenv1.Review_queued, created.GetStatus())
	again, err := rpc.reviews.CreateReview(idempotent, &prwardenv1.CreateReviewRequest{Repo: "acme/api", PrNumber: 1})
	require.NoError(t, err)
	assert.Equal(t, created.GetReviewId(), again.GetReviewId())
	overREST := c.do(t, "POST", "/v1/reviews", okBody, "Idempotency-Key", "g-1")
	assert.Equal(t, created.GetReviewId(), overREST.decode(t)["review_id"], "one way, whichever protocol")

	watch, err := rpc.reviews.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: created.GetReviewId()})
	require.NoError(t, err)
	var last *prwardenv1.WatchReviewResponse
	for {
		m, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		last = m
	}

	require.NotNil(t, last)
	assert.Equal(t, prwardenv1.Review_complete, last.GetStatus())
	assert.Equal(t, int32(3), last.GetSummary().GetWarning())

	review, err := rpc.reviews.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: created.GetReviewId()})
	require.NoError(t, err)
	assert.Len(t, review.GetReview().GetFindings(), 3)
	reviews, err := rpc.reviews.ListReviews(ctx, &prwardenv1.ListReviewsRequest{})
	require.NoError(t, err)
	assert.Len(t, reviews.GetReviews(), 1)
	_, err = rpc.reviews.CancelReview(ctx, &prwardenv1.CancelReviewRequest{ReviewId: created.GetReviewId()})
	assert.Equal(t, codes.FailedPrecondition, status.Code(err))
	reason, _ := details(t, err)
	assert.Equal(t, "REVIEW_FINISHED", reason)

	key, err := rpc.keys.CreateKey(ctx, &prwardenv1.CreateKeyRequest{Name: "x", Scopes: []string{"rules:read"}})
	require.NoError(t, err)
	listed, err := rpc.keys.ListKeys(ctx, &prwardenv1.ListKeysRequest{})
	require.NoError(t, err)
	assert.Len(t, listed.GetKeys(), 2)
	_, err = rpc.keys.DeleteKey(ctx, &prwardenv1.DeleteKeyRequest{KeyId: key.GetKeyId()})
	require.NoError(t, err)
	_, err = rpc.rules.DeleteRule(ctx, &prwardenv1.DeleteRuleRequest{Id: "no-frobnicate"})
	require.NoError(t, err)
}

func TestGRPCErrors(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	rpc := s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, c.token))

	_, err := rpc.rules.ListRulesets(t.Context(), &prwardenv1.ListRulesetsRequest{})
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	reason, _ := details(t, err)
	assert.Equal(t, "KEY_MISSING", reason)

	// What the gateway passes in memory can't be had over the network.
	for _, name := range []string{
		"prwarden-caller", "prwarden-caller-bin", "prwarden-admitted", "prwarden-admitted-bin", "x-prwarden-caller-bin",
		"grpcgateway-authorization",
	} {
		forged := metadata.AppendToOutgoingContext(t.Context(), name, `{"Organization":"acme","KeyID":"key_x"}`)
		_, err := rpc.rules.ListRulesets(forged, &prwardenv1.ListRulesetsRequest{})
		assert.Equal(t, codes.Unauthenticated, status.Code(err), name)
	}

	_, err = rpc.reviews.CreateReview(ctx, &prwardenv1.CreateReviewRequest{Repo: "acme", PrNumber: 0})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	_, fields := details(t, err)
	assert.ElementsMatch(t, []string{"repo", "pr_number"}, fields)
	_, err = rpc.rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: &prwardenv1.Rule{
		Id: "x", Type: prwardenv1.Rule_Type(77).Enum(), Pattern: "a", Message: "m", Severity: prwardenv1.Severity_low.Enum(),
	}})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	assert.Contains(t, status.Convert(err).Message(), "regex")
	_, err = rpc.rules.DeleteRule(ctx, &prwardenv1.DeleteRuleRequest{Id: "secrets/private-key"})
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	reason, _ = details(t, err)
	assert.Equal(t, "DEFAULT_RULE", reason)
	err = s.conn(t).Invoke(
		ctx, "/prwarden.v1.ReviewService/Nothing", &prwardenv1.GetReviewRequest{}, &prwardenv1.GetReviewResponse{},
	)
	assert.Equal(t, codes.Unimplemented, status.Code(err))
}

func TestGRPCHealthAndReflection(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	conn := s.conn(t)
	health, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus())

	ctx, cancel := context.WithTimeout(t.Context(), eventually)
	defer cancel()
	stranger, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	require.NoError(t, err)
	_, err = stranger.Recv()
	assert.Equal(t, codes.Unauthenticated, status.Code(err))

	ctx = metadata.NewOutgoingContext(ctx, with(t, s.key(t, "acme")))
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	require.NoError(t, err)
	require.NoError(
		t,
		stream.Send(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
		}),
	)
	reply, err := stream.Recv()
	require.NoError(t, err)
	var names []string
	for _, svc := range reply.GetListServicesResponse().GetService() {
		names = append(names, svc.GetName())
	}
	assert.Subset(t, names, []string{"prwarden.v1.ReviewService", "prwarden.v1.RuleService", "prwarden.v1.KeyService"})
	assert.NotContains(t, names, "prwarden.scanner.v1.ScannerService", "internal, and not on this port")
}
