package rpc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// A caller who compresses gets whole answers, which are not compressed, on a
// connection that lives.
func TestLargeAnswerToACallerWhoCompresses(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		r := review.Review{ID: id, Status: review.Complete, CreatedAt: servertest.Epoch}
		for i := range 2_000 {
			r.Findings = append(r.Findings,
				finding.Finding{RuleID: "a/b", File: "f", Line: i + 1, Message: strings.Repeat("x", 200)})
		}
		return r, nil
	}
	_, token := b.Key(t)
	client := prwardenv1.NewReviewServiceClient(b.Conn(t))
	for range 3 {
		ctx, cancel := context.WithTimeout(as(t.Context(), token), patience)
		got, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"}, grpc.UseCompressor(gzip.Name))
		cancel()
		require.NoError(t, err)
		assert.Len(t, got.GetReview().GetFindings(), 2_000)
	}
	require.Eventually(t, func() bool { return b.Guard.State() == overload.State{} }, patience, time.Millisecond)
}
