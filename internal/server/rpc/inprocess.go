package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// Admitted is a request that the gateway admitted, and counted, before it
// makes a call for it.
type Admitted struct {
	Caller    auth.Caller
	Peer      string // IP address and port
	RequestID string
	Pass      *auth.Pass // the gate's; nil for none
}

type admittedKey struct{}

// WithAdmitted returns a context for the call of a request that was admitted.
// It means something in this process only: no context travels over a network.
func WithAdmitted(ctx context.Context, a *Admitted) context.Context {
	return context.WithValue(ctx, admittedKey{}, a)
}

// inProcess is the gRPC service for callers in this process, such as the
// gateway: their calls pass the same chain to the same handlers, without
// HTTP/2 in between. Messages are handed over without a copy, so nobody may
// change what he gave away. What a caller's context carries, such as a trace,
// is there in the handler.
type inProcess struct {
	chain     *Chain
	telemetry stats.Handler     // nil for none
	methods   map[string]method // by /package.Service/Method

	stopping context.Context // done when running calls are to be cut off
	cutOff   context.CancelFunc
	mu       sync.Mutex
	running  int
	closed   bool
	idle     chan struct{} // closed when it is closed and nothing runs
}

type method struct {
	info    grpc.StreamServerInfo
	service any
	handler grpc.StreamHandler
}

var _ grpc.ClientConnInterface = (*inProcess)(nil)

func newInProcess(chain *Chain, telemetry stats.Handler) *inProcess {
	stopping, cutOff := context.WithCancel(context.Background())
	return &inProcess{
		chain: chain, telemetry: telemetry, methods: make(map[string]method),
		stopping: stopping, cutOff: cutOff, idle: make(chan struct{}),
	}
}

// RegisterService implements grpc.ServiceRegistrar.
func (p *inProcess) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, s := range streamsOf(desc) {
		name := "/" + desc.ServiceName + "/" + s.StreamName
		p.methods[name] = method{grpc.StreamServerInfo{FullMethod: name, IsServerStream: s.ServerStreams}, service, s.Handler}
	}
}

// Invoke implements grpc.ClientConnInterface. The call runs on the goroutine of
// its caller.
func (p *inProcess) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	c := &unaryCall{request: args, reply: reply}
	err := p.serve(ctx, method, c, &c.serverCall)
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = c.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = c.trailer
		}
	}
	return err
}

// NewStream implements grpc.ClientConnInterface for methods that take one
// message and answer many. Whoever leaves a stream before its end must end ctx.
func (p *inProcess) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	c := newStreamCall(ctx)
	go func() {
		defer close(c.ended)
		c.err = p.serve(ctx, method, c, &c.serverCall)
	}()
	return clientEnd{c}, nil
}

// serve makes a call with the caller's context. s is its stream and c a part
// of that.
func (p *inProcess) serve(ctx context.Context, name string, s grpc.ServerStream, c *serverCall) (err error) {
	if !p.enter() {
		return rpcerr.Status(errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is stopping.")).Err()
	}
	defer p.leave()
	m, ok := p.methods[name]
	if !ok {
		m = method{info: grpc.StreamServerInfo{FullMethod: name}, handler: unknownMethod}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.stopping, cancel)()
	md, _ := metadata.FromOutgoingContext(ctx)
	ctx = metadata.NewIncomingContext(ctx, md)
	ctx = grpc.NewContextWithServerTransportStream(ctx, transportStream{c, name})
	if p.telemetry != nil {
		ctx = p.telemetry.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: name})
		began := time.Now()
		p.telemetry.HandleRPC(ctx, &stats.Begin{BeginTime: began, IsServerStream: m.info.IsServerStream})
		defer func() { p.telemetry.HandleRPC(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err}) }()
	}
	c.ctx = ctx
	return p.chain.pass(m.service, s, &m.info, m.handler)
}

func (p *inProcess) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.running++
	return true
}

func (p *inProcess) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if p.closed && p.running == 0 {
		close(p.idle)
	}
}

// stop takes no more calls, lets those that run finish until ctx ends, and then
// cuts them off.
func (p *inProcess) stop(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		if p.running == 0 {
			close(p.idle)
		}
	}
	p.mu.Unlock()
	defer p.cutOff()
	select {
	case <-p.idle:
		return nil
	case <-ctx.Done():
	}
	p.cutOff()
	<-p.idle
	return fmt.Errorf("stop gRPC in memory: running calls were cut off: %w", ctx.Err())
}

// handOver makes the empty message to what from is, without copying what that
// holds.
func handOver(to, from any) error {
	if d, ok := to.(*decoded); ok {
		to = d.message
	}
	source, ok := from.(proto.Message)
	target, fits := to.(proto.Message)
	if !ok || !fits || source.ProtoReflect().Descriptor() != target.ProtoReflect().Descriptor() {
		return errors.New("a message of another type was expected")
	}
	into := target.ProtoReflect()
	source.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(fd, v)
		return true
	})
	return nil
}
