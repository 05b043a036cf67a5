package prwarden_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// WatchReview sends a keep-alive and one update, then fails as it was told to,
// or says that the review is complete.
func (s *server) WatchReview(_ *prwardenv1.WatchReviewRequest,
	stream grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse]) error {
	err := s.next(stream.Context())
	if status.Code(err) == codes.NotFound {
		return err
	}
	running := &prwardenv1.WatchReviewResponse{Status: prwardenv1.Review_in_progress.Enum()}
	_ = stream.Send(&prwardenv1.WatchReviewResponse{Status: running.Status, KeepAlive: true})
	_ = stream.Send(running)
	switch {
	case status.Code(err) == codes.DataLoss: // a stream that ends well, and too early
		return nil
	case err != nil:
		return err
	}
	return stream.Send(&prwardenv1.WatchReviewResponse{Status: prwardenv1.Review_complete.Enum()})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	soon := retry(time.Millisecond)
	for name, test := range map[string]struct {
		fails []error
		want  []prwardenv1.Review_Status
		code  codes.Code
		calls int
	}{
		"to the end": {
			nil, []prwardenv1.Review_Status{prwardenv1.Review_in_progress, prwardenv1.Review_complete}, codes.OK, 1,
		},
		"breaks more often in all than in a row": {
			[]error{failure(t, codes.Unavailable, soon), failure(t, codes.Unavailable, soon),
				failure(t, codes.Unavailable, soon)},
			[]prwardenv1.Review_Status{prwardenv1.Review_in_progress, prwardenv1.Review_in_progress,
				prwardenv1.Review_in_progress, prwardenv1.Review_in_progress, prwardenv1.Review_complete}, codes.OK, 4,
		},
		"ends too early": {
			[]error{failure(t, codes.DataLoss)},
			[]prwardenv1.Review_Status{prwardenv1.Review_in_progress, prwardenv1.Review_in_progress, prwardenv1.Review_complete},
			codes.OK, 2,
		},
		"there is none": {[]error{failure(t, codes.NotFound)}, nil, codes.NotFound, 1},
		"breaks for no good": {[]error{failure(t, codes.Internal, soon)},
			[]prwardenv1.Review_Status{prwardenv1.Review_in_progress}, codes.Internal, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, client := setup(t, test.fails...)
			var got []prwardenv1.Review_Status
			var last error
			for update, err := range client.Watch(t.Context(), "rev_1") {
				if last = err; err == nil {
					got = append(got, update.GetStatus())
				}
			}
			assert.Equal(t, test.code, status.Code(last))
			assert.Equal(t, test.want, got)
			assert.Len(t, s.header("authorization"), test.calls)
		})
	}
}

func TestWatchEndsWithItsUser(t *testing.T) {
	t.Parallel()
	_, client := setup(t)
	for update, err := range client.Watch(t.Context(), "rev_1") {
		require.NoError(t, err)
		assert.Equal(t, prwardenv1.Review_in_progress, update.GetStatus())
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range client.Watch(ctx, "rev_1") {
		assert.Equal(t, codes.Canceled, status.Code(err))
	}
}
