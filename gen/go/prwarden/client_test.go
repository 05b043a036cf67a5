package prwarden_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/prwarden/prwarden/gen/go/prwarden"
	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// server answers with the errors that it was given, one a call, and then well.
type server struct {
	prwardenv1.UnimplementedReviewServiceServer
	prwardenv1.UnimplementedRuleServiceServer

	mu     sync.Mutex
	errors []error
	got    []metadata.MD
}

func (s *server) next(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	s.got = append(s.got, md)
	if len(s.errors) == 0 {
		return nil
	}
	err := s.errors[0]
	s.errors = s.errors[1:]
	return err
}

func (s *server) header(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var values []string
	for _, md := range s.got {
		values = append(values, md.Get(name)...)
	}
	return values
}

func (s *server) CreateReview(ctx context.Context, _ *prwardenv1.CreateReviewRequest) (*prwardenv1.CreateReviewResponse,
	error) {
	return &prwardenv1.CreateReviewResponse{}, s.next(ctx)
}

func (s *server) CreateRule(ctx context.Context, _ *prwardenv1.CreateRuleRequest) (*prwardenv1.CreateRuleResponse,
	error) {
	return &prwardenv1.CreateRuleResponse{}, s.next(ctx)
}

func setup(t *testing.T, fails ...error) (*server, *prwarden.Client) {
	t.Helper()
	s := &server{errors: fails}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer()
	prwardenv1.RegisterReviewServiceServer(g, s)
	prwardenv1.RegisterRuleServiceServer(g, s)
	go func() { _ = g.Serve(listener) }()
	t.Cleanup(g.Stop)
	client, err := prwarden.New("http://"+listener.Addr().String(), "prw_test",
		prwarden.Options{Attempts: 3, Timeout: 5 * time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return s, client
}

func failure(t *testing.T, code codes.Code, details ...protoadapt.MessageV1) error {
	t.Helper()
	s, err := status.New(code, "a sentence").WithDetails(details...)
	require.NoError(t, err)
	return s.Err()
}

func retry(after time.Duration) protoadapt.MessageV1 {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(after)}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	soon := retry(time.Millisecond)
	create := func(ctx context.Context, c *prwarden.Client) error {
		_, err := c.Reviews.CreateReview(ctx, &prwardenv1.CreateReviewRequest{})
		return err
	}
	rule := func(ctx context.Context, c *prwarden.Client) error {
		_, err := c.Rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{})
		return err
	}
	for name, test := range map[string]struct {
		call  func(context.Context, *prwarden.Client) error
		fails []error
		want  codes.Code
		calls int
	}{
		"over the rate, then away": {create,
			[]error{failure(t, codes.ResourceExhausted, soon), failure(t, codes.Unavailable, soon)}, codes.OK, 3},
		"away without a time": {create, []error{failure(t, codes.Unavailable)}, codes.OK, 2},
		"no more often than told": {create,
			[]error{failure(t, codes.Unavailable, soon), failure(t, codes.Unavailable, soon),
				failure(t, codes.Unavailable, soon), nil}, codes.Unavailable, 3},
		"not past the deadline": {create, []error{failure(t, codes.ResourceExhausted, retry(time.Hour))},
			codes.ResourceExhausted, 1},
		"not a message that is too big": {create, []error{failure(t, codes.ResourceExhausted)}, codes.ResourceExhausted, 1},
		"not a mistake": {create, []error{failure(t, codes.InvalidArgument, soon)}, codes.InvalidArgument,
			1},
		"a rule over the rate":           {rule, []error{failure(t, codes.ResourceExhausted, soon)}, codes.OK, 2},
		"not a rule that may be created": {rule, []error{failure(t, codes.Unavailable, soon)}, codes.Unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := setup(t, test.fails...)
			assert.Equal(t, test.want, status.Code(test.call(t.Context(), client)))
			assert.Equal(t, test.calls, len(s.header("authorization")))
			for _, value := range s.header("authorization") {
				assert.Equal(t, "Bearer prw_test", value)
			}
			keys := s.header("idempotency-key")
			for _, key := range keys {
				assert.Equal(t, keys[0], key, "every attempt has the same key")
				assert.NotEmpty(t, key)
			}
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, client := setup(t)
	_, err := client.Reviews.CreateReview(prwarden.IdempotencyKey(t.Context(), "job-7"), &prwardenv1.CreateReviewRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{"job-7"}, s.header("idempotency-key"))
}

func TestErrorOf(t *testing.T) {
	t.Parallel()
	err := failure(t, codes.InvalidArgument,
		&errdetails.ErrorInfo{Reason: "INVALID_ARGUMENT", Domain: "prwarden", Metadata: map[string]string{"a": "b"}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "pr_number",
			Description: "must be at least 1; it is 0"}}},
		retry(1500*time.Millisecond))
	assert.Equal(t, &prwarden.Error{
		Code: codes.InvalidArgument, Reason: "INVALID_ARGUMENT", Message: "a sentence",
		Violations: []prwarden.FieldViolation{{Field: "pr_number", Description: "must be at least 1; it is 0"}},
		RetryAfter: 1500 * time.Millisecond, Metadata: map[string]string{"a": "b"},
	}, prwarden.ErrorOf(fmt.Errorf("wrapped: %w", err)))
	assert.Equal(t, "INVALID_ARGUMENT: a sentence", prwarden.ErrorOf(err).Error())
	assert.Equal(t, "Unknown: "+assert.AnError.Error(), prwarden.ErrorOf(assert.AnError).Error())
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "prwarden.example.com:9090", "ftp://prwarden.example.com", "https://",
		"https://prwarden.example.com/v1", "://"} {
		_, err := prwarden.New(address, "prw_test", prwarden.Options{})
		assert.ErrorContains(t, err, "address must be", address)
	}
	_, err := prwarden.New("https://[::1]:9090", "prw_test", prwarden.Options{Attempts: -1})
	assert.ErrorContains(t, err, "must not be negative")
	client, err := prwarden.New("https://[::1]", "prw_test", prwarden.Options{})
	require.NoError(t, err)
	require.NoError(t, client.Close())
}
