package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/errs"
)

// RegisterHealth registers a health service with a Server.
func RegisterHealth(r grpc.ServiceRegistrar, h healthpb.HealthServer) {
	healthpb.RegisterHealthServer(r, health{h})
}

// health says of a service that there is not what the chain takes for an
// expected error. Watch needs no error for that.
type health struct{ healthpb.HealthServer }

// Check implements healthpb.HealthServer.
func (h health) Check(ctx context.Context, req *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	resp, err := h.HealthServer.Check(ctx, req)
	if status.Code(err) == codes.NotFound {
		return nil, errs.New(errs.NotFound, errs.ReasonRouteNotFound, "unknown service; the empty name asks for the whole server")
	}
	return resp, err
}

// isHealth says whether a method, given as `/package.Service/Method`, is one of
// the health service.
func isHealth(method string) bool {
	return strings.HasPrefix(method, "/"+healthpb.Health_ServiceDesc.ServiceName+"/")
}
