package rpc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// Strangers can't make the server hold more messages than there is room for.
func TestMessagesThatAreBeingReceivedAreBounded(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{
		Limits: overload.Limits{overload.LimitReceiving: {Total: 100, PerOwner: 2}, overload.LimitOpen: {Total: 2}},
	})
	conn := b.Conn(t)
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	open := func() grpc.ClientStream {
		s, err := conn.NewStream(t.Context(), desc, prwardenv1.RuleService_CreateRule_FullMethodName)
		require.NoError(t, err)
		return s // of which the message never comes
	}

	open()
	open()
	refused := status.Convert(open().RecvMsg(&prwardenv1.CreateRuleResponse{}))
	assert.Equal(t, codes.Unavailable, refused.Code())
	assert.Equal(t, errs.ReasonUnavailable, rpc.Reason(refused))
	assert.Positive(t, rpc.RetryAfter(refused))

	_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err, "a server that is busy is healthy")
	assert.Zero(t, b.Guard.Used(overload.LimitOpen), "they take nothing from the requests that are whole")
	assert.Equal(t, 401, b.Do(t, "GET", "/v1/rules", "").Status)
}

// An error travels as trailers, for which many clients take 8 KiB.
func TestErrorsAreShortWhateverWasSent(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t)
	conn := b.Conn(t)
	rules, keys := prwardenv1.NewRuleServiceClient(conn), prwardenv1.NewKeyServiceClient(conn)
	ctx := as(t.Context(), token)
	odd := make([]string, 260_000)
	create := func(r *prwardenv1.Rule) error {
		_, err := rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: r})
		return err
	}

	for name, err := range map[string]error{
		"scope": func() error {
			_, err := keys.CreateKey(ctx, &prwardenv1.CreateKeyRequest{Name: "x", Scopes: odd})
			return err
		}(),
		"globs": create(&prwardenv1.Rule{Paths: &prwardenv1.Rule_Paths{Include: odd}}),
		"globs, few": create(&prwardenv1.Rule{Paths: &prwardenv1.Rule_Paths{Include: make([]string, 100),
			Exclude: make([]string, 100)}}),
	} {
		s := status.Convert(err)
		assert.Contains(t, []codes.Code{codes.InvalidArgument, codes.NotFound}, s.Code(), name)
		assert.Less(t, proto.Size(s.Proto()), 6<<10, name)
	}
}

// The violations of the rule package are bounded where they become a status.
func TestStatusTellsAFewOfManyViolations(t *testing.T) {
	t.Parallel()
	r := rule.Rule{ID: "x", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Severities()[0]}
	for range rule.MaxCases {
		r.Cases.Match = append(r.Cases.Match, "y")
	}

	err := rule.Validate(t.Context(), r)
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Fields, rule.MaxCases)
	told := rpc.Status(err)
	assert.Len(t, fieldsOf(told), rpc.MaxViolations)
	assert.Contains(t, told.Message(), "and 49 more")
}
