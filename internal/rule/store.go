package rule

import "context"

// Store keeps the rules that organizations created over the API, and what the
// last completed scans saw in rules files. Every call is about one
// organization. Its errors are *errs.Error where a caller can do something
// about them.
type Store interface {
	// CreateRule stores a rule and returns it with CreatedAt set.
	// AlreadyExists (RULE_EXISTS) when the organization has a rule with that
	// full id, FailedPrecondition (RULE_QUOTA) when it has quota rules.
	CreateRule(ctx context.Context, org string, r Rule, quota int) (Rule, error)
	// GetRule reads a rule by its full id; NotFound (RULE_NOT_FOUND).
	GetRule(ctx context.Context, org, fullID string) (Rule, error)
	// DeleteRule deletes a rule by its full id; NotFound (RULE_NOT_FOUND).
	DeleteRule(ctx context.Context, org, fullID string) error
	// ListOrgRules returns the rules with scope org, ordered by full id.
	ListOrgRules(ctx context.Context, org string) ([]Rule, error)
	// ListRepoRules returns the rules with scope repo of one repository,
	// ordered by full id.
	ListRepoRules(ctx context.Context, org, repo string) ([]Rule, error)
	// RulesFileRules returns the rules of a repository's rules file as the
	// base of its last completed review had it; none when there was none.
	RulesFileRules(ctx context.Context, org, repo string) ([]Rule, error)
	// CountRules counts the organization's rules: those with scope org, and
	// for each repository that has any those with scope repo and those of its
	// rules file together.
	CountRules(ctx context.Context, org string) (orgRules int, byRepo map[string]int, err error)
}
