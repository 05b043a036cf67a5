package rpc

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

const (
	// receiveTimeout is how long a caller may take to send its message. Over
	// REST it is as long for the whole request. A stream of reflection, which is
	// counted once, lasts no longer.
	receiveTimeout = 30 * time.Second
	// maxReflectionQuestions is how many questions a stream of reflection
	// answers: a client asks for some tens of files and leaves.
	maxReflectionQuestions = 100
)

// arrival is a call of which only the header was read.
type arrival struct {
	request *overload.Request
	timer   *time.Timer // ends the call when its message does not come
	abandon func() bool // keeps the request open when the call ends
}

type arrivalKey struct{}

// arrive is what gRPC asks before it reads the message of a call, so that
// strangers can't make it hold more messages than there is memory for.
func (a Admission) arrive(ctx context.Context, info *tap.Info) (context.Context, error) {
	limit := overload.LimitOpen
	switch info.FullMethodName {
	case healthpb.Health_Watch_FullMethodName:
		limit = overload.LimitHealthWatches
	case healthpb.Health_Check_FullMethodName, healthpb.Health_List_FullMethodName:
		limit = overload.LimitHealth
	}

	request, err := a.Guard.Open(ctx, limit, credentialsOf(ctx))
	if err == nil && limit == overload.LimitOpen {
		err = request.Message(ctx)
	}
	if err != nil {
		request.Close()
		return nil, rpcerr.Status(err).Err()
	}

	ctx, end := context.WithCancelCause(overload.NewContext(ctx, request))
	at := &arrival{request: request, timer: time.AfterFunc(receiveTimeout, func() {
		end(errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded,
			"The request was not received within %s.", receiveTimeout))
	})}
	at.abandon = context.AfterFunc(ctx, func() { at.timer.Stop(); request.Close() })
	return context.WithValue(ctx, arrivalKey{}, at), nil
}

// begin takes over the request of a call from its arrival. The handler ends it,
// also when the caller has left before.
func begin(ctx context.Context) (at *arrival, end func()) {
	at, ok := ctx.Value(arrivalKey{}).(*arrival)
	if !ok {
		return nil, func() {}
	}
	at.abandon()
	// An answer that is compressed could not be followed (see held), and would
	// cost more than it saves. It fails only when the header was sent already.
	_ = grpc.SetSendCompressor(ctx, encoding.Identity)
	return at, func() { at.timer.Stop(); at.request.Close() }
}

// boundedUnary is the link that counts the message of a call among the large
// ones, and ends its request.
func boundedUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	at, end := begin(ctx)
	defer end()
	if at != nil {
		at.timer.Stop()
		if m, ok := req.(proto.Message); ok {
			if err := at.request.Body(ctx, int64(proto.Size(m))); err != nil {
				return nil, err
			}
		}

		at.request.Received()
	}

	return handler(ctx, req)
}

func boundedStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	at, end := begin(ss.Context())
	defer end()
	if at == nil {
		return handler(srv, ss)
	}
	bounded := &receivingStream{ServerStream: ss, at: at, questions: 1}
	if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") {
		bounded.questions = maxReflectionQuestions
	}
	return handler(srv, bounded)
}

// receivingStream bounds the messages that a stream takes.
type receivingStream struct {
	grpc.ServerStream
	at        *arrival
	questions int // that may still come
}

// RecvMsg implements grpc.ServerStream.
func (s *receivingStream) RecvMsg(m any) error {
	s.at.request.Pause() // while it waits for the caller
	if err := s.ServerStream.RecvMsg(m); err != nil {
		var late *errs.Error
		if errors.As(context.Cause(s.Context()), &late) {
			return late
		}
		return err
	}

	s.at.request.Received()
	if s.questions--; s.questions == 0 {
		s.at.timer.Stop()
	}
	if s.questions < 0 {
		return errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
			"This stream asked %d questions, which is the most that one may; open another.", maxReflectionQuestions)
	}

	return nil
}

// answersUnary is the link that counts large answers until they are written.
// gRPC takes an answer of any size at once and tells nobody when the caller has
// read it, but it gives the memory of the message back.
func answersUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	m, ok := resp.(proto.Message)
	if err != nil || !ok || proto.Size(m) <= overload.Large {
		return resp, err
	}
	request := overload.FromContext(ctx)
	request.Pause()
	written, err := request.Answer(ctx, int64(proto.Size(m)))
	if err != nil {
		return nil, err
	}
	forget := func() bool { return true }
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		forget = context.AfterFunc(c.ctx, written)
	}
	return held{m, func() { forget(); written() }}, nil
}

// connection is a network connection, whose context ends with it. gRPC gives the
// memory of what was not written then to nobody.
type connection struct {
	ctx context.Context
	end context.CancelFunc
}

type connectionKey struct{}

// connections is what gRPC tells of its connections.
type connections struct{}

// TagConn implements stats.Handler.
func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	c := &connection{}
	c.ctx, c.end = context.WithCancel(ctx)
	return context.WithValue(ctx, connectionKey{}, c)
}

// HandleConn implements stats.Handler.
func (connections) HandleConn(ctx context.Context, s stats.ConnStats) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		if _, ended := s.(*stats.ConnEnd); ended {
			c.end()
		}
	}
}

// TagRPC implements stats.Handler.
func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (connections) HandleRPC(context.Context, stats.RPCStats) {}

// held is a message whose memory is counted. The codec knows it.
type held struct {
	message proto.Message
	freed   func()
}

// codec is gRPC's own, except that it tells when a held message was written.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	h, ok := v.(held)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	data, err := c.CodecV2.Marshal(h.message)
	if err != nil {
		h.freed()
		return nil, err
	}

	defer data.Free()
	memory := data.MaterializeToBuffer(mem.DefaultBufferPool())
	all := memory.ReadOnlyData()
	return mem.BufferSlice{mem.NewBuffer(&all, heldMemory{memory, h.freed})}, nil
}

// heldMemory is the pool that the memory of one message is given back to.
type heldMemory struct {
	memory mem.Buffer
	freed  func()
}

// Get implements mem.BufferPool.
func (heldMemory) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool.
func (h heldMemory) Put(*[]byte) {
	h.memory.Free()
	h.freed()
}
