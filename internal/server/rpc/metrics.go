package rpc

import (
	"context"
	"strings"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// unknown is what metrics call every method that there is not. Callers choose
// those names, without a key too, and each would be a time series of its own.
const unknown = "/unknown/unknown"

// measured makes an interceptor of the metrics.
func measured(metrics *grpcprom.ServerMetrics) grpc.StreamServerInterceptor {
	unary, stream := metrics.UnaryServerInterceptor(), metrics.StreamServerInterceptor()
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		md := methodOf(info.FullMethod)
		switch {
		case md == nil:
			fixed := *info
			fixed.FullMethod = unknown
			return stream(srv, ss, &fixed, handler)
		case md.IsStreamingClient() || md.IsStreamingServer():
			return stream(srv, ss, info, handler)
		}
		_, err := unary(ss.Context(), nil, &grpc.UnaryServerInfo{Server: srv, FullMethod: info.FullMethod},
			func(context.Context, any) (any, error) { return nil, handler(srv, ss) })
		return err
	}
}

// methodOf returns the descriptor of a method, given as
// `/package.Service/Method`; nil when this program knows none.
func methodOf(method string) protoreflect.MethodDescriptor {
	name := strings.Replace(strings.TrimPrefix(method, "/"), "/", ".", 1)
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	md, _ := d.(protoreflect.MethodDescriptor)
	return md
}
