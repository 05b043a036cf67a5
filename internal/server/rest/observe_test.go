package rest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/rest"
)

// Every request is told of, also what is refused before it is a gRPC call, and
// in words that clients can't choose.
func TestObserve(t *testing.T) {
	t.Parallel()
	heard := make(chan rest.Answered, 1)
	b := servertest.Start(t, servertest.Options{Observe: func(a rest.Answered) { heard <- a }})
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Queued, CreatedAt: servertest.Epoch}, nil
	}

	_, token := b.Key(t)
	auth := servertest.Bearer(token)
	const reviewRoute = "/v1/reviews/{review_id}"
	tests := []struct {
		method, path, body string
		headers            []string
		want               rest.Answered
	}{
		{"GET", "/v1/reviews/rev_1", "", []string{auth}, rest.Answered{Method: "GET", Route: reviewRoute, Status: 200}},
		{"GET", "/v1/reviews/rev_1", "", nil, rest.Answered{Method: "GET", Route: "unknown", Status: 401}},
		{"GET", "/v1/reviews/rev_1?secret=1", "", []string{auth},
			rest.Answered{Method: "GET", Route: reviewRoute, Status: 400}},
		{"POST", "/v1/reviews", "{", []string{auth}, rest.Answered{Method: "POST", Route: "/v1/reviews", Status: 400}},
		{"PATCH", "/v1/reviews", "", []string{auth}, rest.Answered{Method: "other", Route: "unknown", Status: 405}},
		{"MADEUP", "/made/up", "", []string{auth}, rest.Answered{Method: "other", Route: "unknown", Status: 404}},
		{"GET", "/healthz", "", nil, rest.Answered{Method: "GET", Route: "/healthz", Status: 200}},
		{"GET", "/openapi.json", "", nil, rest.Answered{Method: "GET", Route: "/openapi.json", Status: 200}},
		{"GET", "/docs", "", nil, rest.Answered{Method: "GET", Route: "/docs", Status: 200}},
	}

	for _, tt := range tests {
		require.Equal(t, tt.want.Status, b.Do(t, tt.method, tt.path, tt.body, tt.headers...).Status)
		got := <-heard
		got.Took = 0
		assert.Equal(t, tt.want, got)
	}
}

// A flood that is refused is not written down line by line, over neither
// protocol.
func TestFloodIsNotLoggedLineByLine(t *testing.T) {
	onPipes(t, servertest.Options{Limit: 3}, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		conn := b.Conn(t)
		for range 300 {
			b.Do(t, "GET", "/v1/rules", "", servertest.Bearer(token))
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
			_, _ = prwardenv1.NewRuleServiceClient(conn).ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{})
		}

		for _, message := range []string{"request", "call"} {
			told := 0
			for _, line := range b.Logs.Lines(message) {
				if line["level"] == "INFO" {
					told++
				}
			}
			assert.Less(t, told, 250, message)
			assert.GreaterOrEqual(t, told, 100, message)
		}
	})
}
