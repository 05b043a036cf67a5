package policy

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

// Stored is the policy that an organization has.
type Stored struct {
	Policy
	UpdatedAt time.Time // zero while it is Default
	UpdatedBy string    // likewise empty
}

// Store keeps policies.
type Store interface {
	// ReadPolicy returns the policy of an organization, Default when it has set none.
	ReadPolicy(ctx context.Context, org string) (Stored, error)
	// SetPolicy stores a policy. With an etag it fails with Aborted (ETAG_MISMATCH)
	// when the stored one has another. To store what is there already changes nothing.
	SetPolicy(ctx context.Context, org string, p Policy, etag string) (Stored, error)
}

// Service reads and sets policies.
type Service struct {
	store Store
	known map[string]rule.Rule // the default ruleset, by full id
}

// NewService returns a service over a store and the default ruleset.
func NewService(store Store, defaults []rule.Rule) *Service {
	return &Service{store: store, known: rule.ByID(defaults)}
}

// Policy returns the policy of an organization, for scans.
func (s *Service) Policy(ctx context.Context, org string) (Policy, error) {
	stored, err := s.store.ReadPolicy(ctx, org)

	return stored.Policy, err
}

// Get returns the policy of an organization.
func (s *Service) Get(ctx context.Context, org string) (Stored, error) {
	return s.store.ReadPolicy(ctx, org)
}

// Set validates and stores a policy; "" is any etag. The errors are those of
// PolicyService.SetPolicy in the API.
func (s *Service) Set(ctx context.Context, org string, p Policy, etag string) (Stored, error) {
	err := p.Validate()
	if err == nil {
		err = p.CheckKnown(func(id string) bool { _, ok := s.known[id]; return ok || rule.IsMeta(id) })
	}
	if err != nil {
		return Stored{}, err
	}

	return s.store.SetPolicy(ctx, org, p, etag)
}

// EtagMismatch is the error for a policy that is not the one that was to be replaced.
func EtagMismatch() error {
	return errs.New(errs.Aborted, errs.ReasonEtagMismatch,
		"The policy was changed meanwhile. Read it again and repeat the change.")
}
