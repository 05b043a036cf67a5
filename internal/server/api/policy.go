package api

import (
	"cmp"
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/policy"
)

// Policies answers PolicyService.
type Policies struct {
	prwardenv1.UnimplementedPolicyServiceServer
	service *policy.Service
}

// NewPolicies makes the handlers.
func NewPolicies(service *policy.Service) *Policies { return &Policies{service: service} }

// GetPolicy implements PolicyService.
func (h *Policies) GetPolicy(
	ctx context.Context, _ *prwardenv1.GetPolicyRequest,
) (*prwardenv1.GetPolicyResponse, error) {
	p, err := h.service.Get(ctx, auth.FromContext(ctx).Organization)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetPolicyResponse{Policy: toPolicy(p)}, nil
}

// SetPolicy implements PolicyService.
func (h *Policies) SetPolicy(
	ctx context.Context, req *prwardenv1.SetPolicyRequest,
) (*prwardenv1.SetPolicyResponse, error) {
	sent := req.GetPolicy()
	p, err := h.service.Set(ctx, auth.FromContext(ctx).Organization, fromPolicy(sent), sent.GetEtag())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.SetPolicyResponse{Policy: toPolicy(p)}, nil
}

func toPolicy(p policy.Stored) *prwardenv1.Policy {
	s, days := p.Suppression, clamp(p.Suppression.MaxDays)
	out := &prwardenv1.Policy{
		Disable: p.Disable, Override: map[string]*prwardenv1.Policy_Override{},
		Locked: &prwardenv1.Policy_Locked{Rules: p.Locked.Rules, Rulesets: p.Locked.Rulesets},
		Suppression: &prwardenv1.Policy_Suppression{
			Allowed: &s.Allowed, UpTo: toLevel(s.UpTo), Secrets: &s.Secrets, RequireReason: &s.RequireReason,
			RequireEnd: &s.RequireEnd, MaxDays: &days,
		},
		FailOn: toLevel(p.FailOn), Skips: &prwardenv1.Policy_Skips{}, Publish: toPublish(p.Publish),
		LowConfidence: given(p.LowConfidence),
		Etag:          p.ETag(), UpdatedAt: toTime(p.UpdatedAt), UpdatedBy: given(p.UpdatedBy),
	}
	for id, o := range p.Override {
		out.Override[id] = &prwardenv1.Policy_Override{Severity: toLevel(o.Severity), Exclude: o.Exclude}
	}
	for _, reason := range p.Skips.Tolerated {
		if r := enum[prwardenv1.Skip_Reason](reason, prwardenv1.Skip_Reason_value); r != nil {
			out.Skips.Tolerated = append(out.Skips.Tolerated, *r)
		}
	}

	return out
}

func toLevel(word string) *prwardenv1.Severity_Level {
	return enum[prwardenv1.Severity_Level](word, prwardenv1.Severity_Level_value)
}

// fromPolicy reads a policy. What is not given is as in the default policy.
func fromPolicy(m *prwardenv1.Policy) policy.Policy {
	p := policy.Default()
	p.Disable = m.GetDisable()
	if len(m.GetOverride()) > 0 {
		p.Override = map[string]policy.Override{}
	}
	for id, o := range m.GetOverride() {
		p.Override[id] = policy.Override{Severity: fromSeverityWord(o.Severity), Exclude: o.GetExclude()}
	}
	if l := m.GetLocked(); l != nil {
		p.Locked = policy.Locked{Rules: l.GetRules(), Rulesets: l.GetRulesets()}
	}

	p.FailOn = fromSeverityWord(m.FailOn)
	p.LowConfidence = cmp.Or(m.GetLowConfidence(), p.LowConfidence)
	if s := m.GetSuppression(); s != nil {
		suppressionOf(s, &p.Suppression)
	}
	if publish := m.GetPublish(); publish != nil {
		p.Publish = fromPublish(publish)
	}
	if skips := m.GetSkips(); skips != nil {
		p.Skips.Tolerated = each(skips.GetTolerated(), prwardenv1.Skip_Reason.String)
	}

	return p
}

func suppressionOf(m *prwardenv1.Policy_Suppression, into *policy.Suppression) {
	set := func(from, to *bool) {
		if from != nil {
			*to = *from
		}
	}
	set(m.Allowed, &into.Allowed)
	set(m.Secrets, &into.Secrets)
	set(m.RequireReason, &into.RequireReason)
	set(m.RequireEnd, &into.RequireEnd)
	if m.UpTo != nil {
		into.UpTo = m.UpTo.String()
	}
	if m.MaxDays != nil {
		into.MaxDays = int(*m.MaxDays)
	}
}

// fromSeverityWord is the word of a severity; "" for none.
func fromSeverityWord(s *prwardenv1.Severity_Level) string {
	if s == nil {
		return ""
	}

	return fromSeverity(*s).String()
}
