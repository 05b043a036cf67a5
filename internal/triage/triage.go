// Package triage is what people decide about findings: that one is accepted, a false
// positive or not to be fixed, until when, and why. A decision sets the finding aside
// for the verdict, at once and in later scans.
package triage

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// Limits of a change.
const (
	MaxFindings    = 500
	MaxReason      = 1_000 // characters
	MaxFingerprint = 64    // bytes
)

// UndoTime is how long a change can be undone.
const UndoTime = time.Hour

// MaxReviews and MaxRows bound the reviews that a change is applied to at once: the
// latest ones, and so many of their findings. The others follow with their next scan.
const (
	MaxReviews = 100
	MaxRows    = 50_000
)

// Change is what somebody decides.
type Change struct {
	ID           string // `trg_` and an opaque suffix
	Repo         string
	PRNumber     int32 // 0 for all of the repository
	Fingerprints []string
	Decision     finding.Decision // finding.Open takes decisions back
	Reason       string
	Until        string
}

// Decided is a decision as it is stored.
type Decided struct {
	Repo        string
	PRNumber    int32 // 0 for all of the repository
	Fingerprint string
	RuleID      string
	ChangeID    string
	finding.Triage
}

// Filter selects decisions. Zero fields select all.
type Filter struct {
	Repo           string
	Decision       finding.Decision
	RuleID         string      // full
	ExpiringBefore string      // `YYYY-MM-DD`
	After          page.Cursor // the last decision of the page before
	Limit          int
}

// Cursor is the place of a decision in the list.
func (d Decided) Cursor() page.Cursor {
	return page.Cursor{At: d.At, ID: d.ChangeID + "." + d.Fingerprint}
}

// Store keeps decisions. All times are the store's own clock's.
type Store interface {
	// Latest returns the findings with those fingerprints, as far as the latest complete
	// reviews of a pull request have them, or for 0 those of all of the repository's
	// pull requests. Of equal fingerprints it returns one.
	Latest(ctx context.Context, org, repo string, pr int32, fingerprints []string) ([]finding.Finding, error)

	// SetTriage stores decisions, and applies them to the verdicts of the latest complete
	// reviews, in one transaction. findings has each of them, unless they are taken back.
	// It returns how
	// many decisions changed; when none did nothing is stored.
	SetTriage(ctx context.Context, org string, c Change, findings map[string]finding.Finding) (changed int, err error)

	// UndoTriage puts back what a change replaced, and returns how much that is;
	// NotFound (TRIAGE_NOT_FOUND), and FailedPrecondition (TRIAGE_CHANGED) when somebody
	// decided anew since, or it is longer ago than UndoTime.
	UndoTriage(ctx context.Context, org, changeID string) (changed int, err error)

	// ListTriage returns decisions, newest first.
	ListTriage(ctx context.Context, org string, f Filter) ([]Decided, error)

	// Now is the time on the store's clock.
	Now() time.Time
}

// Rules puts together the rules of a repository; see rule.Service.
type Rules interface {
	RulesFor(ctx context.Context, org, repo string) (rule.Set, error)
	FileRules(ctx context.Context, org, repo string) ([]rule.Rule, error)
}

// Policies reads the policies of organizations.
type Policies interface {
	Policy(ctx context.Context, org string) (policy.Policy, error)
}

// Service decides.
type Service struct {
	store    Store
	rules    Rules
	policies Policies
}

// NewService returns a service over a store.
func NewService(store Store, rules Rules, policies Policies) *Service {
	return &Service{store: store, rules: rules, policies: policies}
}

// NewID returns a new identifier of a change: `trg_` and 128 random bits.
func NewID() string { return "trg_" + strings.ToLower(rand.Text()) }

// Set decides about findings, and returns the identifier of the change, "" when nothing
// changed, and how many decisions changed. The errors are those of
// TriageService.SetTriage in the API.
func (s *Service) Set(ctx context.Context, org string, c Change) (id string, changed int, err error) {
	today := s.store.Now().Format(time.DateOnly)
	if err := c.check(today); err != nil {
		return "", 0, err
	}

	var findings map[string]finding.Finding
	if c.Decision != finding.Open {
		if findings, err = s.allowed(ctx, org, c, today); err != nil {
			return "", 0, err
		}
	}
	c.ID = NewID()
	changed, err = s.store.SetTriage(ctx, org, c, findings)
	if err != nil || changed == 0 {
		return "", 0, err
	}

	return c.ID, changed, nil
}

// allowed returns the findings, all of which the policy must allow to be set aside.
func (s *Service) allowed(
	ctx context.Context, org string, c Change, today string,
) (map[string]finding.Finding, error) {
	found, err := s.store.Latest(ctx, org, c.Repo, c.PRNumber, c.Fingerprints)
	if err != nil {
		return nil, err
	}
	findings := make(map[string]finding.Finding, len(found))
	for _, f := range found {
		findings[f.Fingerprint] = f
	}
	for _, fingerprint := range c.Fingerprints {
		if _, ok := findings[fingerprint]; !ok {
			return nil, errs.New(errs.NotFound, errs.ReasonFindingNotFound,
				"No latest review there has a finding %q; fingerprints are in the answer of GET /v1/reviews/{review_id}.",
				fingerprint)
		}
	}

	may, err := s.judge(ctx, org, c.Repo)
	if err != nil {
		return nil, err
	}
	t := finding.Triage{Decision: c.Decision, Reason: c.Reason, Until: c.Until}
	for _, f := range found {
		if err := may(f, t, today); err != nil {
			return nil, errs.New(errs.PermissionDenied, errs.ReasonTriageNotAllowed,
				"The finding %s can't be set aside: %s.", f.Fingerprint, err)
		}
	}

	return findings, nil
}

// judge is policy.Policy.MayDecide for a repository.
func (s *Service) judge(
	ctx context.Context, org, repo string,
) (func(finding.Finding, finding.Triage, string) error, error) {
	p, err := s.policies.Policy(ctx, org)
	if err != nil {
		return nil, err
	}
	rules, err := s.rules.RulesFor(ctx, org, repo)
	if err != nil {
		return nil, err
	}
	own, err := s.rules.FileRules(ctx, org, repo)
	if err != nil {
		return nil, err
	}

	return p.MayDecide(append(rules.Rules, own...)), nil
}

// Undo puts back what a change replaced, and returns how many decisions that are. The
// errors are those of TriageService.UndoTriage in the API.
func (s *Service) Undo(ctx context.Context, org, changeID string) (int, error) {
	return s.store.UndoTriage(ctx, org, changeID)
}
