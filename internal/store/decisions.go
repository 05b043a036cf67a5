package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

// decidable is a review whose findings decisions are applied to.
type decidable struct {
	ID          string                  `db:"id"`
	PRNumber    int32                   `db:"pr_number"`
	Ruleset     string                  `db:"ruleset"`
	CreatedBy   string                  `db:"created_by"`
	FailOn      severity                `db:"fail_on"`
	Summary     jsonOf[finding.Summary] `db:"summary"`
	NotLookedAt int                     `db:"not_looked_at"`
	FindingRows int                     `db:"finding_rows"`
	Latest      bool                    `db:"latest"`
	openRow
}

// latestReviews are the latest complete reviews of a pull request, or for 0 of all of a
// repository's, the newest first, as far as triage.MaxReviews and triage.MaxRows allow:
// of each pull request one for each ruleset and whoever asked for it.
func (t *tx) latestReviews(ctx context.Context, org, repo string, pr int32) ([]decidable, error) {
	const seenPerReview = 20 // older ones of the same pull request
	var all []decidable
	err := t.list(ctx, &all, `SELECT id, pr_number, ruleset, created_by, fail_on, summary, not_looked_at, finding_rows,
			latest, `+openColumns+` FROM reviews WHERE organization = ? AND repo = ?
			AND (? = 0 OR pr_number = ?) AND status = 'complete'
		ORDER BY created_at DESC, id DESC LIMIT ?`, org, repo, pr, pr, seenPerReview*triage.MaxReviews)

	return latestOf(all), err
}

// latestOf is latestReviews of all, the newest first.
func latestOf(all []decidable) (latest []decidable) {
	type kind struct {
		pr                 int32
		ruleset, createdBy string
	}
	seen, rows := map[kind]bool{}, 0
	for _, r := range all {
		k := kind{r.PRNumber, r.Ruleset, r.CreatedBy}
		if seen[k] {
			continue
		}
		if rows += r.FindingRows; len(latest) == triage.MaxReviews || rows > triage.MaxRows && len(latest) > 0 {
			break
		}
		seen[k] = true
		latest = append(latest, r)
	}

	return latest
}

// listedRow is a finding in a review, and the decision that its verdict counts.
type listedRow struct {
	ReviewID    string   `db:"review_id"`
	Position    int      `db:"position"`
	RuleID      string   `db:"rule_id"`
	Severity    severity `db:"severity"`
	Fingerprint string   `db:"fingerprint"`
	Triage      string   `db:"triage"`
}

func (r listedRow) finding() finding.Finding {
	return finding.Finding{RuleID: r.RuleID, Severity: rule.Severity(r.Severity), Fingerprint: r.Fingerprint}
}

// listed are the findings that reviews report with at most rowsPerInsert fingerprints.
// There is one query for all numbers of either: queries are kept prepared.
func (t *tx) listed(ctx context.Context, reviews []decidable, fingerprints []string) (rows []listedRow, err error) {
	ids := make([]string, triage.MaxReviews)
	for i, r := range reviews {
		ids[i] = r.ID
	}
	ofReviews, args := in("review_id", ids)
	padded := append(slices.Clone(fingerprints), make([]string, rowsPerInsert-len(fingerprints))...)
	ofFingerprints, args := in("fingerprint", padded, args...)
	err = t.list(ctx, &rows, `SELECT review_id, position, rule_id, severity, fingerprint, triage FROM findings
		WHERE kind = 'reported' AND `+ofReviews+` AND `+ofFingerprints, args...)

	return rows, err
}

// effective are the decisions that count today about findings, by fingerprint and pull
// request.
type effective map[string]map[int32]triageRow

func (e effective) add(r triageRow) {
	if e[r.Fingerprint] == nil {
		e[r.Fingerprint] = map[int32]triageRow{}
	}
	e[r.Fingerprint][r.PRNumber] = r
}

// of is the decision about a finding in a pull request, where its own go before the
// repository's; nil for none.
func (e effective) of(fingerprint string, pr int32) *finding.Triage {
	r, ok := e[fingerprint][pr]
	if !ok {
		r, ok = e[fingerprint][0]
	}
	if !ok {
		return nil
	}
	t := r.triage()

	return &t
}

// applyDecisions makes the latest reviews say what is decided now about findings, and
// has their pull requests published again where that changes them.
func (t *tx) applyDecisions(ctx context.Context, org, repo string, pr int32, fingerprints []string) error {
	reviews, err := t.latestReviews(ctx, org, repo, pr)
	if err != nil || len(reviews) == 0 {
		return err
	}
	byID := map[string]decidable{}
	for _, r := range reviews {
		byID[r.ID] = r
	}

	touched := map[string]bool{}
	today := t.now.Format(time.DateOnly)
	for some := range slices.Chunk(fingerprints, rowsPerInsert) {
		condition, args := in("fingerprint", some, org, repo, today)
		var decisions []triageRow
		if err := t.list(ctx, &decisions, `SELECT `+triageColumns+` FROM triage WHERE organization = ? AND repo = ?
			AND (until = '' OR until >= ?) AND `+condition, args...); err != nil {
			return err
		}
		now := effective{}
		for _, d := range decisions {
			now.add(d)
		}

		rows, err := t.listed(ctx, reviews, some)
		if err != nil {
			return err
		}
		for _, r := range rows {
			changed, err := t.setAside(ctx, r.ReviewID, r.Position, r.Triage, now.of(r.Fingerprint, byID[r.ReviewID].PRNumber))
			if err != nil {
				return err
			}
			touched[r.ReviewID] = touched[r.ReviewID] || changed
		}
	}

	return t.judgeAgain(ctx, org, repo, reviews, touched)
}

// setAside stores the decision about a finding of a review, in place of the one that the
// row has as JSON, and returns whether they differ.
func (t *tx) setAside(
	ctx context.Context, reviewID string, position int, was string, is *finding.Triage,
) (changed bool, err error) {
	text := jsonOf[*finding.Triage]{is}
	value, err := text.Value()
	if err != nil || value == was {
		return false, err
	}
	decision := finding.Open
	if is != nil {
		decision = is.Decision
	}
	_, err = t.exec(ctx, `UPDATE findings SET decision = ?, triage = ?
		WHERE review_id = ? AND kind = 'reported' AND position = ?`, decision, text, reviewID, position)

	return true, err
}

// judgeAgain decides the verdicts of reviews whose decisions changed.
func (t *tx) judgeAgain(ctx context.Context, org, repo string, reviews []decidable, touched map[string]bool) error {
	published := map[int32]bool{}
	for _, r := range reviews {
		if !touched[r.ID] {
			continue
		}
		var aside []struct {
			Severity severity
			Count    int
		}
		if err := t.list(ctx, &aside, `SELECT severity, COUNT(*) AS count FROM findings WHERE review_id = ?
			AND `+isSetAside+` GROUP BY severity`, r.ID); err != nil {
			return err
		}
		open := finding.NewSummary()
		maps.Copy(open, r.Summary.value)
		for _, n := range aside {
			open[rule.Severity(n.Severity)] -= n.Count
		}
		if err := t.setVerdict(ctx, org, r.ID, open, rule.Severity(r.FailOn), r.NotLookedAt); err != nil {
			return err
		}
		if r.Latest {
			if err := t.countOpen(ctx, org, repo, r.open(), open); err != nil {
				return err
			}
		}
		t.tell(changedEvent + r.ID)
		if !published[r.PRNumber] {
			published[r.PRNumber] = true
			if err := t.wantPublication(ctx, org, repo, r.PRNumber); err != nil {
				return err
			}
		}
	}

	return nil
}

// decide applies what is decided to a review that has just finished. It comes after the
// organization's row was changed, so that no decision made at the same time is missed. It
// returns what is open then.
func (t *tx) decide(
	ctx context.Context, c review.Claim, repo string, o finding.Result,
) (open finding.Summary, err error) {
	open = finding.NewSummary()
	maps.Copy(open, o.Summary)
	today := t.now.Format(time.DateOnly)
	var rows []triageRow
	err = t.list(ctx, &rows, `SELECT `+triageColumns+` FROM triage WHERE organization = ? AND repo = ?
		AND pr_number IN (0, ?) AND (until = '' OR until >= ?)`, c.Organization, repo, c.PRNumber, today)
	if err != nil || len(rows) == 0 {
		return open, err
	}
	now := effective{}
	for _, r := range rows {
		now.add(r)
	}

	aside := false
	for i, f := range o.Findings {
		by := now.of(f.Fingerprint, c.PRNumber)
		if by == nil || o.Refuses != nil && o.Refuses(f, *by, today) != nil {
			continue
		}
		if _, err := t.setAside(ctx, c.ReviewID, i, "", by); err != nil {
			return nil, err
		}
		open[f.Severity]--
		aside = true
	}
	if !aside {
		return open, nil
	}

	threshold := cmp.Or(o.Verdict.Threshold, c.FailOn)

	return open, t.setVerdict(ctx, c.Organization, c.ReviewID, open, threshold, o.Verdict.NotLookedAt)
}
