package rule

import (
	"cmp"
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
)

// Limits of rules over the API.
const (
	MaxCustomRules = 5_000 // rules that an organization may create
	MaxTestHits    = 1_000 // hits that TestRule returns

	// MaxRulesSize is how many bytes all of those rules have as Document.JSON, so
	// that they fit into one document of a push, which has 16 MiB. The rest is for
	// what is beside the rules and between them.
	MaxRulesSize = 16<<20 - MaxCustomRules - 1<<10
)

// Store keeps the rules that organizations created over the API, and what the
// last completed scans saw in rules files. Every call is about one
// organization. Its errors are *errs.Error where a caller can do something
// about them.
type Store interface {
	// CreateRule stores a rule and returns it as it is stored.
	// AlreadyExists (RULE_EXISTS) when the organization has a rule with that
	// full id, FailedPrecondition (RULE_QUOTA) when it has quota rules, or all of
	// them would have more than MaxRulesSize; so do the other calls that change rules.
	CreateRule(ctx context.Context, org string, r Rule, quota int) (Rule, error)
	// GetRule reads a rule by its full id; NotFound (RULE_NOT_FOUND).
	GetRule(ctx context.Context, org, fullID string) (Rule, error)
	// UpdateRule replaces the rule with that full id and returns it as it is
	// stored. Aborted (ETAG_MISMATCH) unless it has that etag; NotFound
	// (RULE_NOT_FOUND).
	UpdateRule(ctx context.Context, org string, r Rule, etag string) (Rule, error)
	// DeleteRule deletes a rule by its full id; NotFound (RULE_NOT_FOUND).
	DeleteRule(ctx context.Context, org, fullID string) error
	// RuleEtags returns the etags and sizes of all rules by their full ids, and the
	// etag that stands for all of them, which is another one after every change.
	RuleEtags(ctx context.Context, org string) (byID map[string]Stored, etag string, err error)
	// GetRules returns those rules with the full ids that there are.
	GetRules(ctx context.Context, org string, fullIDs []string) ([]Rule, error)
	// ApplyRules does all that a batch says, or nothing, and returns the etag of all
	// rules. Aborted (ETAG_MISMATCH) unless they have the batch's;
	// FailedPrecondition (RULE_QUOTA).
	ApplyRules(ctx context.Context, org string, b Batch) (etag string, err error)
	// ExportRules returns all rules, ordered by full id, and their etag.
	ExportRules(ctx context.Context, org string) (rules []Rule, etag string, err error)
	// RuleHistory returns the versions of a rule, newest first, that are older than
	// the one with that number, or all of them for 0.
	RuleHistory(ctx context.Context, org, fullID string, before int64, limit int) ([]Version, error)
	// ListRules returns the rules of one repository, or those with scope org
	// for "", ordered by full id.
	ListRules(ctx context.Context, org, repo string) ([]Rule, error)
	// RulesFileRules returns the rules of a repository's rules file as the
	// base of its last completed review had it; none when there was none.
	RulesFileRules(ctx context.Context, org, repo string) ([]Rule, error)
	// CountRules counts the organization's rules: those with scope org, and
	// for each repository that has any those with scope repo and those of its
	// rules file together.
	CountRules(ctx context.Context, org string) (orgRules int, byRepo map[string]int, err error)
}

// Stored is what a push has to know of a rule that is stored.
type Stored struct {
	Etag string
	Size int // of Document.JSON
}

// Policy says which repositories an organization may use.
type Policy interface {
	// Allowed reports whether the organization may use the repository.
	Allowed(org, repo string) bool
}

// Service reads, creates, changes, tries and deletes rules, and puts together those
// that apply to a repository.
type Service struct {
	store    Store
	policy   Policy
	defaults []Rule
	byID     map[string]Rule // the defaults, by full id
}

// NewService returns a service over a store and the default ruleset.
func NewService(store Store, policy Policy, defaults []Rule) *Service {
	return &Service{store: store, policy: policy, defaults: defaults, byID: ByID(defaults)}
}

// ListRulesets returns `default`, `custom`, and the ruleset of each repository
// that has rules of its own, by name.
func (s *Service) ListRulesets(ctx context.Context, org string) ([]Ruleset, error) {
	custom, byRepo, err := s.store.CountRules(ctx, org)
	if err != nil {
		return nil, err
	}

	sets := []Ruleset{
		{Name: RulesetDefault, RuleCount: len(s.defaults), Scope: ScopeOrg},
		{Name: RulesetCustom, RuleCount: custom, Scope: ScopeOrg},
	}
	for name, n := range byRepo {
		if n > 0 {
			sets = append(sets, Ruleset{Name: name, RuleCount: n, Scope: ScopeRepo})
		}
	}

	slices.SortFunc(sets[2:], func(a, b Ruleset) int { return cmp.Compare(a.Name, b.Name) })
	return sets, nil
}

// ListRules returns the rules of a ruleset, ordered by id. It fails with
// NotFound (RULESET_NOT_FOUND) for a ruleset that ListRulesets does not list.
func (s *Service) ListRules(ctx context.Context, org, name string) ([]Rule, error) {
	switch name {
	case RulesetDefault:
		return s.defaults, nil
	case RulesetCustom:
		return s.store.ListRules(ctx, org, "")
	}

	notFound := errs.New(errs.NotFound, errs.ReasonRulesetNotFound,
		"There is no ruleset %q; GET /v1/rules lists the rulesets.", name)
	if CheckRepository(name) != nil {
		return nil, notFound
	}

	own, err := s.store.ListRules(ctx, org, name)
	if err != nil {
		return nil, err
	}
	fromFile, err := s.store.RulesFileRules(ctx, org, name)
	if err != nil {
		return nil, err
	}

	all := slices.Concat(own, fromFile)
	if len(all) == 0 {
		return nil, notFound
	}
	slices.SortStableFunc(all, func(a, b Rule) int { return cmp.Compare(a.FullID(), b.FullID()) })
	return all, nil
}

// GetRule returns a rule that was created over the API or, when there is none
// with this id, the default one; NotFound (RULE_NOT_FOUND).
func (s *Service) GetRule(ctx context.Context, org, id string) (Rule, error) {
	r, err := s.store.GetRule(ctx, org, FullID(id))
	if errs.ReasonOf(err) == errs.ReasonRuleNotFound {
		if d, ok := s.byID[FullID(id)]; ok {
			return d, nil
		}
		return Rule{}, notFound(id)
	}

	return r, err
}

func notFound(id string) error {
	return errs.New(errs.NotFound, errs.ReasonRuleNotFound,
		"There is no rule %q; GET /v1/rulesets/{name}/rules lists the rules of a ruleset.", id)
}

// CreateRule validates and stores a rule. The errors are those of
// RuleService.CreateRule in the API.
func (s *Service) CreateRule(ctx context.Context, org string, r Rule) (Rule, error) {
	r = r.normal()
	if err := s.check(ctx, org, r, background.NewWorker()); err != nil {
		return Rule{}, err
	}
	if _, ok := s.byID[r.FullID()]; ok {
		return Rule{}, errs.New(errs.AlreadyExists, errs.ReasonRuleExists,
			"%q is a rule of the default ruleset; choose another id.", r.ID)
	}
	return s.store.CreateRule(ctx, org, r, MaxCustomRules)
}

// normal says what a rule that was sent leaves out, and where it comes from.
func (r Rule) normal() Rule {
	if r.Scope == "" {
		r.Scope = ScopeOrg
	}
	if r.Mode == "" {
		r.Mode = ModeEnforce
	}
	r.Confidence = r.Sureness()
	r.Origin = OriginCustom
	if r.Scope == ScopeRepo {
		r.Origin = OriginRepository
	}

	return r
}

// check says what is wrong with a rule that an organization is to have.
func (s *Service) check(ctx context.Context, org string, r Rule, w *background.Worker) (err error) {
	if w.Do(ctx, func() { err = Validate(ctx, r) }); err != nil {
		return err
	}
	if r.Scope == ScopeRepo && !s.policy.Allowed(org, r.Repo) {
		return RepositoryNotAllowed(org, r.Repo)
	}
	return nil
}

// UpdateRule changes a rule that was created over the API. change returns it as it
// shall be; its id stays. With an etag the rule must have that one. The errors are
// those of RuleService.UpdateRule in the API.
func (s *Service) UpdateRule(
	ctx context.Context, org, id, etag string, change func(Rule) (Rule, error),
) (Rule, error) {
	before, err := s.store.GetRule(ctx, org, FullID(id))
	if errs.ReasonOf(err) == errs.ReasonRuleNotFound {
		if _, ok := s.byID[FullID(id)]; ok {
			return Rule{}, errs.New(errs.PermissionDenied, errs.ReasonDefaultRule,
				"%s is a rule of the default ruleset and can't be changed.", FullID(id))
		}
		return Rule{}, notFound(id)
	}
	if err != nil {
		return Rule{}, err
	}
	if etag != "" && etag != before.Etag {
		return Rule{}, EtagMismatch(before.FullID())
	}

	after, err := change(before)
	if err != nil {
		return Rule{}, err
	}
	after.ID = before.ID
	after = after.normal()
	if after.Document().Etag() == before.Etag {
		return before, nil
	}
	if err := s.check(ctx, org, after, background.NewWorker()); err != nil {
		return Rule{}, err
	}
	return s.store.UpdateRule(ctx, org, after, before.Etag)
}

// EtagMismatch is the error for a rule that is not the one that was to be changed.
func EtagMismatch(fullID string) error {
	return errs.New(errs.Aborted, errs.ReasonEtagMismatch,
		"The rule %q was changed meanwhile. Read it again and repeat the change.", fullID)
}

// DeleteRule deletes a rule that was created over the API: PermissionDenied
// (DEFAULT_RULE) for a default rule, NotFound (RULE_NOT_FOUND) for none.
func (s *Service) DeleteRule(ctx context.Context, org, id string) error {
	err := s.store.DeleteRule(ctx, org, FullID(id))
	if errs.ReasonOf(err) != errs.ReasonRuleNotFound {
		return err
	}

	if _, ok := s.byID[FullID(id)]; ok {
		return errs.New(errs.PermissionDenied, errs.ReasonDefaultRule,
			"%[1]s is a rule of the default ruleset and can't be deleted. To switch it off for a repository, add "+
				"`disable: [%[1]s]` to its .prwarden/rules.yml.", FullID(id))
	}

	return notFound(id)
}

// TestRule returns what the pattern of a rule matches in a text: the first match
// on each line, at most MaxTestHits of them, and whether there were more. Of the
// rule its type, which may be missing, pattern, languages, places, multiline and
// conditions count.
func (s *Service) TestRule(ctx context.Context, r Rule, text string) (hits []match.Hit, truncated bool, err error) {
	if r.Type != "" {
		if err := checkType(r.Type); err != nil {
			return nil, false, errs.Invalid("type", "%v", err)
		}
	}
	background.NewWorker().Do(ctx, func() { hits, truncated, err = Try(ctx, r, nil, text, MaxTestHits) })
	return hits, truncated, err
}
