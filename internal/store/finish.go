package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/webhook"
)

// finishing is what completing a review has to know of it.
type finishing struct {
	Repo       string    `db:"repo"`
	CreatedAt  timestamp `db:"created_at"`
	StartedAt  timestamp `db:"started_at"`
	PreviousID string    `db:"previous_id"` // the review to compare with; '' for none
}

// finishingQuery reads finishing. The previous review is the latest earlier one
// of the same pull request.
const finishingQuery = `SELECT repo, created_at, started_at, COALESCE((SELECT p.id FROM reviews p
	WHERE p.organization = reviews.organization AND p.repo = reviews.repo AND p.pr_number = reviews.pr_number
		AND p.ruleset = reviews.ruleset AND p.status = 'complete'
		AND (p.created_at, p.id) < (reviews.created_at, reviews.id)
	ORDER BY p.created_at DESC, p.id DESC LIMIT 1), '') AS previous_id FROM reviews` + held

// finishing reads what finishing the claimed review needs.
func (t *tx) finishing(ctx context.Context, c review.Claim) (r finishing, err error) {
	err = t.get(ctx, &r, finishingQuery, c.Organization, c.ReviewID, c.Attempt)
	if errors.Is(err, sql.ErrNoRows) {
		err = review.ErrLeaseLost
	}

	return r, err
}

// rowsPerTurn is how many rows a transaction of SQLite inserts for a large result,
// until others may write.
const rowsPerTurn = 200

// result is what is stored of a scan.
type result struct {
	previousID string // the review that it was compared with; "" for none
	lists      []findingList
	skips      []finding.Skip
	findings   int           // of all kinds
	counts     []stats.Count // for the numbers of rules
	isStored   bool
}

type findingList struct {
	kind     finding.Kind
	findings []finding.Finding
}

// of are the findings of a kind.
func (r *result) of(k finding.Kind) []finding.Finding {
	i := slices.IndexFunc(r.lists, func(l findingList) bool { return l.kind == k })

	return r.lists[i].findings
}

// compared compares all that a scan found with the previous review, "" for none.
// What was fixed is copied, because retention deletes the previous review first.
func (t *tx) compared(ctx context.Context, previousID string, o finding.Result) (*result, error) {
	var previous finding.Result
	if previousID != "" {
		// Retention may just have deleted them, and then all is new.
		all, err := t.findings(ctx, previousID)
		if err != nil {
			return nil, err
		}
		previous.Findings, previous.Suppressed = all[finding.KindReported], all[finding.KindSuppressed]
		previous.Observed = all[finding.KindObserved]
	}
	compared := finding.Compare(previous, o)

	fixed := make([]finding.Finding, len(compared.Fixed))
	for i, place := range compared.Fixed {
		fixed[i] = previous.Findings[place]
		fixed[i].State = finding.StateFixed
	}

	return &result{
		previousID: previousID,
		lists: []findingList{
			{finding.KindReported, withStates(o.Findings, compared.Reported)},
			{finding.KindSuppressed, withStates(o.Suppressed, compared.Suppressed)},
			{finding.KindObserved, withStates(o.Observed, compared.Observed)},
			{finding.KindFixed, fixed},
		},
		skips:    o.Skips,
		findings: len(o.Findings) + len(o.Suppressed) + len(o.Observed) + len(fixed),
		counts:   stats.Of(previous, o, compared),
	}, nil
}

// withStates copies findings with their states.
func withStates(findings []finding.Finding, states []finding.State) []finding.Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].State = states[i]
	}

	return out
}

// insert inserts the rows of a review by functions that insert some each.
func (r *result) insert(ctx context.Context, id string, do func(func(*tx) error) error) error {
	for _, l := range r.lists {
		for first := 0; first < len(l.findings); first += rowsPerTurn {
			some := l.findings[first:min(first+rowsPerTurn, len(l.findings))]
			if err := do(func(t *tx) error { return t.insertFindings(ctx, id, l.kind, first, some) }); err != nil {
				return err
			}
		}
	}
	for first := 0; first < len(r.skips); first += rowsPerTurn {
		some := r.skips[first:min(first+rowsPerTurn, len(r.skips))]
		if err := do(func(t *tx) error { return t.insertSkips(ctx, id, first, some) }); err != nil {
			return err
		}
	}

	return nil
}

// insertSkips inserts what was not looked at, in its order from a position on.
func (t *tx) insertSkips(ctx context.Context, id string, first int, skips []finding.Skip) error {
	const columns = "review_id, position, file, line, rule_id, reason, severity, tolerated"

	return t.insert(ctx, "skips", columns, len(skips), func(i int) []any {
		s := skips[i]

		return []any{id, first + i, []byte(s.File), s.Line, s.RuleID, s.Reason, s.Severity.String(), s.Tolerated}
	})
}

// insertResult inserts all rows of a review, compared with the previous one.
func (t *tx) insertResult(ctx context.Context, id, previousID string, o finding.Result) (*result, error) {
	r, err := t.compared(ctx, previousID, o)
	if err == nil {
		err = r.insert(ctx, id, func(insert func(*tx) error) error { return insert(t) })
	}

	return r, err
}

// storeLarge inserts the rows of a claimed review by turns, if they are many: SQLite
// has one writer, and others would wait for half a second. Nobody sees them before
// the review is complete, and a Finish that comes after one that was broken off
// begins anew.
func (s *Store) storeLarge(ctx context.Context, c review.Claim, o finding.Result) (all *result, err error) {
	err = s.read(ctx, "compare a review", of(c.Organization), func(t *tx) error {
		r, err := t.finishing(ctx, c)
		if err == nil {
			all, err = t.compared(ctx, r.PreviousID, o)
		}

		return err
	})
	if err != nil || all.findings+len(all.skips) <= rowsPerTurn {
		return all, err
	}

	turn := func(do func(*tx) error) error {
		return s.write(ctx, "store a large result", of(c.Organization), func(t *tx) error {
			if _, err := t.finishing(ctx, c); err != nil {
				return err
			}

			return do(t)
		})
	}
	err = turn(func(t *tx) error { return t.deleteRows(ctx, c.ReviewID) })
	if err == nil {
		err = all.insert(ctx, c.ReviewID, turn)
	}
	all.isStored = true

	return all, err
}

// deleteRows deletes the rows of a review that is not complete.
func (t *tx) deleteRows(ctx context.Context, id string) error {
	for _, table := range []string{"findings", "skips"} {
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE review_id = ?`, id); err != nil {
			return err
		}
	}

	return nil
}

// Finish implements review.Queue. The review is changed last, so that heartbeats
// don't wait while a large result is written.
func (s *Store) Finish(ctx context.Context, c review.Claim, o finding.Result) error {
	var compared *result
	if !s.dialect.postgres {
		var err error
		if compared, err = s.storeLarge(ctx, c, o); err != nil {
			return err
		}
	}

	return s.write(ctx, "finish a review", of(c.Organization), func(t *tx) error {
		r, err := t.finishing(ctx, c)
		if err != nil {
			return err
		}
		all, err := t.storeRest(ctx, c, r, o, compared)
		if s.dialect.classify(err) == duplicate { // another attempt has finished meanwhile
			return review.ErrLeaseLost
		}
		if err != nil {
			return err
		}
		// Whoever names a base as a commit may name any.
		if o.RulesFileValid && c.Commits.Base == "" {
			if err := t.setRulesFile(ctx, c.Organization, r.Repo, o.RulesFile); err != nil {
				return err
			}
		}

		if err := t.countDay(ctx, c.Organization, r.Repo, all.counts); err != nil {
			return err
		}

		if err := t.live(ctx, c, r.Repo, all.of(finding.KindFixed)); err != nil {
			return err
		}

		if err := t.complete(ctx, c, r, o, all); err != nil {
			return err
		}
		before, latest, err := t.makeLatest(ctx, c, r)
		if err != nil {
			return err
		}
		open, err := t.decide(ctx, c, r.Repo, o)
		if err == nil && latest {
			err = t.countOpen(ctx, c.Organization, r.Repo, before, open)
		}
		if err != nil {
			return err
		}
		if err := t.announceReview(ctx, c.Organization, webhook.ReviewCompleted, c.ReviewID); err != nil {
			return err
		}

		// Last, because every review of every organization changes the one row.
		return t.measure(ctx, c.Organization, r.Repo, t.now.Sub(r.StartedAt.Time), o.Bytes)
	})
}

// complete makes the claimed review complete.
func (t *tx) complete(ctx context.Context, c review.Claim, r finishing, o finding.Result, all *result) error {
	title, author, err := t.headOf(ctx, c.Organization, r.Repo, c.PRNumber)
	if err != nil {
		return err
	}
	title, author = cmp.Or(title, o.HeadTitle), cmp.Or(author, o.HeadAuthor)
	newCount := 0
	for _, f := range all.of(finding.KindReported) {
		if f.State == finding.StateNew {
			newCount++
		}
	}

	args := []any{
		at(t.now), o.HeadSHA, o.BaseSHA, o.RulesDigest, jsonOf[finding.Summary]{o.Summary}, o.Truncated,
		o.FilesTotal, o.FilesTotal, all.previousID, all.findings, len(o.Skips), o.Verdict.Outcome,
		o.Verdict.NotLookedAt, o.BaseFoundBy, o.LookedAt.Files, o.LookedAt.AddedLines, o.LookedAt.Rules,
		o.LookedAt.Generated, o.LookedAt.Minified, o.LookedAt.Vendored,
		o.Exclusions.Files, jsonOf[[]finding.SwitchedOff]{o.SwitchedOff}, jsonOf[rule.Publish]{o.Publish},
		o.Verdict.Threshold.String(), title, author, searchable(r.Repo, c.PRNumber, title, author),
		newCount, len(all.of(finding.KindFixed)), len(o.Suppressed),
	}

	return t.leave(ctx, c, review.Complete, `status = 'complete', completed_at = ?, lease_expires = NULL,
		head_sha = ?, base_sha = ?, rules_digest = ?, summary = ?, truncated = ?,
		files_done = ?, files_total = ?, previous_id = ?, finding_rows = ?, skip_rows = ?, outcome = ?,
		not_looked_at = ?, base_found_by = ?, looked_at_files = ?, looked_at_lines = ?, looked_at_rules = ?,
		generated_files = ?, minified_files = ?, vendored_files = ?,
		excluded_files = ?, switched_off = ?, publish = ?, fail_on = COALESCE(NULLIF(?, ''), fail_on),
		head_title = ?, head_author = ?, search = ?, new_total = ?, fixed_total = ?, suppressed_total = ?, `+setOpen,
		append(args, openValues(o.Summary)...)...)
}

// storeRest inserts what is not stored of a result, which is nil before it was
// compared.
func (t *tx) storeRest(
	ctx context.Context, c review.Claim, r finishing, o finding.Result, compared *result,
) (*result, error) {
	switch {
	case compared == nil:
		return t.insertResult(ctx, c.ReviewID, r.PreviousID, o)
	case compared.isStored:
		return compared, nil
	}
	if err := t.deleteRows(ctx, c.ReviewID); err != nil {
		return nil, err
	}

	return compared, compared.insert(ctx, c.ReviewID, func(insert func(*tx) error) error { return insert(t) })
}
