package rpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Admission decides which requests are worked on. The gRPC chain and the HTTP
// middleware ask the same one, once for each request.
type Admission struct {
	Guard    *overload.Guard
	Admitter *auth.Admitter
}

// Admit waits until the request may be worked on, finds out whose it is, and
// counts it. The decision about its rate limit is there also beside an error,
// because every response tells it. A request that is refused because there are
// too many is not counted.
func (a Admission) Admit(ctx context.Context, c auth.Credentials, p auth.Policy) (auth.Caller, auth.Decision, error) {
	request := overload.FromContext(ctx)
	if err := request.Work(ctx); err != nil {
		return auth.Caller{}, a.Admitter.Peek(c), err
	}
	caller, decision, err := a.Admitter.Admit(ctx, c, p)
	if caller.KeyID != "" {
		request.BelongsTo(caller.Organization)
	}
	callOf(ctx).Caller = caller
	return caller, decision, err
}

// admit is the link in which calls from the network are admitted.
func (a Admission) admit(ctx context.Context) (context.Context, error) {
	caller, decision, err := a.Admit(ctx, credentialsOf(ctx), auth.KeyRequired)
	// It fails only when the header was sent already, which nobody did yet.
	_ = grpc.SetHeader(ctx, RateMetadata(decision))
	return auth.NewContext(ctx, caller), err
}

// RateMetadata is a decision as response metadata, the same in gRPC and, as
// headers, in REST. The reset is rounded up: at that second it is over.
func RateMetadata(d auth.Decision) metadata.MD {
	reset := d.Reset.Add(time.Second - time.Nanosecond).Unix()
	return metadata.Pairs(
		RateLimitKey, strconv.Itoa(d.Limit),
		RateRemainingKey, strconv.Itoa(d.Remaining),
		RateResetKey, strconv.FormatInt(reset, 10),
	)
}

// scopeOf returns the scope that a method needs. Any other method, such as
// reflection, needs a key and no scope, so that it tells nothing to strangers.
func scopeOf(method string) auth.Scope {
	switch method {
	case prwardenv1.ReviewService_CreateReview_FullMethodName,
		prwardenv1.ReviewService_CancelReview_FullMethodName:
		return auth.ReviewsWrite
	case prwardenv1.ReviewService_GetReview_FullMethodName,
		prwardenv1.ReviewService_ListReviews_FullMethodName,
		prwardenv1.ReviewService_ListFindings_FullMethodName,
		prwardenv1.ReviewService_GetSarif_FullMethodName,
		prwardenv1.ReviewService_WatchReview_FullMethodName:
		return auth.ReviewsRead
	case prwardenv1.RuleService_ListRulesets_FullMethodName,
		prwardenv1.RuleService_ListRules_FullMethodName,
		prwardenv1.RuleService_GetRule_FullMethodName,
		prwardenv1.RuleService_TestRule_FullMethodName:
		return auth.RulesRead
	case prwardenv1.RuleService_CreateRule_FullMethodName,
		prwardenv1.RuleService_DeleteRule_FullMethodName:
		return auth.RulesWrite
	case prwardenv1.KeyService_CreateKey_FullMethodName,
		prwardenv1.KeyService_ListKeys_FullMethodName,
		prwardenv1.KeyService_DeleteKey_FullMethodName:
		return auth.KeysAdmin
	}

	return ""
}

// Authorize returns PermissionDenied (SCOPE_MISSING) unless the caller may call
// the method, given as `/package.Service/Method`. The gateway asks before it
// reads a body.
func Authorize(caller auth.Caller, method string) error {
	if scope := scopeOf(method); scope != "" {
		return caller.Require(scope)
	}
	return nil
}

func authorizeUnary(ctx context.Context, req any, i *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	if err := Authorize(auth.FromContext(ctx), i.FullMethod); err != nil {
		return nil, err
	}
	return h(ctx, req)
}

func authorizeStream(srv any, ss grpc.ServerStream, i *grpc.StreamServerInfo, h grpc.StreamHandler) error {
	if err := Authorize(auth.FromContext(ss.Context()), i.FullMethod); err != nil {
		return err
	}
	return h(srv, ss)
}
