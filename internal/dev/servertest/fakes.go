package servertest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/triage"
)

// Reviews is an api.ReviewService whose answers a test gives. A function that is
// not set panics, which is also how a test makes a handler panic.
type Reviews struct {
	CreateFunc func(org string, in review.CreateInput) (review.Accepted, error)
	GetFunc    func(org, id string) (review.Review, error)
	FindFunc   func(org string, in review.FindingsInput) ([]finding.Finding, string, error)
	CancelFunc func(org, id string) (review.Review, error)
	WatchFunc  func(ctx context.Context, org, id string, send func(review.Update) error) error
}

// Diffs are the changed lines of reviews. Without Func they are gone.
type Diffs struct {
	Func func(org string, in review.DiffInput) (review.ShownDiff, error)
}

// Get implements api.Diffs.
func (d *Diffs) Get(_ context.Context, org string, in review.DiffInput) (review.ShownDiff, error) {
	if d.Func == nil {
		return review.ShownDiff{Availability: review.DiffGone}, nil
	}

	return d.Func(org, in)
}

var _ api.ReviewService = (*Reviews)(nil)

// Create implements api.ReviewService.
func (f *Reviews) Create(_ context.Context, org string, in review.CreateInput) (review.Accepted, error) {
	return f.CreateFunc(org, in)
}

// Get implements api.ReviewService.
func (f *Reviews) Get(_ context.Context, org, id string) (review.Review, error) {
	return f.GetFunc(org, id)
}

// List implements api.ReviewService. There are no reviews to list.
func (f *Reviews) List(context.Context, string, review.ListInput) ([]review.Review, string, error) {
	return nil, "", nil
}

// Search implements api.ReviewService. There are no findings to find.
func (f *Reviews) Search(context.Context, string, review.SearchInput) (review.SearchPage, error) {
	return review.SearchPage{}, nil
}

// Repositories implements api.ReviewService. There are none.
func (f *Reviews) Repositories(
	context.Context, string, review.RepositoriesInput,
) ([]review.Repository, string, error) {
	return nil, "", nil
}

// Count implements api.ReviewService. There are no reviews to count.
func (f *Reviews) Count(context.Context, string, review.Selection) (review.Counts, error) {
	return review.Counts{}, nil
}

// GetComplete implements api.ReviewService.
func (f *Reviews) GetComplete(_ context.Context, org, id string) (review.Review, error) {
	r, err := f.GetFunc(org, id)
	if err == nil && r.Status != review.Complete {
		return review.Review{}, errs.New(errs.FailedPrecondition, errs.ReasonReviewNotComplete, "The review is %s.", r.Status)
	}

	return r, err
}

// Findings implements api.ReviewService.
func (f *Reviews) Findings(_ context.Context, org string, in review.FindingsInput) ([]finding.Finding, string, error) {
	return f.FindFunc(org, in)
}

// Cancel implements api.ReviewService.
func (f *Reviews) Cancel(_ context.Context, org, id string) (review.Review, error) {
	return f.CancelFunc(org, id)
}

// Watch implements api.ReviewService.
func (f *Reviews) Watch(ctx context.Context, org, id string, send func(review.Update) error) error {
	return f.WatchFunc(ctx, org, id, send)
}

// Rules is an api.RuleService of one rule, which tests create. It validates
// nothing.
type Rules struct {
	api.RuleService
	mu    sync.Mutex
	rule  rule.Rule
	Asked []string      // ids and names as they arrived
	Hold  chan struct{} // when not nil, TestRule waits for it

	TryFunc func(in review.TrialInput) (review.Trial, error)
}

func (f *Rules) asked(id string) rule.Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Asked = append(f.Asked, id)
	return f.rule
}

// ListRulesets implements api.RuleService.
func (f *Rules) ListRulesets(context.Context, string) ([]rule.Ruleset, error) {
	return []rule.Ruleset{
		{Name: "default", RuleCount: 120, Scope: rule.ScopeOrg},
		{Name: "acme/shop", Scope: rule.ScopeRepo},
	}, nil
}

// ListRules implements api.RuleService.
func (f *Rules) ListRules(_ context.Context, _, name string) ([]rule.Rule, error) {
	f.asked(name)
	return nil, nil
}

// GetRule implements api.RuleService.
func (f *Rules) GetRule(_ context.Context, _, id string) (rule.Rule, error) {
	r := f.asked(id)
	if r.ID == "" || r.FullID() != rule.FullID(id) {
		return rule.Rule{}, errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no such rule.")
	}

	return r, nil
}

// UpdateRule implements api.RuleService.
func (f *Rules) UpdateRule(
	ctx context.Context, org, id, _ string, change func(rule.Rule) (rule.Rule, error),
) (rule.Rule, error) {
	r, err := f.GetRule(ctx, org, id)
	if err != nil {
		return r, err
	}
	return change(r)
}

// PushRules implements api.RuleService.
func (f *Rules) PushRules(_ context.Context, _ string, p rule.Push, _ rule.Turn) (rule.Plan, error) {
	f.asked(fmt.Sprint(len(p.Rules)))
	return rule.Plan{Etag: "7", Unchanged: len(p.Rules)}, nil
}

// ExportRules implements api.RuleService.
func (f *Rules) ExportRules(context.Context, string) ([]rule.Rule, string, error) {
	return nil, "7", nil
}

// RuleHistory implements api.RuleService.
func (f *Rules) RuleHistory(_ context.Context, _, id string, _ int64, _ int) ([]rule.Version, error) {
	f.asked(id)
	return nil, nil
}

// CreateRule implements api.RuleService.
func (f *Rules) CreateRule(_ context.Context, _ string, r rule.Rule) (rule.Rule, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule = r
	f.rule.Scope, f.rule.CreatedAt, f.rule.Etag, f.rule.UpdatedBy = rule.ScopeOrg, Epoch, "e1", ""
	return f.rule, nil
}

// TestRule implements api.RuleService.
func (f *Rules) TestRule(context.Context, rule.Rule, string) ([]match.Hit, bool, error) {
	if f.Hold != nil {
		<-f.Hold
	}

	return []match.Hit{{Line: 1, Column: 2, EndLine: 1, EndColumn: 5}}, true, nil
}

// keyStore is what of an auth.KeyStore a test needs, in memory.
type keyStore struct {
	auth.KeyStore
	mu   sync.Mutex
	keys map[string]auth.Key // by hash
}

func (s *keyStore) CreateKey(_ context.Context, k auth.Key, _ int) (auth.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.CreatedAt = Epoch
	s.keys[k.Hash] = k
	return k, nil
}

func (s *keyStore) KeyByHash(_ context.Context, hash string) (auth.Key, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[hash]
	k.OrganizationLimit = 1 << 30
	return k, ok, nil
}

func (s *keyStore) RevokeKey(_ context.Context, org, id string, _ bool) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, k := range s.keys {
		if k.ID == id && k.Organization == org && k.RevokedAt.IsZero() {
			k.RevokedAt = time.Now()
			s.keys[hash] = k
			return []string{id}, nil
		}
	}

	return nil, errs.New(errs.NotFound, errs.ReasonKeyNotFound, "There is no such key.")
}

// Try implements api.Trials.
func (f *Rules) Try(_ context.Context, _ string, in review.TrialInput) (review.Trial, error) {
	return f.TryFunc(in)
}

// Policies is a policy.Store for one organization.
type Policies struct{ stored policy.Stored }

// ReadPolicy implements policy.Store.
func (f *Policies) ReadPolicy(context.Context, string) (policy.Stored, error) {
	if f.stored.UpdatedAt.IsZero() {
		return policy.Stored{Policy: policy.Default()}, nil
	}

	return f.stored, nil
}

// SetPolicy implements policy.Store.
func (f *Policies) SetPolicy(ctx context.Context, org string, p policy.Policy, etag string) (policy.Stored, error) {
	if was, _ := f.ReadPolicy(ctx, org); etag != "" && etag != was.ETag() {
		return policy.Stored{}, policy.EtagMismatch()
	}
	f.stored = policy.Stored{Policy: p, UpdatedAt: Epoch, UpdatedBy: "key:key_a"}

	return f.stored, nil
}

// Stats is a stats.Store with given numbers.
type Stats struct {
	Rules  []stats.Rule
	Asked  stats.Filter // what was asked last
	Trends stats.Trend
}

// Trend implements stats.Store.
func (f *Stats) Trend(context.Context, string, stats.TrendFilter) (stats.Trend, error) {
	return f.Trends, nil
}

// RuleStats implements stats.Store.
func (f *Stats) RuleStats(_ context.Context, _ string, filter stats.Filter) ([]stats.Rule, error) {
	f.Asked = filter

	return f.Rules, nil
}

// Triage is an api.TriageService of one change.
type Triage struct {
	Changes []triage.Change // that were asked for
	Listed  triage.ListInput
}

// Set implements api.TriageService.
func (f *Triage) Set(_ context.Context, _ string, c triage.Change) (string, int, error) {
	f.Changes = append(f.Changes, c)

	return "trg_a", len(c.Fingerprints), nil
}

// Undo implements api.TriageService.
func (f *Triage) Undo(_ context.Context, _, changeID string) (int, error) {
	if changeID != "trg_a" {
		return 0, errs.New(errs.NotFound, errs.ReasonTriageNotFound, "There is no such change that can be undone.")
	}

	return 1, nil
}

// List implements api.TriageService.
func (f *Triage) List(_ context.Context, _ string, in triage.ListInput) ([]triage.Decided, string, error) {
	f.Listed = in

	return []triage.Decided{{
		Repo: "acme/api", PRNumber: 7, Fingerprint: "0f", RuleID: "custom/r", ChangeID: "trg_a",
		Triage: finding.Triage{
			Decision: finding.Accepted, Reason: "checked", Until: "2027-01-31", By: "key:key_a", At: Epoch,
			Scope: finding.InPullRequest,
		},
	}}, "", nil
}
