package rest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/review"
)

// BenchmarkGetReview compares the two protocols over loopback, with the whole
// chain and no store.
func BenchmarkGetReview(b *testing.B) {
	bundle := servertest.Start(b, servertest.Options{})
	bundle.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Complete, Repo: "acme/shop", PRNumber: 7, CreatedAt: servertest.Epoch},
			nil
	}
	_, token := bundle.Key(b)
	b.Run("REST", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, bundle.URL+"/v1/reviews/rev_1",
					strings.NewReader(""))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+token)
				resp, err := client.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Error(resp.Status)
					return
				}
			}
		})
	})
	b.Run("gRPC", func(b *testing.B) {
		client := prwardenv1.NewReviewServiceClient(bundle.Conn(b))
		ctx := metadata.AppendToOutgoingContext(b.Context(), "authorization", "Bearer "+token)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, err := client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	require.NotEmpty(b, bundle.Logs.String())
}
