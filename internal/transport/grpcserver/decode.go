package grpcserver

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/errs"
)

// registrar registers services so that a request which can't be decoded passes
// the chain too. By itself gRPC decodes a unary request before it calls any
// interceptor, so such a request would be neither counted nor logged, and
// would get an error of another shape than all others.
type registrar struct{ server *grpc.Server }

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	d := *desc
	d.Methods = slices.Clone(desc.Methods)
	for i, m := range d.Methods {
		d.Methods[i].Handler = decodeInside(m.Handler)
	}
	r.server.RegisterService(&d, impl)
}

// GetServiceInfo lets reflection list what is registered.
func (r registrar) GetServiceInfo() map[string]grpc.ServiceInfo { return r.server.GetServiceInfo() }

// unreadable stands for a request that could not be decoded.
type unreadable struct{ err error }

func decodeInside(h grpc.MethodHandler) grpc.MethodHandler {
	return func(srv any, ctx context.Context, dec func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		var failed error
		later := func(v any) error {
			failed = dec(v)
			return nil
		}
		return h(srv, ctx, later, func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if failed != nil {
				req = unreadable{failed}
			}
			return chain(ctx, req, info, handler)
		})
	}
}

// decodeError is what a caller is told of a request that gRPC could not
// decode. Its Internal would blame the server for the caller's bytes.
func decodeError(err error) error {
	if status.Code(err) == codes.Internal {
		return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "The request is not a valid message of this method.")
	}
	return err
}

// unknownMethod answers calls of methods that there are not. It is a stream
// handler, so these pass the chain too.
func unknownMethod(_ any, ss grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(ss)
	return errs.New(errs.Unimplemented, errs.ReasonRouteNotFound, "There is no method %s; ask server reflection for those that there are.", name)
}
