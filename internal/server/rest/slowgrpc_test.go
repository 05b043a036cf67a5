package rest_test

import (
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// shared is one connection of HTTP/2 for many calls, as a proxy has it. It
// reads everything of those that it asks for, and of others the first 64 KiB.
type shared struct {
	*servertest.HTTP2
	writing sync.Mutex // a framer takes one writer at a time
	ended   chan uint32
}

func share(t *testing.T, b *servertest.Bundle) *shared {
	t.Helper()
	c := &shared{HTTP2: servertest.NewHTTP2(t, dial(t, b.GRPC), nil, 24*time.Hour), ended: make(chan uint32, 1000)}
	require.NoError(t, c.WriteWindowUpdate(0, 1<<30))
	go func() {
		defer close(c.ended)
		for {
			f, err := c.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.HeadersFrame:
				if f.StreamEnded() {
					c.ended <- f.StreamID
				}
			case *http2.PingFrame:
				if !f.IsAck() {
					c.writing.Lock()
					err = c.WritePing(true, f.Data)
					c.writing.Unlock()
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// ask asks for a review, of which window bytes are read beyond the first.
func (c *shared) ask(t *testing.T, token string, window uint32) (stream uint32) {
	t.Helper()
	c.writing.Lock()
	defer c.writing.Unlock()
	stream, err := c.Start(false, servertest.Request(true, prwardenv1.ReviewService_GetReview_FullMethodName,
		servertest.Field{Name: "authorization", Value: "Bearer " + token})...)
	require.NoError(t, err)
	message, err := proto.Marshal(&prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	require.NoError(t, err)
	if window > 0 {
		require.NoError(t, c.WriteWindowUpdate(stream, window))
	}
	require.NoError(t, c.WriteData(stream, true,
		append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)))
	return stream
}

// Who doesn't read one answer keeps the room of that one, for as long as he
// likes, and nothing else: not the other calls of the connection, which may be
// other people's.
func TestSlowReaderOverGRPC(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		c := share(t, b)
		unread := c.ask(t, token, 0)
		pause(time.Second)
		size := b.Guard.Used(overload.LimitAnswers)
		assert.Greater(t, size, int64(1<<20))
		for range 3 {
			pause(3 * time.Minute)
			start := time.Now()
			read := c.ask(t, token, 1<<30)
			assert.Equal(t, read, <-c.ended)
			assert.Less(t, time.Since(start), time.Second)
			synctest.Wait()
			assert.Equal(t, overload.State{}, b.Guard.State())
			assert.Equal(t, size, b.Guard.Used(overload.LimitAnswers))
		}
		c.writing.Lock()
		require.NoError(t, c.WriteWindowUpdate(unread, 1<<30))
		c.writing.Unlock()
		assert.Equal(t, unread, <-c.ended, "late, and whole")

		c.ask(t, token, 0)
		left := c.ask(t, token, 0)
		pause(time.Second)
		assert.Equal(t, 2*size, b.Guard.Used(overload.LimitAnswers))
		c.writing.Lock()
		require.NoError(t, c.WriteRSTStream(left, http2.ErrCodeCancel))
		c.writing.Unlock()
		synctest.Wait()
		assert.Equal(t, size, b.Guard.Used(overload.LimitAnswers))
		require.NoError(t, c.Close())
		synctest.Wait()
		assert.Zero(t, b.Guard.Used(overload.LimitAnswers))
	})
}

// Answers that nobody reads leave room for those of other organizations.
func TestUnreadAnswersOverGRPC(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		_, other := b.KeyOf(t, "other")
		greedy := share(t, b)
		for range 40 {
			greedy.ask(t, token, 0)
		}
		pause(100 * time.Millisecond)
		c := share(t, b)
		start := time.Now()
		read := c.ask(t, other, 1<<30)
		assert.Equal(t, read, <-c.ended)
		assert.Less(t, time.Since(start), 100*time.Millisecond)
		pause(5 * time.Second)
		most := overload.DefaultLimits()[overload.LimitAnswers].PerOwner
		assert.LessOrEqual(t, b.Guard.Used(overload.LimitAnswers), most, "the others were refused")
		assert.Greater(t, b.Guard.Used(overload.LimitAnswers), most/2)
	})
}

// A caller who has gone silent does not keep his connection.
func TestDeadReaderOverGRPC(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		c := &shared{HTTP2: servertest.NewHTTP2(t, dial(t, b.GRPC), nil, time.Hour)}
		c.ask(t, token, 1<<30)
		pause(time.Second)
		assert.Positive(t, b.Guard.Used(overload.LimitAnswers))
		pause(90 * time.Second)
		assert.Zero(t, b.Guard.Used(overload.LimitAnswers))
	})
}

// A stream of reflection, which is counted once, ends, and is no watch.
func TestReflectionThatAsksNothingEnds(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		c := share(t, b)
		stream, err := c.Start(false,
			servertest.Request(true, reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName,
				servertest.Field{Name: "authorization", Value: "Bearer " + token})...)
		require.NoError(t, err)
		pause(time.Second)
		assert.Equal(t, overload.State{Open: 1}, b.Guard.State())
		start := time.Now()
		assert.Equal(t, stream, <-c.ended)
		assert.LessOrEqual(t, time.Since(start), 30*time.Second)
	})
}
