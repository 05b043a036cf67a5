package rpc

import (
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/prwarden/prwarden/internal/errs"
)

// gRPC answers a request that it can't decode by itself, and its error would
// look like no other. So the codec of the servers never fails to decode; it
// notes the failure in a decoded, and the chain ends the request where it ends
// other invalid ones.

// decoded is where a request is decoded to.
type decoded struct {
	message any
	err     error // why it could not be
}

// codec is gRPC's own, except that it decodes into a *decoded without failing
// and measures what it decodes, and that it knows messages which are sent.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if s, ok := v.(sent); ok {
		return s.encode(c)
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	d, ok := v.(*decoded)
	switch {
	case !ok:
		return c.CodecV2.Unmarshal(data, v)
	case data.Len() > maxMessage:
		d.err = errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge, "The request has %d bytes; this server takes at most %d.", data.Len(), maxMessage)
	case c.CodecV2.Unmarshal(data, d.message) != nil:
		d.err = errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "The request is not a valid message of this method.")
	}
	return nil
}

// registrar registers unary methods as streams of one message. gRPC runs the
// interceptors of a unary method when its whole message was received, so that
// anybody could make it hold messages; those of a stream run first, and the
// message is read when the handler asks for it.
type registrar struct{ server *grpc.Server }

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	d := *desc
	d.Methods, d.Streams = nil, streamsOf(desc)
	r.server.RegisterService(&d, impl)
}

// streamsOf returns all methods of a service as streams.
func streamsOf(desc *grpc.ServiceDesc) []grpc.StreamDesc {
	all := slices.Clone(desc.Streams)
	for _, m := range desc.Methods {
		all = append(all, grpc.StreamDesc{
			StreamName: m.MethodName,
			Handler:    asStream(m.Handler),
			// Of more than one answer, as far as gRPC knows: it runs
			// interceptors of streams for these.
			ServerStreams: true,
		})
	}
	return all
}

// GetServiceInfo lets reflection list what is registered.
func (r registrar) GetServiceInfo() map[string]grpc.ServiceInfo { return r.server.GetServiceInfo() }

func asStream(h grpc.MethodHandler) grpc.StreamHandler {
	return func(srv any, ss grpc.ServerStream) error {
		resp, err := h(srv, ss.Context(), ss.RecvMsg, nil)
		if err != nil {
			return err
		}
		return ss.SendMsg(resp)
	}
}

// unknownMethod answers calls of methods that there are not. It is a stream
// handler, so these pass the chain too.
func unknownMethod(_ any, ss grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(ss)
	return errs.New(errs.Unimplemented, errs.ReasonRouteNotFound, "There is no method %s; ask server reflection for those that there are.", shown(name))
}
