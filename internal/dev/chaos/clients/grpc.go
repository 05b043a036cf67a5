package clients

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// rpc calls a server over gRPC.
type rpc struct {
	conn *grpc.ClientConn
	api  prwardenv1.ReviewServiceClient
}

// maxReconnect is the longest time between two tries to connect, well below
// the time after which a server that is back must answer.
const maxReconnect = 250 * time.Millisecond

func newRPC(addr string) (*rpc, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxReconnect},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, err
	}
	return &rpc{conn: conn, api: prwardenv1.NewReviewServiceClient(conn)}, nil
}

func (r *rpc) close() error { return r.conn.Close() }

func with(ctx context.Context, token string, pairs ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, append([]string{"authorization", "Bearer " + token}, pairs...)...)
}

func (r *rpc) create(ctx context.Context, token, key string, in request) (accepted, error) {
	out, err := r.api.CreateReview(with(ctx, token, "idempotency-key", key), &prwardenv1.CreateReviewRequest{Repo: in.Repo, PrNumber: in.Number})
	if err != nil {
		return accepted{}, told(ctx, err)
	}
	return accepted{ID: out.GetReviewId(), Status: out.GetStatus().String(), Estimated: out.GetEstimatedMs()}, nil
}

func (r *rpc) get(ctx context.Context, token, id string) (Review, error) {
	answer, err := r.api.GetReview(with(ctx, token), &prwardenv1.GetReviewRequest{ReviewId: id})
	if err != nil {
		return Review{}, told(ctx, err)
	}
	in := answer.GetReview()
	out := Review{Status: in.GetStatus().String(), Failure: in.GetError().GetCode(), CompletedAt: in.GetCompletedAt().AsTime()}
	for _, f := range in.GetFindings() {
		out.Findings = append(out.Findings, pulls.Finding{
			RuleID: f.GetRuleId(), Severity: f.GetSeverity().String(), File: f.GetFile(), Line: int(f.GetLine()), Snippet: f.GetSnippet(),
		})
		out.Fingerprint = append(out.Fingerprint, f.GetFingerprint())
	}
	s := in.GetSummary()
	out.Total = int(s.GetCritical() + s.GetHigh() + s.GetMedium() + s.GetWarning() + s.GetLow() + s.GetInfo())
	return out, nil
}

func (r *rpc) cancel(ctx context.Context, token, id string) error {
	_, err := r.api.CancelReview(with(ctx, token), &prwardenv1.CancelReviewRequest{ReviewId: id})
	if err != nil {
		return told(ctx, err)
	}
	return nil
}

func (r *rpc) watch(ctx context.Context, token, id string, each func(string)) error {
	stream, err := r.api.WatchReview(with(ctx, token), &prwardenv1.WatchReviewRequest{ReviewId: id})
	if err != nil {
		return told(ctx, err)
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return told(ctx, err)
		}
		each(m.GetStatus().String())
	}
}

// told says what a gRPC error means.
func told(ctx context.Context, err error) error {
	st := status.Convert(err)
	r := &Refusal{Code: st.Code().String(), Text: st.Message()}
	transient := &Transient{Err: r}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			r.Reason = d.GetReason()
		case *errdetails.RetryInfo:
			transient.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	switch st.Code() {
	case codes.Unavailable, codes.ResourceExhausted,
		codes.DeadlineExceeded: // the caller's own deadline, which the server knows and may see pass first
		return transient
	case codes.Canceled:
		if ctx.Err() != nil { // likewise
			return transient
		}
	}
	return r
}
