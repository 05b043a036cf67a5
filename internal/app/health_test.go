package app_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/config"
)

// Probes of services that there are not are no fault of the server.
func TestHealthOfAnUnknownService(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, addr := range map[string]string{
		"server": b.server(t).Addresses().GRPC, "scanner": b.scanner(t, config.Link{}).Addr(),
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
			require.NoError(t, err)
			defer conn.Close()
			health := healthpb.NewHealthClient(conn)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()

			_, err = health.Check(ctx, &healthpb.HealthCheckRequest{Service: "prwarden.v1.ReviewService"})
			assert.Equal(t, codes.NotFound, status.Code(err), "%v", err)
			assert.Contains(t, status.Convert(err).Message(), "unknown service")
			watch, err := health.Watch(ctx, &healthpb.HealthCheckRequest{Service: "prwarden.v1.ReviewService"})
			require.NoError(t, err)
			got, err := watch.Recv()
			require.NoError(t, err)
			assert.Equal(t, healthpb.HealthCheckResponse_SERVICE_UNKNOWN, got.GetStatus())
			list, err := health.List(ctx, &healthpb.HealthListRequest{})
			require.NoError(t, err)
			assert.Contains(t, list.GetStatuses(), "")
		})
	}
	assert.NotContains(t, b.log.String(), `"ERROR"`)
	assert.NotContains(t, b.log.String(), "grpc.health", "probes come often")
}
