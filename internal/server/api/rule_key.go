package api

import (
	"context"
	"errors"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/stats"
)

// RuleService is what the handlers need of the rules.
type RuleService interface {
	ListRulesets(ctx context.Context, org string) ([]rule.Ruleset, error)
	ListRules(ctx context.Context, org, name string) ([]rule.Rule, error)
	GetRule(ctx context.Context, org, id string) (rule.Rule, error)
	CreateRule(ctx context.Context, org string, r rule.Rule) (rule.Rule, error)
	UpdateRule(ctx context.Context, org, id, etag string, change func(rule.Rule) (rule.Rule, error)) (rule.Rule, error)
	DeleteRule(ctx context.Context, org, id string) error
	PushRules(ctx context.Context, org string, p rule.Push, turn rule.Turn) (rule.Plan, error)
	ExportRules(ctx context.Context, org string) (rules []rule.Rule, etag string, err error)
	RuleHistory(ctx context.Context, org, id string, before int64, limit int) ([]rule.Version, error)
	TestRule(ctx context.Context, r rule.Rule, text string) (hits []match.Hit, truncated bool, err error)
}

// RuleNumbers are the numbers of rules that the handlers need.
type RuleNumbers interface {
	Rules(ctx context.Context, org string, in stats.RulesInput) (stats.RulesPage, error)
}

// Rules answers RuleService.
type Rules struct {
	prwardenv1.UnimplementedRuleServiceServer
	service RuleService
	numbers RuleNumbers
	trials  *overload.Semaphore // of organizations that try patterns

	onReviews Trials
	running   *overload.Semaphore // of organizations that try rules on pull requests
	source    bool                // whether source is shown at all
}

// maxTrialWait is how long a call waits for others that try patterns.
const maxTrialWait = time.Second

// NewRules makes the handlers. A call that tries a pattern may compute for
// seconds, so no more of them run at once than there are processors, and one
// organization has half of that. source says whether source is shown at all.
func NewRules(service RuleService, trials Trials, numbers RuleNumbers, source bool) *Rules {
	n := int64(background.Processors())
	patterns := overload.NewSemaphore(overload.Bounds{Total: n, PerOwner: max(1, n/2), Wait: maxTrialWait})
	return &Rules{
		service: service, numbers: numbers, onReviews: trials, running: newTrialSemaphore(), trials: patterns, source: source,
	}
}

// trial waits until the caller may try a pattern. Others are not to wait for it,
// so the call is no more one of those that are worked on.
func (h *Rules) trial(ctx context.Context) (done func(), err error) {
	overload.FromContext(ctx).Release(overload.LimitWork)
	done, err = h.trials.Acquire(ctx, auth.FromContext(ctx).Organization, 1)
	if errors.Is(err, overload.ErrFull) {
		return nil, errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is busy with other patterns; try again.")
	}
	return done, err
}

// ListRulesets implements RuleService.
func (h *Rules) ListRulesets(
	ctx context.Context, _ *prwardenv1.ListRulesetsRequest,
) (*prwardenv1.ListRulesetsResponse, error) {
	sets, err := h.service.ListRulesets(ctx, auth.FromContext(ctx).Organization)
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ListRulesetsResponse{Rulesets: each(sets, toRuleset)}, nil
}

// ListRules implements RuleService.
func (h *Rules) ListRules(
	ctx context.Context, req *prwardenv1.ListRulesRequest,
) (*prwardenv1.ListRulesResponse, error) {
	rules, err := h.service.ListRules(ctx, auth.FromContext(ctx).Organization, req.GetName())
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ListRulesResponse{Rules: each(rules, toRule)}, nil
}

// GetRule implements RuleService.
func (h *Rules) GetRule(ctx context.Context, req *prwardenv1.GetRuleRequest) (*prwardenv1.GetRuleResponse, error) {
	caller := auth.FromContext(ctx)
	r, err := h.service.GetRule(ctx, caller.Organization, req.GetId())
	if err != nil {
		return nil, err
	}
	out := toPricedRule(r)
	if caller.Has(auth.ReviewsRead) {
		found, err := h.numbers.Rules(ctx, caller.Organization, stats.RulesInput{
			RuleID: r.FullID(), Since: req.GetSince(), Until: req.GetUntil(),
		})
		if err != nil {
			return nil, err
		}
		out.Feedback = toFeedback(found)
	}
	return &prwardenv1.GetRuleResponse{Rule: out}, nil
}

// toFeedback is of the numbers of one rule, which are none before it finds anything.
func toFeedback(p stats.RulesPage) *prwardenv1.RuleFeedback {
	out := &prwardenv1.RuleFeedback{Since: p.Since, Until: p.Until}
	for _, n := range p.Rules {
		out.Found, out.FalsePositives = clamp(int(n.Found)), clamp(int(n.FalsePositive))
		out.Decided = clamp(int(n.Accepted + n.FalsePositive + n.WontFix))
	}
	return out
}

// CreateRule implements RuleService.
func (h *Rules) CreateRule(
	ctx context.Context, req *prwardenv1.CreateRuleRequest,
) (*prwardenv1.CreateRuleResponse, error) {
	done, err := h.trial(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := h.service.CreateRule(ctx, auth.FromContext(ctx).Organization, fromRule(req.GetRule()))
	if err != nil {
		return nil, err
	}
	return &prwardenv1.CreateRuleResponse{Rule: toPricedRule(r)}, nil
}

// UpdateRule implements RuleService.
func (h *Rules) UpdateRule(
	ctx context.Context, req *prwardenv1.UpdateRuleRequest,
) (*prwardenv1.UpdateRuleResponse, error) {
	if id := req.GetRule().GetId(); id != "" && rule.FullID(id) != rule.FullID(req.GetId()) {
		return nil, errs.Invalid("id", "can't be changed; leave it out or send %q", req.GetId())
	}
	done, err := h.trial(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	change := func(before rule.Rule) (rule.Rule, error) {
		message := toRule(before)
		if err := merge(message, req.GetRule(), req.GetUpdateMask().GetPaths()); err != nil {
			return rule.Rule{}, err
		}
		return fromRule(message), nil
	}
	r, err := h.service.UpdateRule(ctx, auth.FromContext(ctx).Organization, req.GetId(), req.GetRule().GetEtag(), change)
	if err != nil {
		return nil, err
	}
	return &prwardenv1.UpdateRuleResponse{Rule: toPricedRule(r)}, nil
}

// TestRule implements RuleService.
func (h *Rules) TestRule(ctx context.Context, req *prwardenv1.TestRuleRequest) (*prwardenv1.TestRuleResponse, error) {
	done, err := h.trial(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := rule.Rule{
		Type: word(req.GetType()), Pattern: req.GetPattern(), Multiline: req.GetMultiline(),
		In: rule.PlacesOf(req.GetIn()), Languages: req.GetLanguages(),
		Conditions: fromConditions(req),
		Structure:  fromStructure(req),
		Taint:      fromTaint(req),
		Words:      req.GetWords(),
	}
	hits, truncated, err := h.service.TestRule(ctx, r, req.GetText())
	if err != nil {
		return nil, err
	}
	return &prwardenv1.TestRuleResponse{
		Truncated: truncated, Hits: each(hits, toHit), MatchingCost: toMatchingCost(r),
	}, nil
}

// DeleteRule implements RuleService.
func (h *Rules) DeleteRule(
	ctx context.Context, req *prwardenv1.DeleteRuleRequest,
) (*prwardenv1.DeleteRuleResponse, error) {
	if err := h.service.DeleteRule(ctx, auth.FromContext(ctx).Organization, req.GetId()); err != nil {
		return nil, err
	}
	return &prwardenv1.DeleteRuleResponse{}, nil
}

// Keys answers KeyService.
type Keys struct {
	prwardenv1.UnimplementedKeyServiceServer
	keys *auth.Keys
}

// NewKeys makes the handlers.
func NewKeys(keys *auth.Keys) *Keys { return &Keys{keys: keys} }

// CreateKey implements KeyService.
func (h *Keys) CreateKey(ctx context.Context, req *prwardenv1.CreateKeyRequest) (*prwardenv1.CreateKeyResponse, error) {
	scopes := each(req.GetScopes(), func(s string) auth.Scope { return auth.Scope(s) })
	expires, err := fromTime("expires_at", req.GetExpiresAt())
	if err != nil {
		return nil, err
	}

	k, token, err := h.keys.Create(ctx, auth.FromContext(ctx), auth.NewKey{
		Name: req.GetName(), Scopes: scopes, ExpiresAt: expires, RateLimit: int(req.GetRateLimit()),
	})
	if err != nil {
		return nil, err
	}
	return &prwardenv1.CreateKeyResponse{
		KeyId: k.ID, Token: token, Name: k.Name, Scopes: toScopes(k.Scopes),
		CreatedAt: toTime(k.CreatedAt), ExpiresAt: toTime(k.ExpiresAt),
		CreatedBy: text(k.CreatedBy), ParentKeyId: given(k.Parent), RateLimit: clamp(k.Limit()),
	}, nil
}

// ListKeys implements KeyService.
func (h *Keys) ListKeys(ctx context.Context, _ *prwardenv1.ListKeysRequest) (*prwardenv1.ListKeysResponse, error) {
	keys, err := h.keys.List(ctx, auth.FromContext(ctx).Organization)
	if err != nil {
		return nil, err
	}
	now := h.keys.Now()

	return &prwardenv1.ListKeysResponse{
		Keys: each(keys, func(k auth.Key) *prwardenv1.Key { return toKey(k, now) }),
	}, nil
}

// DeleteKey implements KeyService.
func (h *Keys) DeleteKey(ctx context.Context, req *prwardenv1.DeleteKeyRequest) (*prwardenv1.DeleteKeyResponse, error) {
	if _, err := h.keys.Revoke(
		ctx, auth.FromContext(ctx).Organization, req.GetKeyId(), req.GetWithChildren(),
	); err != nil {
		return nil, err
	}
	return &prwardenv1.DeleteKeyResponse{}, nil
}
