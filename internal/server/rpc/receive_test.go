package rpc

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// stalled is a stream whose message never comes.
type stalled struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stalled) Context() context.Context { return s.ctx }
func (s stalled) RecvMsg(any) error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

func TestMessageHasToComeInTime(t *testing.T) {
	t.Parallel()
	v, err := newValidation()
	require.NoError(t, err)
	assert.Equal(t, receiveTimeout, v.wait)
	v.wait = time.Millisecond
	err = validatedStream{stalled{ctx: t.Context()}, v}.RecvMsg(&prwardenv1.GetRuleRequest{})
	assert.Equal(t, errs.DeadlineExceeded, errs.KindOf(err))
	assert.Equal(t, errs.ReasonDeadlineExceeded, errs.ReasonOf(err))
}

// Without a maximum, as many items as a body has room for would be looked at.
func TestEveryListOfARequestHasAMaximum(t *testing.T) {
	t.Parallel()
	lists := 0
	var look func(md protoreflect.MessageDescriptor)
	look = func(md protoreflect.MessageDescriptor) {
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			switch {
			case fd.IsMap():
				t.Errorf("%s: maps are not looked at", fd.FullName())
			case fd.IsList():
				lists++
				assert.NotEqual(t, protoreflect.MessageKind, fd.Kind(), "%s: lists of messages are not looked at", fd.FullName())
				assert.Less(t, maxItems(fd), math.MaxInt, fd.FullName())
			case fd.Kind() == protoreflect.MessageKind:
				look(fd.Message())
			}
		}
	}
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto, prwardenv1.File_prwarden_v1_key_proto,
	} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				look(methods.Get(j).Input())
			}
		}
	}
	assert.Equal(t, 6, lists)
}
