package api

import (
	"context"
	"time"

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
	out := &prwardenv1.RuleStats{
		RuleId: r.RuleID, Found: clamp(int(r.Found)), Fixed: clamp(int(r.Fixed)), Suppressed: clamp(int(r.Suppressed)),
		WorkMib: clamp(int((r.Work + 1<<19) >> 20)), Accepted: clamp(int(r.Accepted)),
		FalsePositive: clamp(int(r.FalsePositive)), WontFix: clamp(int(r.WontFix)),
	}
	if r.Repo != "" {
		out.Repo = &r.Repo
	}

	return out
}

// GetTrends implements StatsService.
func (h *Stats) GetTrends(
	ctx context.Context, req *prwardenv1.GetTrendsRequest,
) (*prwardenv1.GetTrendsResponse, error) {
	t, err := h.service.Trends(ctx, auth.FromContext(ctx).Organization, stats.TrendsInput{
		Since: req.GetSince(), Until: req.GetUntil(), Repo: req.GetRepo(), Bucket: stats.Bucket(word(req.GetBucket())),
	})
	if err != nil {
		return nil, err
	}

	out := &prwardenv1.GetTrendsResponse{
		Buckets: each(t.Buckets, toTrendBucket), Since: t.Since, Until: t.Until,
		Found: clamp(int(t.Found)), Fixed: clamp(int(t.Fixed)),
	}
	if t.Found > 0 {
		out.FixPercent = new(clamp(int(100 * t.Fixed / t.Found)))
	}
	if t.Fixed > 0 {
		out.MeanFixSeconds = seconds(t.Mean)
	}
	if t.P90 > 0 {
		out.MedianFixSeconds, out.P90FixSeconds = seconds(t.Median), seconds(t.P90)
	}

	return out, nil
}

func seconds(d time.Duration) *int32 { return new(clamp(int(d / time.Second))) }

func toTrendBucket(p stats.Part) *prwardenv1.TrendBucket {
	return &prwardenv1.TrendBucket{
		Since: p.Since, Until: p.Until, Found: toSummary(p.Found), Fixed: toSummary(p.Fixed), Open: toSummary(p.Open),
	}
}
