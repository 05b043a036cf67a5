package api

import (
	"context"
	"errors"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Trials is what the handlers need to try rules on pull requests.
type Trials interface {
	Try(ctx context.Context, org string, in review.TrialInput) (review.Trial, error)
}

// maxTrials is how many trials of rules on pull requests run at once. Each takes
// a scanner's slot from reviews for up to review.TrialTime, so an organization
// has one at a time.
const maxTrials = 2

// maxRunWait is how long a trial waits for others, and trialRetry when to try
// again after that.
const (
	maxRunWait = 5 * time.Second
	trialRetry = 10 * time.Second

	// maxCheck is how long the rules of a trial may run their cases.
	maxCheck = 10 * time.Second
)

func newTrialSemaphore() *overload.Semaphore {
	return overload.NewSemaphore(overload.Bounds{Total: maxTrials, PerOwner: 1, Wait: maxRunWait})
}

// TryRules implements RuleService. Beside the scope of its name it needs that of
// findings, because it shows what they show.
func (h *Rules) TryRules(ctx context.Context, req *prwardenv1.TryRulesRequest) (*prwardenv1.TryRulesResponse, error) {
	caller := auth.FromContext(ctx)
	if err := caller.Require(auth.ReviewsRead); err != nil {
		return nil, err
	}
	rules := each(req.GetRules(), fromRule)
	if err := h.checkTrial(ctx, rules, maxCheck); err != nil {
		return nil, err
	}

	done, err := h.running.Acquire(ctx, caller.Organization, 1)
	if errors.Is(err, overload.ErrFull) {
		e := errs.New(errs.Unavailable, errs.ReasonUnavailable,
			"Rules are being tried on pull requests already, of this organization or of others; try again.")
		e.RetryAfter = trialRetry
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	defer done()

	trial, err := h.onReviews.Try(ctx, caller.Organization, review.TrialInput{
		Rules: rules, Repo: req.GetRepo(), Last: int(req.GetLast()),
	})
	if err != nil {
		return nil, err
	}
	out := toTrial(rules, trial)
	if !h.source || !caller.Has(auth.SourceRead) { // a rule that matches everything would show all source
		for _, pr := range out.GetPullRequests() {
			for _, f := range pr.GetFindings() {
				f.Snippet, f.Fix = "", nil
				for _, s := range f.GetSteps() {
					s.Snippet = ""
				}
			}
		}
	}

	return out, nil
}

// checkTrial checks the rules for at most a while, within the share of processors
// that patterns have.
func (h *Rules) checkTrial(ctx context.Context, rules []rule.Rule, most time.Duration) error {
	done, err := h.trial(ctx)
	if err != nil {
		return err
	}
	defer done()

	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	background.NewWorker().Do(ctx, func() { err = review.CheckTrial(limited, rules) })
	if limited.Err() != nil && ctx.Err() == nil {
		return errs.Invalid("rules", "take more than %s to run their cases; try fewer, or make them simpler", most)
	}
	return err
}

func toTrial(rules []rule.Rule, t review.Trial) *prwardenv1.TryRulesResponse {
	out := &prwardenv1.TryRulesResponse{Untried: clamp(t.Untried)}
	for _, r := range rules {
		hits := &prwardenv1.TryRulesResponse_RuleHits{RuleId: text(r.FullID()), MatchingCost: toMatchingCost(r)}
		for _, pr := range t.PullRequests {
			if n := pr.Hits[r.FullID()]; n > 0 {
				hits.Hits += clamp(n)
				hits.PullRequests++
			}
		}
		out.Rules = append(out.Rules, hits)
	}

	for _, pr := range t.PullRequests {
		in := &prwardenv1.TryRulesResponse_PullRequest{
			ReviewId: text(pr.Review.ID), Repo: text(pr.Review.Repo), PrNumber: pr.Review.PRNumber,
			Findings: each(pr.Findings, toFinding), Truncated: pr.Truncated, Error: toFailure(pr.Failure),
		}
		for _, n := range pr.Hits {
			in.Hits += clamp(n)
		}
		for _, f := range in.Findings { // no review before had them
			f.State = prwardenv1.Finding_new.Enum()
		}
		out.PullRequests = append(out.PullRequests, in)
	}

	return out
}
