package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// gRPC takes an answer of any size at once, holds it until the caller reads it,
// and tells nobody when it did. But it gives back the memory of a message with
// its last byte, or when the call ends; that is what tells.

// sent is a message whose memory tells when gRPC needs it no more. The codec
// knows it.
type sent struct {
	message any
	freed   chan struct{} // closed then
}

// encode encodes the message as the codec does, into memory that tells. It has
// more than a page, so gRPC does give it back.
func (s sent) encode(c codec) (mem.BufferSlice, error) {
	data, err := c.CodecV2.Marshal(s.message)
	if err != nil {
		return nil, err
	}
	defer data.Free()
	memory := data.MaterializeToBuffer(mem.DefaultBufferPool())
	all := memory.ReadOnlyData()
	return mem.BufferSlice{mem.NewBuffer(&all, teller{memory, s.freed})}, nil
}

// teller is what a message's memory is given back to. No other is taken from
// it.
type teller struct {
	memory mem.Buffer
	freed  chan struct{}
}

// Get implements mem.BufferPool.
func (teller) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool.
func (t teller) Put(*[]byte) {
	t.memory.Free()
	close(t.freed)
}

// sendWhole sends a large message, and returns when it is written, or when the
// call ends, with its error. The answer must not be compressed: gRPC would hold
// other memory.
func sendWhole(ctx context.Context, ss grpc.ServerStream, m any) error {
	message := sent{m, make(chan struct{})}
	if err := ss.SendMsg(message); err != nil {
		return err
	}
	select {
	case <-message.freed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
