package load

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// GRPC is a Caller of one unary method over a connection of its own. It encodes
// its request once and doesn't decode answers.
type GRPC struct {
	conn     *grpc.ClientConn
	method   string
	metadata metadata.MD
	request  []byte
	body     func([]byte)
}

// maxAnswer is the largest answer that is taken, in bytes.
const maxAnswer = 64 << 20

// DialGRPC makes a caller of a method, given as `/package.Service/Method`, at
// addr (HOST:PORT). body gets every answer unless it is nil.
func DialGRPC(addr, method string, request proto.Message, md metadata.MD, body func([]byte)) (*GRPC, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(maxAnswer)))
	if err != nil {
		return nil, err
	}
	return &GRPC{conn: conn, method: method, metadata: md, request: data, body: body}, nil
}

// Close closes the connection.
func (g *GRPC) Close() error { return g.conn.Close() }

// Call implements Caller.
func (g *GRPC) Call(ctx context.Context) error {
	return g.conn.Invoke(metadata.NewOutgoingContext(ctx, g.metadata), g.method, g.request, g.body)
}

// rawCodec sends bytes as they are and shows what came to a function.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

// Name implements encoding.CodecV2: what is sent was encoded as protobuf.
func (rawCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	data, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not bytes", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	show, ok := v.(func([]byte))
	if !ok {
		return fmt.Errorf("%T is not a function", v)
	}
	if show != nil {
		show(data.Materialize())
	}
	return nil
}
