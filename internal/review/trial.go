package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// Limits of a trial.
const (
	MaxTrialRules   = 100
	MaxTrialReviews = 50
	TrialReviews    = 20 // when no number is given

	// TrialTime is for how long pull requests are scanned. Over REST an answer
	// has a minute.
	TrialTime = 30 * time.Second

	// trialFindings is how many findings count in a pull request, and shownFindings
	// how many of them are answered.
	trialFindings = 1_000
	shownFindings = 10

	// trialPage is how many reviews are looked at together, and trialPages how
	// often, until there are enough of different pull requests.
	trialPage  = 200
	trialPages = 5
)

// Trials run rules over pull requests that were reviewed before, without storing
// anything.
type Trials struct {
	reviews       Reviews
	scanner       Scanner
	rules         RuleSource
	policies      PolicySource
	organizations Organizations
	sources       Sources
}

// NewTrials returns trials of reviews in a store, scanned by a scanner with the
// policies of organizations, policy.Default for all without any.
func NewTrials(
	reviews Reviews, scanner Scanner, rules RuleSource, policies PolicySource, organizations Organizations,
	sources Sources,
) *Trials {
	return &Trials{
		reviews: reviews, scanner: scanner, rules: rules, organizations: organizations, sources: sources,
		policies: cmp.Or[PolicySource](policies, defaultPolicies{}),
	}
}

// TrialInput says which rules to try, and where.
type TrialInput struct {
	Rules []rule.Rule // valid
	Repo  string      // "" for all repositories of the organization
	Last  int         // how many pull requests, up to MaxTrialReviews; 0 for TrialReviews
}

// Trial is what rules found.
type Trial struct {
	PullRequests []TriedPullRequest // the last reviewed first
	Untried      int                // pull requests for which there was no time
}

// TriedPullRequest is what rules found in a pull request, as its last complete
// review saw it.
type TriedPullRequest struct {
	Review    Review         // without findings
	Hits      map[string]int // by full id of the rule
	Findings  []finding.Finding
	Truncated bool     // there are more hits than were counted
	Failure   *Failure // why it could not be scanned; nil when it was
}

// Try runs rules over the pull requests of an organization that were reviewed
// last. A rule takes the place of the one with its id.
func (t *Trials) Try(ctx context.Context, org string, in TrialInput) (Trial, error) {
	last, err := t.last(ctx, org, in)
	if err != nil {
		return Trial{}, err
	}

	var out Trial
	limited, cancel := context.WithTimeout(ctx, TrialTime)
	defer cancel()
	for i, r := range last {
		tried, err := t.tryOne(limited, r, in.Rules)
		switch {
		case ctx.Err() != nil:
			return Trial{}, ctx.Err()
		case limited.Err() != nil:
			out.Untried = len(last) - i
			return out, nil
		case err != nil:
			return Trial{}, err
		}
		out.PullRequests = append(out.PullRequests, tried)
	}

	return out, nil
}

// last returns the last complete review of each of the pull requests that were
// reviewed last. The organization may still use their repositories.
func (t *Trials) last(ctx context.Context, org string, in TrialInput) (last []Review, err error) {
	type pullRequest struct {
		repo   string
		number int32
	}
	seen := map[pullRequest]bool{}
	f := Filter{Repo: in.Repo, Status: Complete, Limit: trialPage}
	for range trialPages {
		reviews, next, err := t.reviews.ListReviews(ctx, org, f)
		if err != nil {
			return nil, err
		}
		for _, r := range reviews {
			of := pullRequest{r.Repo, r.PRNumber}
			if seen[of] || !t.organizations.Allowed(org, r.Repo) {
				continue
			}
			seen[of] = true
			if last = append(last, r); len(last) == cmp.Or(in.Last, TrialReviews) {
				return last, nil
			}
		}

		if next == (page.Cursor{}) {
			break
		}
		f.After = next
	}

	return last, nil
}

// tryOne scans the commits of a review.
func (t *Trials) tryOne(ctx context.Context, r Review, tried []rule.Rule) (TriedPullRequest, error) {
	out := TriedPullRequest{Review: r, Hits: map[string]int{}}
	rules, ids, err := t.rulesFor(ctx, r, tried)
	if err != nil {
		return out, err
	}

	by, err := t.policies.Policy(ctx, r.Organization)
	if err != nil {
		return out, err
	}
	by.LowConfidence = policy.LowCounted // whoever tries a rule wants to see what it finds
	claim := Claim{
		ReviewID: r.ID, Organization: r.Organization, Repo: r.Repo, PRNumber: r.PRNumber, Ruleset: rule.RulesetCustom,
		Commits: finding.Commits{Head: r.HeadSHA, Base: r.BaseSHA}, Attempt: 1,
	}
	var result finding.Result
	source, err := t.sources.Source(ctx, claim)
	if err == nil {
		result, err = t.scanner.Scan(ctx, Job{
			Claim: claim, Source: source, Rules: rules, Policy: by, MaxFindings: trialFindings,
		}, func(Progress) {})
	}
	if failed, ok := errors.AsType[*ScanError](err); ok {
		out.Failure = &failed.Failure
		return out, nil
	}
	if err != nil {
		return out, err
	}

	out.Truncated = result.Truncated
	for _, f := range result.Findings {
		if !ids[f.RuleID] {
			continue
		}
		out.Hits[f.RuleID]++
		if len(out.Findings) < shownFindings {
			f.State = ""
			out.Findings = append(out.Findings, f)
		}
	}

	return out, nil
}

// rulesFor are the rules to try in a pull request, by their full ids, and those
// that hide what they match: a trial shows no secret that a review would hide.
func (t *Trials) rulesFor(ctx context.Context, r Review, tried []rule.Rule) (rule.Set, map[string]bool, error) {
	own, err := t.rules.RulesFor(ctx, r.Organization, r.Repo)
	if err != nil {
		return rule.Set{}, nil, err
	}

	var rules []rule.Rule
	ids := map[string]bool{}
	for _, x := range tried {
		if x.Scope != rule.ScopeRepo || x.Repo == r.Repo {
			x.Origin, x.Disabled, x.Mode = rule.OriginCustom, false, rule.ModeEnforce
			rules = append(rules, x)
			ids[x.FullID()] = true
		}
	}
	for i, x := range own.Rules {
		if !x.Redact {
			continue
		}
		if ids[x.FullID()] { // a rule to try must not take the place of one that hides
			x.ID, x.Origin = fmt.Sprintf("%s/hides-%d", rule.CategoryMeta, i), rule.OriginDefault
		}
		rules = append(rules, x)
	}

	return rule.Set{Rules: rules, Digest: rule.Digest(rules)}, ids, nil
}

// CheckTrial says what is wrong with the rules to try, each with its place.
func CheckTrial(ctx context.Context, rules []rule.Rule) error {
	var bad errs.Violations
	var seen []string
	for i, r := range rules {
		at := fmt.Sprintf("rules[%d].", i)
		if slices.Contains(seen, r.FullID()) {
			bad.Add(at+"id", "is the id of another rule, too")
		}
		seen = append(seen, r.FullID())

		err := rule.Validate(ctx, r)
		wrong, ok := errors.AsType[*errs.Error](err)
		if err != nil && !ok {
			return err
		}
		if ok {
			bad.AddOf(at, wrong)
		}
	}

	return bad.Err()
}
