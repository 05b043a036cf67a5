package rpc

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/prwarden/prwarden/internal/server/overload"
)

// Who opens a call and never sends its message keeps its place for 30 seconds.
func TestMessagesMustCome(t *testing.T) {
	t.Parallel()
	for method, limit := range map[string]overload.Limit{
		healthpb.Health_Check_FullMethodName: overload.LimitHealth,
		healthpb.Health_Watch_FullMethodName: overload.LimitHealthWatches,
	} {
		synctest.Test(t, func(t *testing.T) {
			guard := overload.NewGuard(overload.DefaultLimits(), nil, slog.New(slog.DiscardHandler), func(overload.Limit) {})
			s := New(Config{
				Admission: Admission{Guard: guard}, Metrics: grpcprom.NewServerMetrics(), Log: slog.New(slog.DiscardHandler),
				Register: func(r grpc.ServiceRegistrar) { healthpb.RegisterHealthServer(r, health.NewServer()) },
			})
			l := bufconn.Listen(1 << 20)
			go func() { assert.NoError(t, s.Serve(l)) }()
			conn, err := grpc.NewClient("passthrough:///x", grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
			require.NoError(t, err)

			silent, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
			require.NoError(t, err)
			<-time.After(receiveTimeout - time.Second)
			assert.EqualValues(t, 1, guard.Used(limit), method)
			<-time.After(2 * time.Second)
			assert.Zero(t, guard.Used(limit), method)
			require.Error(t, silent.RecvMsg(&healthpb.HealthCheckResponse{}))

			// A call whose message came goes on.
			watch, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
			require.NoError(t, err)
			_, err = watch.Recv()
			require.NoError(t, err)
			<-time.After(2 * receiveTimeout)
			assert.EqualValues(t, 1, guard.Used(overload.LimitHealthWatches), method)

			require.NoError(t, conn.Close())
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}
