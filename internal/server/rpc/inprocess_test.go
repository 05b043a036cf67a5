package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// service answers the two kinds of calls as a test says.
type service struct {
	prwardenv1.UnimplementedReviewServiceServer
	get   func(context.Context, *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error)
	watch func(*prwardenv1.WatchReviewRequest, grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error
}

func (s *service) GetReview(ctx context.Context, r *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
	return s.get(ctx, r)
}

func (s *service) WatchReview(r *prwardenv1.WatchReviewRequest, out grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error {
	return s.watch(r, out)
}

// nobody knows no keys.
type nobody struct{}

func (nobody) Authenticate(context.Context, []string) (auth.Caller, error) {
	return auth.Caller{}, errors.New("nobody should have been asked")
}

func (nobody) Remembered([]string) (auth.Caller, bool) { return auth.Caller{}, false }

func newTestClient(t *testing.T, s *service) (*Server, prwardenv1.ReviewServiceClient, context.Context) {
	t.Helper()
	admitter := auth.NewAdmitter(nobody{}, auth.NewMemoryLimiter(time.Now), nil, 0, nil)
	log := slog.New(slog.DiscardHandler)
	chain, err := NewChain(admitter, auth.NewGate(auth.DefaultGateLimits(), nil, log, nil), grpcprom.NewServerMetrics(), log)
	require.NoError(t, err)
	server := New(chain, func(r grpc.ServiceRegistrar) { prwardenv1.RegisterReviewServiceServer(r, s) }, nil)
	ctx := WithAdmitted(t.Context(), &Admitted{
		Caller: auth.Caller{KeyID: "key_1", Organization: "acme", Scopes: auth.DefaultScopes()}, Peer: "192.0.2.1:1", RequestID: "r1",
	})
	return server, prwardenv1.NewReviewServiceClient(server.Conn()), ctx
}

func TestInProcessCallCarriesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	type mark struct{}
	_, client, ctx := newTestClient(t, &service{get: func(ctx context.Context, r *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
		assert.Equal(t, "acme", auth.FromContext(ctx).Organization)
		assert.Equal(t, "r1", RequestID(ctx))
		assert.Equal(t, "here", ctx.Value(mark{}))
		md, _ := metadata.FromIncomingContext(ctx)
		assert.Equal(t, []string{"k1"}, md.Get(IdempotencyKey))
		name, _ := grpc.Method(ctx)
		assert.Equal(t, prwardenv1.ReviewService_GetReview_FullMethodName, name)
		assert.NoError(t, grpc.SetHeader(ctx, metadata.Pairs("a", "1")))
		assert.NoError(t, grpc.SendHeader(ctx, metadata.Pairs("b", "2")))
		assert.NoError(t, grpc.SetTrailer(ctx, metadata.Pairs("c", "3")))
		return &prwardenv1.GetReviewResponse{Review: &prwardenv1.Review{ReviewId: r.GetReviewId()}}, nil
	}})
	ctx = metadata.AppendToOutgoingContext(context.WithValue(ctx, mark{}, "here"), IdempotencyKey, "k1")
	var header, trailer metadata.MD
	resp, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"}, grpc.Header(&header), grpc.Trailer(&trailer))
	require.NoError(t, err)
	assert.Equal(t, "rev_1", resp.GetReview().GetReviewId())
	assert.Equal(t, metadata.Pairs("a", "1", "b", "2"), header)
	assert.Equal(t, metadata.Pairs("c", "3"), trailer)
}

func TestInProcessCallsPassTheChain(t *testing.T) {
	t.Parallel()
	server, client, ctx := newTestClient(t, &service{get: func(context.Context, *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
		panic("a fault")
	}})
	_, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	assert.Equal(t, codes.Internal, status.Code(err), "a panic: %v", err)
	_, err = client.CreateReview(ctx, &prwardenv1.CreateReviewRequest{PrNumber: -1})
	assert.Equal(t, codes.InvalidArgument, status.Code(err), "a broken constraint: %v", err)
	_, err = client.GetReview(t.Context(), &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	assert.Equal(t, codes.Internal, status.Code(err), "not admitted, so the keys are asked: %v", err)
	none := WithAdmitted(t.Context(), &Admitted{Caller: auth.Caller{KeyID: "key_2"}})
	_, err = client.GetReview(none, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	assert.Equal(t, "SCOPE_MISSING", rpcerr.Reason(status.Convert(err)))
	err = server.Conn().Invoke(ctx, "/prwarden.v1.ReviewService/Nothing", &prwardenv1.GetReviewRequest{}, &prwardenv1.GetReviewResponse{})
	assert.Equal(t, "ROUTE_NOT_FOUND", rpcerr.Reason(status.Convert(err)))
	_, err = client.CreateReview(ctx, &prwardenv1.CreateReviewRequest{Repo: "acme/shop", PrNumber: 1})
	assert.Equal(t, codes.Unimplemented, status.Code(err), "a method that the service lacks: %v", err)
}

func TestInProcessStream(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	_, client, ctx := newTestClient(t, &service{watch: func(r *prwardenv1.WatchReviewRequest, out grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error {
		assert.NoError(t, out.SetHeader(metadata.Pairs("a", "1")))
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
		header, err := stream.Header()
		require.NoError(t, err)
		assert.Equal(t, []string{"1"}, header.Get("a"))
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
	assert.Equal(t, codes.Canceled, status.Code(<-left))
}

func TestInProcessCallsAreCutOffAtShutdown(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	server, client, ctx := newTestClient(t, &service{get: func(ctx context.Context, _ *prwardenv1.GetReviewRequest) (*prwardenv1.GetReviewResponse, error) {
		close(running)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	ended := make(chan error, 1)
	go func() {
		_, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
		ended <- err
	}()
	<-running
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, server.Shutdown(over), "cut off")
	assert.Equal(t, codes.Canceled, status.Code(<-ended))
	_, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	assert.Equal(t, codes.Unavailable, status.Code(err))
	require.NoError(t, server.Shutdown(t.Context()), "a second time there is nothing left to do")
}
