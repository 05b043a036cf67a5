package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
)

// pullRequestColumns are those of pullRequestRow.
const pullRequestColumns = hostColumns + `, updated_at, want, done, failures, failing_from, published_at, problem`

// hostColumns are those that a host's answer sets.
const hostColumns = `organization, repo, number, connection_id, repo_id, private, state, title, author, author_id,
	head_sha, base_sha, base_ref, merge_base, draft, fork, labels, url, host_updated_at, created_at`

// pullRequestRow is a pull request as it is stored.
type pullRequestRow struct {
	Organization  string           `db:"organization"`
	Repo          string           `db:"repo"`
	Number        int32            `db:"number"`
	ConnectionID  string           `db:"connection_id"`
	RepoID        string           `db:"repo_id"`
	Private       bool             `db:"private"`
	State         codehost.State   `db:"state"`
	Title         []byte           `db:"title"`
	Author        []byte           `db:"author"`
	AuthorID      string           `db:"author_id"`
	HeadSHA       string           `db:"head_sha"`
	BaseSHA       string           `db:"base_sha"`
	BaseRef       []byte           `db:"base_ref"`
	MergeBase     string           `db:"merge_base"`
	Draft         bool             `db:"draft"`
	Fork          bool             `db:"fork"`
	Labels        jsonOf[[]string] `db:"labels"`
	URL           string           `db:"url"`
	HostUpdatedAt int64            `db:"host_updated_at"`
	CreatedAt     timestamp        `db:"created_at"`

	UpdatedAt   timestamp `db:"updated_at"`
	Want        int64     `db:"want"`
	Done        int64     `db:"done"`
	Failures    int       `db:"failures"`
	FailingFrom timestamp `db:"failing_from"`
	PublishedAt timestamp `db:"published_at"`
	Problem     string    `db:"problem"`
}

func (r pullRequestRow) pullRequest() publish.PullRequest {
	p := publish.PullRequest{
		PullRequest: codehost.PullRequest{
			Repository: codehost.Repository{ID: r.RepoID, Name: r.Repo, Private: r.Private},
			Number:     r.Number, State: r.State, Title: string(r.Title), Author: string(r.Author), AuthorID: r.AuthorID,
			HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, BaseRef: string(r.BaseRef), MergeBase: r.MergeBase,
			Draft: r.Draft, Fork: r.Fork, Labels: r.Labels.value, URL: r.URL,
		},
		Organization: r.Organization, Connection: r.ConnectionID, CreatedAt: r.CreatedAt.Time,
		Publication: publish.Publication{
			Pending: r.Want > r.Done, PublishedAt: r.PublishedAt.Time,
			Failures: r.Failures, FailingFrom: r.FailingFrom.Time, Problem: r.Problem,
		},
	}
	if r.HostUpdatedAt != 0 {
		p.UpdatedAt = time.UnixMicro(r.HostUpdatedAt).UTC()
	}

	return p
}

// clean is a text of a code host as it is kept where it is compared: Postgres has no
// texts with a NUL, and none that are not UTF-8.
func clean(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "") }

// UpsertPullRequest implements publish.Store.
func (s *Store) UpsertPullRequest(ctx context.Context, p publish.PullRequest) error {
	labels := p.Labels
	if labels == nil {
		labels = []string{}
	}
	encoded, err := jsonOf[[]string]{labels}.Value()
	if err != nil {
		return err
	}
	var changed int64 // by the host's clock
	if !p.UpdatedAt.IsZero() {
		changed = p.UpdatedAt.UnixMicro()
	}

	// A head that was scanned before is published again when it comes back; of another one
	// there is a review to come.
	const again = `CASE WHEN pull_requests.state <> excluded.state OR pull_requests.draft <> excluded.draft
		OR (pull_requests.head_sha <> excluded.head_sha OR pull_requests.base_ref <> excluded.base_ref) AND EXISTS (
			SELECT 1 FROM reviews r WHERE r.organization = excluded.organization AND r.repo = excluded.repo
				AND r.pr_number = excluded.number AND r.head_sha = excluded.head_sha
				AND r.created_by LIKE '` + review.ByConnection + `%')
		THEN 1 ELSE 0 END`
	err = s.write(ctx, "keep a pull request", of(p.Organization), func(t *tx) error {
		if err := t.changesHead(ctx, p, changed); err != nil {
			return err
		}
		wants := false
		err := t.get(ctx, &wants, `INSERT INTO pull_requests (`+hostColumns+`, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (organization, repo, number) DO UPDATE SET
				connection_id = excluded.connection_id, repo_id = excluded.repo_id, private = excluded.private,
				state = excluded.state, title = excluded.title, author = excluded.author,
				author_id = excluded.author_id, head_sha = excluded.head_sha, base_sha = excluded.base_sha,
				base_ref = excluded.base_ref, merge_base = excluded.merge_base, draft = excluded.draft,
				fork = excluded.fork, labels = excluded.labels, url = excluded.url,
				host_updated_at = excluded.host_updated_at, updated_at = excluded.updated_at,
				want = pull_requests.want + `+again+`,
				wanted_at = CASE `+again+` WHEN 1 THEN excluded.updated_at ELSE pull_requests.wanted_at END
			WHERE excluded.host_updated_at >= pull_requests.host_updated_at
			RETURNING want > done`,
			p.Organization, p.Repository.Name, p.Number, p.Connection, clean(p.Repository.ID), p.Repository.Private,
			p.State, []byte(p.Title), []byte(p.Author), clean(p.AuthorID), clean(p.HeadSHA), clean(p.BaseSHA),
			[]byte(p.BaseRef), clean(p.MergeBase), p.Draft, p.Fork, []byte(encoded.(string)), clean(p.URL),
			changed, at(t.now), at(t.now))
		if errors.Is(err, sql.ErrNoRows) { // what is kept is newer
			return nil
		}
		t.publishes = t.publishes || wants

		return err
	})

	return err
}

// changesHead has the other open pull requests of a head published again that one is about
// to leave, by a push or because it is closed, and of the head that it comes to, or comes to
// with another base: the check of a commit is for all of them.
func (t *tx) changesHead(ctx context.Context, p publish.PullRequest, changed int64) error {
	var old pullRequestRow
	err := t.get(ctx, &old, `SELECT head_sha, base_ref, state, host_updated_at FROM pull_requests`+ofPullRequest+
		t.lock("pull_requests"), p.Organization, p.Repository.Name, p.Number)
	if err != nil && !errors.Is(err, sql.ErrNoRows) || old.HostUpdatedAt > changed {
		return err
	}

	was, is, pushed := old.State == codehost.Open, p.State == codehost.Open, old.HeadSHA != clean(p.HeadSHA)
	if was && (pushed || !is) {
		if err := t.wantOthers(ctx, p.Key(), old.HeadSHA); err != nil {
			return err
		}
	}
	if is && (!was || pushed || string(old.BaseRef) != p.BaseRef) {
		return t.wantOthers(ctx, p.Key(), clean(p.HeadSHA))
	}

	return nil
}

// wantOthers has the other open pull requests of a head published again.
func (t *tx) wantOthers(ctx context.Context, k publish.Key, head string) error {
	n, err := t.exec(ctx, `UPDATE pull_requests SET want = want + 1, wanted_at = ?, updated_at = ?
		WHERE organization = ? AND repo = ? AND number <> ? AND state = 'open' AND head_sha = ?`,
		at(t.now), at(t.now), k.Organization, k.Repo, k.Number, head)
	t.publishes = t.publishes || n > 0

	return err
}

func pullRequestNotFound() error {
	return errs.New(errs.NotFound, errs.ReasonPullRequestNotFound,
		"There is no such pull request; prwarden knows those of which a code host told it.")
}

// GetPullRequest implements publish.Store.
func (s *Store) GetPullRequest(ctx context.Context, k publish.Key) (out publish.PullRequest, err error) {
	err = s.read(ctx, "read a pull request", of(k.Organization), func(t *tx) (err error) {
		out, err = t.pullRequest(ctx, k)

		return err
	})

	return out, err
}

// ofPullRequest is the condition that a row is of a publish.Key.
const ofPullRequest = ` WHERE organization = ? AND repo = ? AND number = ?`

func (t *tx) pullRequest(ctx context.Context, k publish.Key) (publish.PullRequest, error) {
	var row pullRequestRow
	err := t.get(ctx, &row, `SELECT `+pullRequestColumns+` FROM pull_requests`+ofPullRequest,
		k.Organization, k.Repo, k.Number)
	if errors.Is(err, sql.ErrNoRows) {
		err = pullRequestNotFound()
	}

	return row.pullRequest(), err
}

// ListPullRequests implements publish.Store.
func (s *Store) ListPullRequests(ctx context.Context, org string, f publish.Filter) ([]publish.PullRequest, error) {
	query, args := `SELECT `+pullRequestColumns+` FROM pull_requests WHERE organization = ?`, []any{org}
	where := func(condition string, values ...any) {
		query += " AND " + condition
		args = append(args, values...)
	}
	if f.Repo != "" {
		where("repo = ?", f.Repo)
	}
	if f.State != "" {
		where("state = ?", string(f.State))
	}
	if f.Connection != "" {
		where("connection_id = ?", f.Connection)
	}
	if f.After != (page.Cursor{}) {
		repo, number, err := publish.ParsePlace(f.After.ID)
		if err != nil {
			return nil, err
		}
		where("(created_at, repo, number) < (?, ?, ?)", at(f.After.At), repo, number)
	}
	query += " ORDER BY created_at DESC, repo DESC, number DESC LIMIT ?"
	args = append(args, max(f.Limit, 1))

	var rows []pullRequestRow
	err := s.read(ctx, "list pull requests", of(org), func(t *tx) error { return t.list(ctx, &rows, query, args...) })
	out := make([]publish.PullRequest, len(rows))
	for i, row := range rows {
		out[i] = row.pullRequest()
	}

	return out, err
}

// wantPublication has a pull request published again, and the other ones of its head, in
// the transaction of whatever there is to publish. It does nothing for one that no
// connection told of.
func (t *tx) wantPublication(ctx context.Context, org, repo string, number int32) error {
	var head string
	err := t.get(ctx, &head, `UPDATE pull_requests SET want = want + 1, wanted_at = ?, updated_at = ?`+ofPullRequest+
		` RETURNING head_sha`, at(t.now), at(t.now), org, repo, number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	t.publishes = true
	if err != nil {
		return err
	}

	return t.wantOthers(ctx, publish.Key{Organization: org, Repo: repo, Number: number}, head)
}

// Republish implements publish.Store.
func (s *Store) Republish(ctx context.Context, k publish.Key) (out publish.PullRequest, err error) {
	err = s.write(ctx, "republish a pull request", of(k.Organization), func(t *tx) error {
		if err := t.wantPublication(ctx, k.Organization, k.Repo, k.Number); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE pull_requests SET failures = 0, failing_from = NULL, not_before = 0`+
			ofPullRequest, k.Organization, k.Repo, k.Number); err != nil {
			return err
		}
		if out, err = t.pullRequest(ctx, k); err != nil {
			return err
		}

		return t.audit(ctx, k.Organization, audit.Change{
			Action: audit.PullRepublish, Target: fmt.Sprintf("%s#%d", k.Repo, k.Number),
		})
	})

	return out, err
}

// ReviewToPublish implements publish.Store.
func (s *Store) ReviewToPublish(ctx context.Context, k publish.Key, head string) (out *review.Review, err error) {
	err = s.read(ctx, "read the review to publish", of(k.Organization), func(t *tx) error {
		out = nil
		var id string
		err := t.get(ctx, &id, `SELECT id FROM reviews WHERE organization = ? AND repo = ? AND pr_number = ?
			AND head_sha = ? AND created_by LIKE '`+review.ByConnection+`%'
			ORDER BY created_at DESC, id DESC LIMIT 1`, k.Organization, k.Repo, k.Number, head)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := t.wholeReview(ctx, k.Organization, id)
		out = &r

		return err
	})

	return out, err
}

// ForkScans implements inbox.PullRequests.
func (s *Store) ForkScans(
	ctx context.Context, org, connection, authorID string, within time.Duration,
) (n int, err error) {
	err = s.read(ctx, "count scans of forks", of(org), func(t *tx) error {
		return t.get(ctx, &n, `SELECT COUNT(*) FROM reviews r
			JOIN pull_requests p ON p.organization = r.organization AND p.repo = r.repo AND p.number = r.pr_number
			WHERE r.organization = ? AND r.created_at > ? AND r.created_by = ? AND p.fork AND p.author_id = ?`,
			org, at(t.now.Add(-within)), review.ByConnection+connection, clean(authorID))
	})

	return n, err
}

// NewestPullRequest implements inbox.PullRequests.
func (s *Store) NewestPullRequest(ctx context.Context, org, connection, repoID string) (n int32, err error) {
	err = s.read(ctx, "look for a pull request", of(org), func(t *tx) error {
		return t.get(ctx, &n, `SELECT COALESCE((SELECT number FROM pull_requests
			WHERE organization = ? AND connection_id = ? AND repo_id = ? ORDER BY updated_at DESC, number DESC LIMIT 1), 0)`,
			org, connection, clean(repoID))
	})

	return n, err
}

// SameHead implements publish.Store.
func (s *Store) SameHead(ctx context.Context, k publish.Key, head string) (list []publish.Standing, err error) {
	err = s.read(ctx, "look for the same head", of(k.Organization), func(t *tx) error {
		var rows []struct {
			publish.Standing

			BaseRef []byte `db:"base_ref"` // of the pull request
			Scanned string // that of the review
		}
		err := t.list(ctx, &rows, `SELECT p.number, p.base_ref, COALESCE(r.status, '') AS status,
				COALESCE(r.outcome, '') AS outcome, COALESCE(r.base_ref, '') AS scanned
			FROM pull_requests p LEFT JOIN reviews r ON r.id = (SELECT n.id FROM reviews n
				WHERE n.organization = p.organization AND n.repo = p.repo AND n.pr_number = p.number
					AND n.head_sha = p.head_sha AND n.created_by LIKE '`+review.ByConnection+`%'
				ORDER BY n.created_at DESC, n.id DESC LIMIT 1)
			WHERE p.organization = ? AND p.repo = ? AND p.head_sha = ? AND p.number <> ? AND p.state = 'open'
			ORDER BY p.number`, k.Organization, k.Repo, head, k.Number)
		list = nil
		for _, r := range rows {
			if r.Scanned != string(r.BaseRef) {
				r.Standing = publish.Standing{Number: r.Number}
			}
			list = append(list, r.Standing)
		}

		return err
	})

	return list, err
}

// PurgePullRequests implements review.RetentionStore.
func (s *Store) PurgePullRequests(
	ctx context.Context, keep time.Duration, latest time.Time,
) (n int, more bool, err error) {
	return s.purge(ctx, "delete old pull requests", latest, func(t *tx, now time.Time) (int64, error) {
		calls, err := t.exec(ctx, `DELETE FROM connection_calls WHERE (organization, connection_id) IN
			(SELECT organization, connection_id FROM connection_calls WHERE served_at <= ? LIMIT ?`+
			t.lockFree("connection_calls")+`)`, at(now.Add(-keep)), purgeRows)
		if err != nil {
			return 0, err
		}
		deleted, err := t.exec(ctx, `DELETE FROM pull_requests WHERE (organization, repo, number) IN
			(SELECT organization, repo, number FROM pull_requests WHERE updated_at <= ? AND want = done
			 ORDER BY updated_at LIMIT ?`+t.lockFree("pull_requests")+`)`, at(now.Add(-keep)), purgeReviews)

		return calls + deleted, err
	})
}
