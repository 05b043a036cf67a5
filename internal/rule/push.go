package rule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/errs"
)

// Action says what is done to a rule.
type Action string

// The actions.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// Push is what the rules of an organization shall be.
type Push struct {
	Rules  []Rule
	Prune  bool   // other rules are deleted
	DryRun bool   // nothing is changed
	Etag   string // what the rules must be before; "" for anything
}

// Change is what becomes of one rule.
type Change struct {
	ID     string // full
	Action Action
	Fields []string // that differ, as in a Document; only with ActionUpdate
}

// Plan is what a push changes.
type Plan struct {
	Changes   []Change // by id
	Unchanged int      // rules of the push that are there already
	Etag      string   // of all rules; after the push unless it is a dry run
}

// Count is how many changes have an action.
func (p Plan) Count(a Action) (n int) {
	for _, c := range p.Changes {
		if c.Action == a {
			n++
		}
	}

	return n
}

// Batch is what a store changes in one transaction.
type Batch struct {
	Create, Update []Rule
	Delete         []string // full ids
	Etag           string   // of all rules before
	Quota          int      // of rules after
}

// Version is one state of a rule, in its history.
type Version struct {
	Seq    int64 // rises with every change of the organization's rules
	At     time.Time
	By     string
	Action Action
	Rule   *Document // nil after ActionDelete
}

// Turn waits until the caller may compute, as others do; done gives the turn back.
type Turn func(context.Context) (done func(), err error)

// maxPushTime bounds how long the rules of a push are checked. An answer over REST
// must be written within a minute of the request.
const maxPushTime = 25 * time.Second

// MaxEtag is how many characters an etag has, at most.
const MaxEtag = 64

// PushRules makes the organization's rules those of a push. The errors are those of
// RuleService.BatchRules in the API.
func (s *Service) PushRules(ctx context.Context, org string, p Push, turn Turn) (Plan, error) {
	if n := utf8.RuneCountInString(p.Etag); n > MaxEtag {
		return Plan{}, errs.Invalid("etag", "has %d characters; at most %d are allowed", n, MaxEtag)
	}
	rules, err := s.distinct(p.Rules)
	if err != nil {
		return Plan{}, err
	}
	stored, etag, err := s.store.RuleEtags(ctx, org)
	if err != nil {
		return Plan{}, err
	}

	plan, batch := newPlan(rules, stored, p.Prune)
	plan.Etag = etag
	switch after, size := afterwards(stored, batch); {
	case len(plan.Changes) == 0:
		return plan, nil
	case p.Etag != "" && p.Etag != etag:
		return Plan{}, RulesChanged()
	case after > MaxCustomRules:
		return Plan{}, RuleQuota(MaxCustomRules)
	case size > MaxRulesSize:
		return Plan{}, RulesTooLarge()
	}

	if err := s.checkAll(ctx, org, rules, stored, turn); err != nil {
		return Plan{}, err
	}
	if err := s.describe(ctx, org, &plan, batch.Update); err != nil || p.DryRun {
		return plan, err
	}

	batch.Etag, batch.Quota = etag, MaxCustomRules
	plan.Etag, err = s.store.ApplyRules(ctx, org, batch)
	return plan, err
}

// RulesChanged is the error for rules that are not those that a plan was made of.
func RulesChanged() error {
	return errs.New(errs.Aborted, errs.ReasonEtagMismatch, "The rules were changed meanwhile. Make a new plan.")
}

// RuleQuota is the error for an organization that has all rules that it may have.
func RuleQuota(quota int) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonRuleQuota,
		"The organization has %d custom rules, which is the most. Delete one first.", quota)
}

// afterwards is how many rules there are after a batch, and their size.
func afterwards(stored map[string]Stored, b Batch) (count, size int) {
	for _, s := range stored {
		size += s.Size
	}
	for _, r := range slices.Concat(b.Create, b.Update) {
		size += len(r.Document().JSON()) - stored[r.FullID()].Size
	}
	for _, id := range b.Delete {
		size -= stored[id].Size
	}

	return len(stored) + len(b.Create) - len(b.Delete), size
}

// RulesTooLarge is the error for an organization whose rules would be larger than
// MaxRulesSize.
func RulesTooLarge() error {
	return errs.New(errs.FailedPrecondition, errs.ReasonRuleQuota,
		"All rules of the organization together would have more than 16 MiB (%d bytes as JSON without blanks). "+
			"Delete some, or shorten their cases.", MaxRulesSize)
}

// distinct returns the rules as they are stored. Each has an id that is no other's.
func (s *Service) distinct(given []Rule) ([]Rule, error) {
	rules := make([]Rule, len(given))
	first := make(map[string]int, len(given))
	for i, r := range given {
		if err := CheckID(r.ID); err != nil {
			return nil, errs.Invalid(fmt.Sprintf("rules[%d].id", i), "%v", err)
		}
		if before, ok := first[r.FullID()]; ok {
			return nil, errs.Invalid(fmt.Sprintf("rules[%d].id", i), "is that of rules[%d] already", before)
		}
		if _, ok := s.byID[r.FullID()]; ok {
			return nil, errs.New(errs.AlreadyExists, errs.ReasonRuleExists,
				"%q is a rule of the default ruleset; choose another id.", r.ID)
		}
		first[r.FullID()] = i
		rules[i] = r.normal()
	}

	return rules, nil
}

// newPlan compares rules with the etags of those that are stored.
func newPlan(rules []Rule, stored map[string]Stored, prune bool) (plan Plan, batch Batch) {
	others := maps.Clone(stored)
	for _, r := range rules {
		before, ok := stored[r.FullID()]
		delete(others, r.FullID())
		switch {
		case !ok:
			batch.Create = append(batch.Create, r)
			plan.Changes = append(plan.Changes, Change{ID: r.FullID(), Action: ActionCreate})
		case before.Etag != r.Document().Etag():
			batch.Update = append(batch.Update, r)
			plan.Changes = append(plan.Changes, Change{ID: r.FullID(), Action: ActionUpdate})
		default:
			plan.Unchanged++
		}
	}

	if prune {
		batch.Delete = slices.Sorted(maps.Keys(others))
		for _, id := range batch.Delete {
			plan.Changes = append(plan.Changes, Change{ID: id, Action: ActionDelete})
		}
	}

	slices.SortFunc(plan.Changes, func(a, b Change) int { return cmp.Compare(a.ID, b.ID) })
	return plan, batch
}

// maxPushViolations is how many mistakes in a push are looked for.
const maxPushViolations = 10

// turnTime is how long a push computes before others that try patterns have their
// turn. They wait for a second, and each of them may take two.
const turnTime = 300 * time.Millisecond

// checkAll says what is wrong with the rules that are not stored yet.
func (s *Service) checkAll(
	ctx context.Context, org string, rules []Rule, stored map[string]Stored, turn Turn,
) error {
	limited, cancel := context.WithTimeout(ctx, maxPushTime)
	defer cancel()
	turns := turns{next: turn}
	defer turns.end()

	var violations errs.Violations
	worker := background.NewWorker()
	for i, r := range rules {
		if stored[r.FullID()].Etag == r.Document().Etag() {
			continue
		}
		err := turns.take(limited)
		if err == nil {
			err = s.check(limited, org, r, worker)
		}
		var invalid *errs.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil && turns.waited > maxPushTime/2:
			return errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is busy with other patterns; try again.")
		case limited.Err() != nil:
			return errs.Invalid("rules", "take more than %s to check; push fewer of them at once, or make their cases simpler",
				maxPushTime)
		case errors.As(err, &invalid) && invalid.Kind == errs.InvalidArgument:
			violations.AddOf(fmt.Sprintf("rules[%d].", i), invalid)
		case err != nil:
			return err
		}
		if len(violations) >= maxPushViolations {
			break
		}
	}

	return violations.Err()
}

// turns are those that a push takes, one after the other.
type turns struct {
	next   Turn
	done   func() // ends the present one; nil without one
	until  time.Time
	waited time.Duration
}

// take returns in a turn, the present one while that lasts.
func (t *turns) take(ctx context.Context) (err error) {
	if t.done != nil && time.Now().Before(t.until) {
		return nil
	}

	t.end()
	began := time.Now()
	t.done, err = t.next(ctx)
	now := time.Now()
	t.until, t.waited = now.Add(turnTime), t.waited+now.Sub(began)
	return err
}

func (t *turns) end() {
	if t.done != nil {
		t.done()
		t.done = nil
	}
}

// rulesAtOnce bounds how many rules with all their texts are read at once.
const rulesAtOnce = 100

// describe adds to a plan which fields of rules are changed.
func (s *Service) describe(ctx context.Context, org string, plan *Plan, updates []Rule) error {
	fields := make(map[string][]string, len(updates))
	for some := range slices.Chunk(updates, rulesAtOnce) {
		ids := make([]string, len(some))
		for i, r := range some {
			ids[i] = r.FullID()
		}
		before, err := s.store.GetRules(ctx, org, ids)
		if err != nil {
			return err
		}
		byID := ByID(before)
		for _, r := range some {
			fields[r.FullID()] = ChangedFields(byID[r.FullID()].Document(), r.Document())
		}
	}

	for i := range plan.Changes {
		plan.Changes[i].Fields = fields[plan.Changes[i].ID]
	}
	return nil
}

// ChangedFields are the names of the fields in which documents differ.
func ChangedFields(before, after Document) []string {
	was, is := Fields(before), Fields(after)
	all := maps.Clone(was)
	maps.Copy(all, is)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(was[name], is[name]) {
			names = append(names, name)
		}
	}

	return names
}

// Fields are the fields of a document that are given, by their names, such as
// `paths.include`.
func Fields(d Document) map[string]any {
	text, _ := json.Marshal(d) // texts and flags always can be
	var fields map[string]any
	_ = json.Unmarshal(text, &fields) // it was just made
	for name, value := range fields {
		parts, ok := value.(map[string]any)
		if !ok {
			continue
		}
		delete(fields, name)
		for part, value := range parts {
			fields[name+"."+part] = value
		}
	}

	return fields
}

// ExportRules returns all rules that were created over the API, ordered by full id,
// and the etag that stands for all of them.
func (s *Service) ExportRules(ctx context.Context, org string) (rules []Rule, etag string, err error) {
	return s.store.ExportRules(ctx, org)
}

// RuleHistory returns the newest versions of a rule that are older than one with
// that number, 0 for any, and NotFound (RULE_NOT_FOUND) for a rule that has none.
func (s *Service) RuleHistory(ctx context.Context, org, id string, before int64, limit int) ([]Version, error) {
	versions, err := s.store.RuleHistory(ctx, org, FullID(id), before, limit)
	if err == nil && len(versions) == 0 && before == 0 {
		return nil, notFound(id)
	}
	return versions, err
}
