package api

import (
	"context"
	"math"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/stats"
)

// Stats answers StatsService.
type Stats struct {
	prwardenv1.UnimplementedStatsServiceServer
	service *stats.Service
}

// NewStats makes the handlers.
func NewStats(service *stats.Service) *Stats { return &Stats{service: service} }

// ListRuleStats implements StatsService.
func (h *Stats) ListRuleStats(
	ctx context.Context, req *prwardenv1.ListRuleStatsRequest,
) (*prwardenv1.ListRuleStatsResponse, error) {
	found, err := h.service.Rules(ctx, auth.FromContext(ctx).Organization, stats.RulesInput{
		Since: req.GetSince(), Until: req.GetUntil(), Repo: req.GetRepo(), RuleID: req.GetRuleId(),
		MinSeverity: fromSeverity(req.GetMinSeverity()), ByRepository: req.GetByRepository(),
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListRuleStatsResponse{
		Rules: each(found.Rules, toRuleStats), Since: found.Since, Until: found.Until, NextPageToken: found.Next,
	}, nil
}

func toRuleStats(r stats.Rule) *prwardenv1.RuleStats {
	count := func(n int64) int32 { return int32(min(n, math.MaxInt32)) }
	out := &prwardenv1.RuleStats{
		RuleId: r.RuleID, Found: count(r.Found), Fixed: count(r.Fixed), Suppressed: count(r.Suppressed),
		WorkMib: count((r.Work + 1<<19) >> 20),
	}
	if r.Repo != "" {
		out.Repo = &r.Repo
	}

	return out
}
