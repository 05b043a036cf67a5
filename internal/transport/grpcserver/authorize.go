package grpcserver

import (
	"context"

	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/admission"
)

// access is who may make a call.
type access struct {
	policy admission.Policy
	scope  admission.Scope // "" for none
}

// accessOf says who may call a method. A method that is not listed needs a
// key, so that unknown methods tell nothing to strangers.
func accessOf(method string) access {
	switch method {
	case prwardenv1.ReviewService_CreateReview_FullMethodName,
		prwardenv1.ReviewService_CancelReview_FullMethodName:
		return access{scope: admission.ReviewsWrite}
	case prwardenv1.ReviewService_GetReview_FullMethodName,
		prwardenv1.ReviewService_ListReviews_FullMethodName,
		prwardenv1.ReviewService_WatchReview_FullMethodName:
		return access{scope: admission.ReviewsRead}
	case prwardenv1.RuleService_ListRulesets_FullMethodName,
		prwardenv1.RuleService_ListRules_FullMethodName,
		prwardenv1.RuleService_GetRule_FullMethodName,
		prwardenv1.RuleService_TestRule_FullMethodName:
		return access{scope: admission.RulesRead}
	case prwardenv1.RuleService_CreateRule_FullMethodName,
		prwardenv1.RuleService_DeleteRule_FullMethodName:
		return access{scope: admission.RulesWrite}
	case prwardenv1.KeyService_CreateKey_FullMethodName,
		prwardenv1.KeyService_ListKeys_FullMethodName,
		prwardenv1.KeyService_DeleteKey_FullMethodName:
		return access{scope: admission.KeysAdmin}
	case reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName,
		reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName:
		return access{policy: admission.Open}
	}
	return access{}
}

// Authorize returns PermissionDenied (SCOPE_MISSING) unless the caller may call
// the method, given as `/package.Service/Method`. The gateway asks before it
// reads a body, so that both protocols refuse in the same order.
func Authorize(caller admission.Caller, method string) error {
	if a := accessOf(method); a.scope != "" {
		return caller.Require(a.scope)
	}
	return nil
}

// authorize is the link in which a call without the scope that it needs ends.
func authorize(ctx context.Context, method string, next func(context.Context) error) error {
	if err := Authorize(admission.FromContext(ctx), method); err != nil {
		return err
	}
	return next(ctx)
}
