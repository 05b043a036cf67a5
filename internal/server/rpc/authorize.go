package rpc

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// scopeOf returns the scope that a method needs. Any other method needs a key
// and no scope: reflection, which answers any number of requests in one call,
// and unknown methods, so that they tell nothing to strangers.
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
// reads a body, so that both protocols refuse in the same order.
func Authorize(caller auth.Caller, method string) error {
	if scope := scopeOf(method); scope != "" {
		return caller.Require(scope)
	}
	return nil
}

// authorize is the link in which a call without the scope that it needs ends.
func authorize(ctx context.Context, method string, next func(context.Context) error) error {
	if err := Authorize(auth.FromContext(ctx), method); err != nil {
		return err
	}
	return next(ctx)
}
