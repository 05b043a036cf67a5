package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// serveGRPC serves gRPC over TLS: what the faults let through goes to the
// server at target. It returns its address and how to end it.
func serveGRPC(cert tls.Certificate, target string, f *faults) (string, func(), error) {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(frames{})))
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, conn.Close())
	}
	server := grpc.NewServer(
		grpc.Creds(credentials.NewServerTLSFromCert(&cert)),
		grpc.ForceServerCodecV2(frames{}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return forward(conn, stream, f) }),
	)
	go func() { _ = server.Serve(listener) }()
	return "https://" + listener.Addr().String(), func() { server.Stop(); _ = conn.Close() }, nil
}

// forward passes on one call, which has one request.
func forward(conn *grpc.ClientConn, in grpc.ServerStream, f *faults) error {
	method, _ := grpc.MethodFromServerStream(in)
	given, _ := metadata.FromIncomingContext(in.Context())
	call := method[strings.LastIndexByte(method, '/')+1:]
	request := &frame{}
	if err := in.RecvMsg(request); err != nil {
		return err
	}
	if call == "CreateReview" {
		f.started(strings.Join(given.Get("idempotency-key"), ","))
	}
	watch := call == "WatchReview"
	read := strings.HasPrefix(call, "Get") || strings.HasPrefix(call, "List")
	will := f.next(call, read || watch || call == "CreateReview")
	if refused := refusal(will); refused != nil && (!watch || will != away) {
		return refused
	}
	out := metadata.MD{}
	for _, name := range []string{"authorization", "idempotency-key"} {
		out.Set(name, given.Get(name)...)
	}
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(in.Context(), out))
	defer cancel()
	server, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := errors.Join(server.SendMsg(request), server.CloseSend()); err != nil {
		return err
	}
	if header, err := server.Header(); err == nil {
		_ = in.SetHeader(header)
	}
	for {
		answer := &frame{}
		if err := server.RecvMsg(answer); err != nil {
			in.SetTrailer(server.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := in.SendMsg(answer); err != nil {
			return err
		}
		if will == away { // a watch breaks after its first message
			return refusal(away)
		}
	}
}

func refusal(f fault) error {
	code, reason, message, delay := codes.ResourceExhausted, "RATE_LIMITED", "The key made more requests than it may.", 10*time.Millisecond
	switch f {
	case none:
		return nil
	case away:
		code, reason, message = codes.Unavailable, "UNAVAILABLE", "The database can't be reached; try again."
	case hourOff:
		delay = time.Hour
	}
	s, err := status.New(code, message).WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "prwarden"}, &errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
	if err != nil {
		return err
	}
	return s.Err()
}

// frame is a message as it is on the wire.
type frame struct{ bytes []byte }

// frames is a codec that leaves messages as they are.
type frames struct{}

func (frames) Name() string { return "proto" }

func (frames) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, errors.New("not a frame")
	}
	return mem.BufferSlice{mem.SliceBuffer(f.bytes)}, nil
}

func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return errors.New("not a frame")
	}
	f.bytes = data.Materialize()
	return nil
}
