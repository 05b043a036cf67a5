package clients

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// caller calls one server over one protocol. Its errors are a *Transient or a
// *Refusal.
type caller interface {
	create(ctx context.Context, token, key string, in request) (accepted, error)
	get(ctx context.Context, token, id string) (Review, error)
	cancel(ctx context.Context, token, id string) error
	// watch calls each with every state until the stream ends, which is nil
	// when the server ended it in order.
	watch(ctx context.Context, token, id string, each func(status string)) error
	close() error
}

// request is the body of a creation.
type request struct {
	Repo   string `json:"repo"`
	Number int32  `json:"pr_number"`
}

// accepted is the answer to a creation.
type accepted struct {
	ID        string `json:"review_id"`
	Status    string `json:"status"`
	Estimated int32  `json:"estimated_ms"`
}

// Review is a review as the API shows it.
type Review struct {
	Status      string
	Failure     string // code of a failed one
	Findings    []pulls.Finding
	Fingerprint []string // of the findings, in their order
	Total       int      // of the summary
	CompletedAt time.Time
}

// final are the states that never change again.
func final(status string) bool {
	return status == "complete" || status == "failed" || status == "canceled"
}

// Transient is why a call may be made again: the server could not be reached,
// did not answer in time, or said that it can't now.
type Transient struct {
	Err        error
	RetryAfter time.Duration // 0 when the server did not say
}

// Error implements error.
func (e *Transient) Error() string { return "try again: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Transient) Unwrap() error { return e.Err }

// Refusal is an answer that trying again would not change.
type Refusal struct {
	Code   string // HTTP status or gRPC code
	Reason string // of google.rpc.ErrorInfo
	Text   string
}

// Error implements error.
func (e *Refusal) Error() string { return fmt.Sprintf("%s %s: %s", e.Code, e.Reason, e.Text) }

// refusedWith tells whether err is a refusal for a reason.
func refusedWith(err error, reason string) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Reason == reason
}
