package rpc

import (
	"context"
	"io"
	"log/slog"
	"testing"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// service answers the two kinds of calls as a test says.
type service struct {
	prwardenv1.UnimplementedReviewServiceServer
	get   func(context.Context, *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error)
	watch func(*prwardenv1.WatchReviewRequest, grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error
}

func (s *service) GetReview(
	ctx context.Context, r *prwardenv1.GetReviewRequest,
) (*prwardenv1.GetReviewResponse, error) {
	return s.get(ctx, r)
}

func (s *service) WatchReview(
	r *prwardenv1.WatchReviewRequest, out grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse],
) error {
	return s.watch(r, out)
}

// newTestClient returns a client of a service in this process, and the context
// of a request that was admitted.
func newTestClient(t *testing.T, s *service) (*Server, prwardenv1.ReviewServiceClient, context.Context) {
	t.Helper()
	server := New(Config{
		Metrics: grpcprom.NewServerMetrics(), Log: slog.New(slog.DiscardHandler),
		Register: func(r grpc.ServiceRegistrar) { prwardenv1.RegisterReviewServiceServer(r, s) },
	})
	caller := auth.Caller{KeyID: "key_1", Organization: "acme", Scopes: auth.DefaultScopes()}
	ctx := WithCall(auth.NewContext(t.Context(), caller), &Call{RequestID: "r1", Peer: "192.0.2.1:1", Caller: caller})
	return server, prwardenv1.NewReviewServiceClient(server.Conn()), ctx
}

func TestInProcessCallCarriesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	type mark struct{}
	_, client, ctx := newTestClient(t,
		&service{get: func(ctx context.Context, r *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
			assert.Equal(t, "acme", auth.FromContext(ctx).Organization)
			assert.Equal(t, "r1", callOf(ctx).RequestID)
			assert.Equal(t, "here", ctx.Value(mark{}))
			md, _ := metadata.FromIncomingContext(ctx)
			assert.Equal(t, []string{"k1"}, md.Get("idempotency-key"))
			return &prwardenv1.GetReviewResponse{Review: &prwardenv1.Review{ReviewId: r.GetReviewId()}}, nil
		}})
	ctx = metadata.AppendToOutgoingContext(context.WithValue(ctx, mark{}, "here"), "idempotency-key", "k1")
	resp, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	require.NoError(t, err)
	assert.Equal(t, "rev_1", resp.GetReview().GetReviewId())
}

func TestInProcessCallsPassTheChain(t *testing.T) {
	t.Parallel()
	server, client, ctx := newTestClient(t,
		&service{get: func(context.Context, *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
			panic("a fault")
		}})
	_, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	assert.Equal(t, codes.Internal, status.Code(err), "a panic: %v", err)
	_, err = client.CreateReview(ctx, &prwardenv1.CreateReviewRequest{PrNumber: -1})
	assert.Equal(t, codes.InvalidArgument, status.Code(err), "a broken constraint: %v", err)
	err = server.Conn().Invoke(ctx, "/prwarden.v1.ReviewService/Nothing", &prwardenv1.GetReviewRequest{},
		&prwardenv1.GetReviewResponse{})
	assert.Equal(t, codes.Unimplemented, status.Code(err))
}

func TestInProcessStream(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	_, client, ctx := newTestClient(t,
		&service{watch: func(r *prwardenv1.WatchReviewRequest,
			out grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error {
			for i := range 3 {
				if err := out.Send(&prwardenv1.WatchReviewResponse{ReviewId: r.GetReviewId(), FilesDone: int32(i)}); err != nil {
					left <- err
					return err
				}
			}
			if r.GetReviewId() == "rev_bad" {
				return status.Error(codes.NotFound, "gone")
			}
			return nil
		}})
	for _, id := range []string{"rev_1", "rev_bad"} {
		stream, err := client.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: id})
		require.NoError(t, err)
		_, err = stream.Header()
		require.NoError(t, err)
		for i := range 3 {
			m, err := stream.Recv()
			require.NoError(t, err)
			assert.Equal(t, int32(i), m.GetFilesDone())
			assert.Equal(t, id, m.GetReviewId())
		}
		_, err = stream.Recv()
		if id == "rev_1" {
			require.ErrorIs(t, err, io.EOF)
		} else {
			assert.NotEqual(t, codes.OK, status.Code(err))
		}
		_, again := stream.Recv()
		assert.Equal(t, err, again)
	}
	// Whoever leaves early ends the context, and then the handler ends.
	leaving, leave := context.WithCancel(ctx)
	stream, err := client.WatchReview(leaving, &prwardenv1.WatchReviewRequest{ReviewId: "rev_1"})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
}

// Over REST, a stream that fails before its first message has a status of its
// own.
func TestInProcessStreamFailsWithItsHeader(t *testing.T) {
	t.Parallel()
	_, client, ctx := newTestClient(t,
		&service{watch: func(*prwardenv1.WatchReviewRequest,
			grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error {
			return errs.New(errs.NotFound, errs.ReasonReviewNotFound, "There is no such review.")
		}})
	stream, err := client.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: "rev_1"})
	require.NoError(t, err)
	_, err = stream.Header()
	assert.Equal(t, codes.NotFound, status.Code(err))
}
