package rest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/prwarden/prwarden/internal/server/rpc"
)

// admittedConn makes calls for requests that the gateway admitted.
type admittedConn struct {
	grpc.ClientConnInterface
	gateway *Gateway
}

// Invoke implements grpc.ClientConnInterface.
func (c admittedConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(admitted(ctx), method, args, reply, opts...)
}

func admitted(ctx context.Context) context.Context {
	e := exchangeOf(ctx)
	return rpc.WithAdmitted(ctx, &rpc.Admitted{Caller: e.caller, Peer: e.peer, RequestID: e.requestID, Pass: e.pass})
}

// NewStream implements grpc.ClientConnInterface. It makes the Header of a
// stream wait for its first message and fail when that does. grpc-gateway asks
// for the header before it answers, so a stream that fails at once is answered
// like any other failed call, and not with an error inside of a stream and
// grpc-gateway's own idea of its status.
func (c admittedConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := c.ClientConnInterface.NewStream(admitted(ctx), desc, method, opts...)
	if err != nil {
		return nil, err
	}
	rt := c.gateway.routes.byMethod(method)
	if rt == nil {
		return nil, fmt.Errorf("no route for %s", method)
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByName(rt.output.FullName())
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", method, err)
	}
	return &awaitedStream{ClientStream: s, output: mt}, nil
}

// awaitedStream is used by one goroutine, as grpc-gateway does.
type awaitedStream struct {
	grpc.ClientStream
	output protoreflect.MessageType
	first  proto.Message // nil before and after
	ended  bool
}

func (s *awaitedStream) Header() (metadata.MD, error) {
	header, err := s.ClientStream.Header()
	if err != nil {
		return nil, err
	}
	first := s.output.New().Interface()
	switch err := s.ClientStream.RecvMsg(first); {
	case errors.Is(err, io.EOF):
		s.ended = true
	case err != nil:
		return nil, err
	default:
		s.first = first
	}
	return header, nil
}

func (s *awaitedStream) RecvMsg(m any) error {
	if s.ended {
		return io.EOF
	}
	if s.first == nil {
		return s.ClientStream.RecvMsg(m)
	}
	into, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a message", m)
	}
	proto.Merge(into, s.first)
	s.first = nil
	return nil
}
