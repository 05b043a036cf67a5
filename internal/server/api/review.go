package api

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// ReviewService is what the handlers need of the reviews.
type ReviewService interface {
	Create(ctx context.Context, org string, in review.CreateInput) (review.Accepted, error)
	Get(ctx context.Context, org, id string) (review.Review, error)
	GetComplete(ctx context.Context, org, id string) (review.Review, error)
	List(ctx context.Context, org string, in review.ListInput) ([]review.Review, string, error)
	Search(ctx context.Context, org string, in review.SearchInput) (review.SearchPage, error)
	Repositories(ctx context.Context, org string, in review.RepositoriesInput) ([]review.Repository, string, error)
	Count(ctx context.Context, org string, in review.Selection) (review.Counts, error)
	Findings(ctx context.Context, org string, in review.FindingsInput) ([]finding.Finding, string, error)
	Cancel(ctx context.Context, org, id string) (review.Review, error)
	Watch(ctx context.Context, org, id string, send func(review.Update) error) error
}

// SARIF is what SARIF logs say beside the findings.
type SARIF struct {
	Rules   map[string]rule.Rule // what is known of rules, by full id; nil for nothing
	Version string               // prwarden's own
}

// CheckPages says where a connection shows what a review found.
type CheckPages interface {
	// Page is the page of the check; "" for none.
	Page(ctx context.Context, org string, r review.Review) (string, error)
}

// Bounds of watches.
const (
	// MaxWatches is how many watches one key may have open at once.
	MaxWatches = 100

	// recheckInterval is how often an open watch asks whether its key is still
	// good. With the time that keys are remembered it stays under the 5
	// seconds within which a revocation is promised to be in force.
	recheckInterval = 900 * time.Millisecond

	// watchRetry is when to try again to open one more watch.
	watchRetry = 15 * time.Second
)

// Reviews answers ReviewService. EndWatches must be called before the servers
// are shut down, because watches end by themselves only with their reviews.
type Reviews struct {
	prwardenv1.UnimplementedReviewServiceServer
	service ReviewService
	keys    *auth.Keys
	logs    SARIF
	checks  CheckPages
	diffs   Diffs
	showing *overload.Semaphore // of organizations that are shown diffs

	stopping context.Context
	stop     context.CancelFunc
	watches  *overload.Semaphore // by key id
}

// NewReviews makes the handlers.
func NewReviews(service ReviewService, keys *auth.Keys, logs SARIF, checks CheckPages, diffs Diffs) *Reviews {
	watches := overload.NewSemaphore(overload.Bounds{Total: math.MaxInt64, PerOwner: MaxWatches})
	h := &Reviews{
		service: service, keys: keys, logs: logs, checks: checks, diffs: diffs, showing: newDiffSemaphore(), watches: watches,
	}
	h.stopping, h.stop = context.WithCancel(context.Background())
	return h
}

// EndWatches ends the open watches, and those that are still to come, with
// Unavailable.
func (h *Reviews) EndWatches() { h.stop() }

// CreateReview implements ReviewService.
func (h *Reviews) CreateReview(
	ctx context.Context, req *prwardenv1.CreateReviewRequest,
) (*prwardenv1.CreateReviewResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	key, err := idempotencyKey(md.Get("idempotency-key"))
	if err != nil {
		return nil, err
	}
	accepted, err := h.service.Create(ctx, auth.FromContext(ctx).Organization, review.CreateInput{
		Repo: req.GetRepo(), PRNumber: req.GetPrNumber(), Ruleset: req.GetRuleset(), IdempotencyKey: key,
		Commits:     finding.Commits{Head: req.GetHeadSha(), Base: req.GetBaseSha(), BaseRef: req.GetBaseRef()},
		FailOn:      fromSeverity(req.GetFailOn()),
		RequireBase: req.GetRequireBase(),
		Priority:    review.Priority(word(req.GetPriority())),
		TraceParent: traceParent(ctx),
	})
	if err != nil {
		return nil, err
	}
	rpc.SetReviewID(ctx, accepted.ReviewID)
	resp := &prwardenv1.CreateReviewResponse{
		ReviewId: accepted.ReviewID, Status: prwardenv1.Review_queued.Enum(), EstimatedMs: accepted.EstimatedMS,
	}
	if !accepted.ScannerAvailable {
		resp.ScannerAvailable = new(bool)
	}
	return resp, nil
}

// fromSeverity returns 0 for what is not given.
func fromSeverity(l prwardenv1.Severity_Level) rule.Severity {
	s, _ := rule.ParseSeverity(word(l))
	return s
}

// word returns the word of an enum value, "" for unspecified, and the number
// for a value that this version does not know.
func word(e interface {
	protoreflect.Enum
	String() string
}) string {
	if e.Number() == 0 {
		return ""
	}
	return e.String()
}

// traceParent is the W3C trace context of a request, without its tracestate;
// "" when it is not traced.
func traceParent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// idempotencyKey reads the values of the Idempotency-Key header; "" when there
// is none.
func idempotencyKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}

	key := values[0]
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	switch {
	case len(values) > 1:
		return "", errs.Invalid("Idempotency-Key", "is given more than once")
	case key == "":
		return "", errs.Invalid("Idempotency-Key", "must have at least one character; leave it out instead")
	case strings.ContainsFunc(key, odd):
		return "", errs.Invalid("Idempotency-Key", "must consist of visible ASCII characters")
	}

	return key, nil
}

// GetReview implements ReviewService.
func (h *Reviews) GetReview(
	ctx context.Context, req *prwardenv1.GetReviewRequest,
) (*prwardenv1.GetReviewResponse, error) {
	org := auth.FromContext(ctx).Organization
	r, err := h.service.Get(ctx, org, req.GetReviewId())
	if err != nil {
		return nil, err
	}
	if r.CheckURL, err = h.checks.Page(ctx, org, r); err != nil {
		return nil, err
	}
	return &prwardenv1.GetReviewResponse{Review: toReview(r)}, nil
}

// ListReviews implements ReviewService.
func (h *Reviews) ListReviews(
	ctx context.Context, req *prwardenv1.ListReviewsRequest,
) (*prwardenv1.ListReviewsResponse, error) {
	selection, err := selectionOf(req)
	if err != nil {
		return nil, err
	}
	reviews, next, err := h.service.List(ctx, auth.FromContext(ctx).Organization, review.ListInput{
		Selection: selection, Status: review.Status(word(req.GetStatus())),
		Standing: review.Standing(word(req.GetStanding())), Outcome: finding.Outcome(word(req.GetVerdict())),
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ListReviewsResponse{NextPageToken: next, Reviews: each(reviews, toListed)}, nil
}

// selectionOf is what a request selects reviews by.
func selectionOf(req interface {
	GetQuery() string
	GetRepo() string
	GetPrNumber() int32
	GetCreatedBy() string
	GetSince() *timestamppb.Timestamp
	GetUntil() *timestamppb.Timestamp
}) (review.Selection, error) {
	since, err := fromTime("since", req.GetSince())
	if err != nil {
		return review.Selection{}, err
	}
	until, err := fromTime("until", req.GetUntil())

	return review.Selection{
		Query: req.GetQuery(), Repo: req.GetRepo(), PRNumber: req.GetPrNumber(), CreatedBy: req.GetCreatedBy(),
		Since: since, Until: until,
	}, err
}

// CountReviews implements ReviewService.
func (h *Reviews) CountReviews(
	ctx context.Context, req *prwardenv1.CountReviewsRequest,
) (*prwardenv1.CountReviewsResponse, error) {
	selection, err := selectionOf(req)
	if err != nil {
		return nil, err
	}
	n, err := h.service.Count(ctx, auth.FromContext(ctx).Organization, selection)
	if err != nil {
		return nil, err
	}
	return &prwardenv1.CountReviewsResponse{
		All: clamp(n.All), Failed: clamp(n.Failed), Passed: clamp(n.Passed), Incomplete: clamp(n.Incomplete),
		Running: clamp(n.Running), NotScanned: clamp(n.NotScanned), Partial: n.Partial,
	}, nil
}

// CancelReview implements ReviewService.
func (h *Reviews) CancelReview(
	ctx context.Context, req *prwardenv1.CancelReviewRequest,
) (*prwardenv1.CancelReviewResponse, error) {
	r, err := h.service.Cancel(ctx, auth.FromContext(ctx).Organization, req.GetReviewId())
	if err != nil {
		return nil, err
	}
	return &prwardenv1.CancelReviewResponse{Review: toReview(r)}, nil
}

// WatchReview implements ReviewService. Beside its review, a watch ends when
// its key does, and when the server stops.
func (h *Reviews) WatchReview(
	req *prwardenv1.WatchReviewRequest, stream grpc.ServerStreamingServer[prwardenv1.WatchReviewResponse],
) error {
	caller := auth.FromContext(stream.Context())
	if err := overload.FromContext(stream.Context()).Watch(stream.Context()); err != nil {
		return err
	}
	done, err := h.watches.Acquire(stream.Context(), caller.Actor().String(), 1)
	if err != nil {
		e := errs.New(errs.Unavailable, errs.ReasonWatchLimit,
			"This API key has %d open watches, which is the most that it may have; close one or poll the review.", MaxWatches)
		e.RetryAfter = watchRetry
		return e
	}

	defer done()

	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	go h.guard(ctx, caller, cancel)
	err = h.service.Watch(ctx, caller.Organization, req.GetReviewId(), func(u review.Update) error {
		return stream.Send(toUpdate(u))
	})
	var ended *errs.Error
	if err != nil && errors.As(context.Cause(ctx), &ended) {
		return ended
	}
	return err
}

// Stopping is closed when watches end because the server stops.
func (h *Reviews) Stopping() <-chan struct{} { return h.stopping.Done() }

// guard cancels a watch, with the error that ends it, when its key is not good
// any more or the server stops; it returns when ctx is done. The session of a person
// is asked for by the page that watches.
func (h *Reviews) guard(ctx context.Context, caller auth.Caller, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(recheckInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.stopping.Done():
			cancel(errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is stopping; watch again."))
			return
		case <-ticker.C:
			if caller.UserID != "" {
				continue
			}
			if err := h.keys.Recheck(ctx, caller); errs.KindOf(err) == errs.Unauthenticated && err != nil {
				cancel(err)
				return
			}
		}
	}
}

// ListFindings implements ReviewService.
func (h *Reviews) ListFindings(
	ctx context.Context, req *prwardenv1.ListFindingsRequest,
) (*prwardenv1.ListFindingsResponse, error) {
	findings, next, err := h.service.Findings(ctx, auth.FromContext(ctx).Organization, review.FindingsInput{
		ReviewID: req.GetReviewId(), Kind: finding.Kind(word(req.GetKind())), MinSeverity: fromSeverity(req.GetMinSeverity()),
		RuleID: req.GetRuleId(), File: req.GetFile(), State: finding.State(word(req.GetState())),
		Decision: finding.Decision(word(req.GetDecision())),
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ListFindingsResponse{Findings: each(findings, toFinding), NextPageToken: next}, nil
}

// GetSarif implements ReviewService.
func (h *Reviews) GetSarif(ctx context.Context, req *prwardenv1.GetSarifRequest) (*httpbody.HttpBody, error) {
	org := auth.FromContext(ctx).Organization
	r, err := h.service.GetComplete(ctx, org, req.GetReviewId())
	if err != nil {
		return nil, err
	}
	in := sarif.Input{
		Review: r, Rules: h.logs.Rules, Version: h.logs.Version,
		OmitSuppressed: req.GetSuppressed() == prwardenv1.GetSarifRequest_omit,
	}
	var log bytes.Buffer
	if err := sarif.Write(&log, in); err != nil {
		return nil, err
	}
	return &httpbody.HttpBody{ContentType: sarif.MediaType, Data: log.Bytes()}, nil
}
