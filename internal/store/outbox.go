package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/publish"
)

// OnPublication has f called after each transaction that leaves something to publish.
// f must return at once.
func (s *Store) OnPublication(f func()) { s.onPublication.Store(&f) }

// nextPublication chooses what to claim. Publications are few at a time, so they are
// sorted.
const nextPublication = `SELECT p.organization, p.repo, p.number FROM pull_requests p
	LEFT JOIN connection_calls c ON c.organization = p.organization AND c.connection_id = p.connection_id
	WHERE p.want > p.done AND p.lease_until <= ? AND p.not_before <= ? AND COALESCE(c.not_before, 0) <= ?
	ORDER BY COALESCE(c.served_at, 0), p.wanted_at LIMIT 1`

// ClaimPublication implements publish.Outbox.
func (s *Store) ClaimPublication(
	ctx context.Context, owner string, lease time.Duration,
) (out *publish.Claim, err error) {
	err = s.write(ctx, "claim a publication", allOrganizations, func(t *tx) error {
		out = nil
		var k publish.Key
		now := at(t.now)
		err := t.get(ctx, &k, nextPublication+t.lockFree("p"), now, now, now)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}

		var row pullRequestRow
		if err := t.get(ctx, &row, `UPDATE pull_requests SET owner = ?, lease_until = ?`+ofPullRequest+
			` RETURNING `+pullRequestColumns,
			owner, at(t.now.Add(lease)), k.Organization, k.Repo, k.Number); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `INSERT INTO connection_calls (organization, connection_id, served_at) VALUES (?, ?, ?)
			ON CONFLICT (organization, connection_id) DO UPDATE SET served_at = excluded.served_at`,
			row.Organization, row.ConnectionID, now); err != nil {
			return err
		}
		out = &publish.Claim{PullRequest: row.pullRequest(), Owner: owner, Want: row.Want}

		return nil
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// heldBy is the condition under which a publisher still holds its pull request.
const heldBy = ofPullRequest + ` AND owner = ?`

func heldArgs(c publish.Claim) []any {
	return []any{c.Organization, c.Repository.Name, c.Number, c.Owner}
}

// Reserve implements publish.Outbox. The lease is prolonged last, with the wait that
// the connection's calls ask for, and in the same transaction.
func (s *Store) Reserve(
	ctx context.Context, c publish.Claim, r publish.Reservation,
) (out publish.Reserved, err error) {
	err = s.write(ctx, "reserve a call", of(c.Organization), func(t *tx) error {
		out = publish.Reserved{}
		if r.Writes {
			if out.Wait, err = t.reserveCall(ctx, c.Organization, c.Connection, r); err != nil {
				return err
			}
		}
		until := at(t.now.Add(min(out.Wait, r.Patience) + r.Lease))
		err := t.get(ctx, &out.Want, `UPDATE pull_requests SET lease_until = ?`+heldBy+` RETURNING want`,
			append([]any{until}, heldArgs(c)...)...)
		if errors.Is(err, sql.ErrNoRows) {
			return publish.ErrLeaseLost
		}

		return err
	})

	return out, err
}

// ReserveCall takes a place among the calls of a connection, for a call that is of no
// publication, and returns how long it is until then. Over the patience none is taken.
func (s *Store) ReserveCall(
	ctx context.Context, org, connection string, r publish.Reservation,
) (wait time.Duration, err error) {
	err = s.write(ctx, "reserve a call", of(org), func(t *tx) error {
		wait, err = t.reserveCall(ctx, org, connection, r)

		return err
	})

	return wait, err
}

// callsRow are the calls of a connection.
type callsRow struct {
	NextAt    int64 `db:"next_at"`
	HourEnd   int64 `db:"hour_end"`
	HourCalls int   `db:"hour_calls"`
	NotBefore int64 `db:"not_before"`
}

// reserveCall takes the connection's next place for a call, and returns how long it is
// until then. A place beyond the caller's patience is not taken.
func (t *tx) reserveCall(ctx context.Context, org, connection string, r publish.Reservation) (time.Duration, error) {
	var row callsRow
	err := t.get(ctx, &row, `SELECT next_at, hour_end, hour_calls, not_before FROM connection_calls
		WHERE organization = ? AND connection_id = ?`+t.lock("connection_calls"), org, connection)
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // retention may just have deleted it
		return 0, err
	}

	now := t.now.UnixMicro()
	if row.HourEnd <= now || row.HourEnd > now+time.Hour.Microseconds() { // or the clock was wrong
		row.HourEnd, row.HourCalls = now+time.Hour.Microseconds(), 0
	}
	if row.NextAt > now+time.Hour.Microseconds() {
		row.NextAt = now
	}
	begin := max(now, row.NextAt, row.NotBefore)
	if r.PerHour > 0 && row.HourCalls >= r.PerHour {
		begin = max(begin, row.HourEnd)
	}
	wait := time.Duration(begin-now) * time.Microsecond
	if wait > r.Patience {
		return wait, nil
	}

	_, err = t.exec(ctx, `INSERT INTO connection_calls (organization, connection_id, next_at, hour_end, hour_calls)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (organization, connection_id) DO UPDATE SET next_at = excluded.next_at,
			hour_end = excluded.hour_end, hour_calls = excluded.hour_calls`,
		org, connection, begin+r.Spacing.Microseconds(), row.HourEnd, row.HourCalls+1)

	return wait, err
}

// Known implements publish.Store.
func (s *Store) Known(ctx context.Context, k publish.Key) (out publish.Known, err error) {
	var threads []struct {
		Fingerprint string
		Ref, Thread string
		State       publish.ThreadState
		RuleID      string `db:"rule_id"`
		Path        []byte
		UpdatedAt   timestamp `db:"updated_at"`
	}
	var sinks []struct {
		Sink     publish.Sink
		Ref      string
		HeadSHA  string `db:"head_sha"`
		ReviewID string `db:"review_id"`
		Verdict  string
		Deleted  bool
	}
	err = s.read(ctx, "read what was published", of(k.Organization), func(t *tx) error {
		err := t.list(ctx, &threads, `SELECT fingerprint, ref, thread, state, rule_id, path, updated_at FROM threads`+
			ofPullRequest+` ORDER BY fingerprint`, k.Organization, k.Repo, k.Number)
		if err != nil {
			return err
		}

		return t.list(ctx, &sinks, `SELECT sink, ref, head_sha, review_id, verdict, deleted FROM published`+
			ofPullRequest+` ORDER BY sink`, k.Organization, k.Repo, k.Number)
	})

	out = publish.Known{Threads: make([]publish.Thread, len(threads)), Published: make([]publish.Published, len(sinks))}
	for i, r := range threads {
		out.Threads[i] = publish.Thread{
			Fingerprint: r.Fingerprint, Ref: codehost.Ref(r.Ref), Thread: codehost.Ref(r.Thread), State: r.State,
			RuleID: r.RuleID, Path: string(r.Path), UpdatedAt: r.UpdatedAt.Time,
		}
	}
	for i, r := range sinks {
		out.Published[i] = publish.Published{
			Sink: r.Sink, Ref: codehost.Ref(r.Ref), HeadSHA: r.HeadSHA, ReviewID: r.ReviewID,
			Verdict: codehost.Verdict(r.Verdict), Deleted: r.Deleted,
		}
	}

	return out, err
}

// Record implements publish.Outbox.
func (s *Store) Record(ctx context.Context, c publish.Claim, k publish.Known) error {
	return s.write(ctx, "record what was published", of(c.Organization), func(t *tx) error {
		var held int
		err := t.get(ctx, &held, `SELECT 1 FROM pull_requests`+heldBy+t.lock("pull_requests"), heldArgs(c)...)
		if errors.Is(err, sql.ErrNoRows) {
			return publish.ErrLeaseLost
		}
		if err != nil {
			return err
		}

		err = t.upsert(ctx, "threads",
			"organization, repo, number, fingerprint, ref, thread, state, rule_id, path, updated_at",
			` ON CONFLICT (organization, repo, number, fingerprint) DO UPDATE SET ref = excluded.ref,
				thread = excluded.thread, state = excluded.state, rule_id = excluded.rule_id, path = excluded.path,
				updated_at = excluded.updated_at`,
			len(k.Threads), func(i int) []any {
				x := k.Threads[i]

				return []any{
					c.Organization, c.Repository.Name, c.Number, x.Fingerprint, string(x.Ref), string(x.Thread), x.State,
					x.RuleID, []byte(x.Path), at(t.now),
				}
			})
		if err != nil {
			return err
		}

		return t.upsert(ctx, "published", "organization, repo, number, sink, ref, head_sha, review_id, verdict, deleted",
			` ON CONFLICT (organization, repo, number, sink) DO UPDATE SET ref = excluded.ref,
				head_sha = excluded.head_sha, review_id = excluded.review_id, verdict = excluded.verdict,
				deleted = excluded.deleted`,
			len(k.Published), func(i int) []any {
				x := k.Published[i]

				return []any{
					c.Organization, c.Repository.Name, c.Number, x.Sink, string(x.Ref), x.HeadSHA, x.ReviewID, string(x.Verdict),
					x.Deleted,
				}
			})
	})
}

// EndPublication implements publish.Outbox. A lease that is left has no owner, so nobody
// prolongs it.
func (s *Store) EndPublication(ctx context.Context, c publish.Claim, e publish.End) error {
	return s.write(ctx, "end a publication", of(c.Organization), func(t *tx) error {
		set := `owner = '', problem = ?, not_before = ?, lease_until = ?`
		args := []any{e.Problem, at(t.now.Add(e.After)), at(t.now.Add(e.Lease))}
		if e.Done {
			set += `, done = ?`
			args = append(args, c.Want)
		}
		if e.Done && e.Problem == "" {
			set += `, published_at = ?`
			args = append(args, at(t.now))
		}
		if e.Failed {
			set += `, failures = failures + 1, failing_from = COALESCE(failing_from, ?)`
			args = append(args, at(t.now))
		} else if e.Done {
			set += `, failures = 0, failing_from = NULL`
		}

		n, err := t.exec(ctx, `UPDATE pull_requests SET `+set+heldBy, append(args, heldArgs(c)...)...)
		if err == nil && n == 0 {
			err = publish.ErrLeaseLost
		}

		return err
	})
}

// HoldConnection implements publish.Outbox.
func (s *Store) HoldConnection(ctx context.Context, org, connection string, d time.Duration) error {
	return s.write(ctx, "hold a connection", of(org), func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE connection_calls SET not_before = ? WHERE organization = ? AND connection_id = ?`,
			at(t.now.Add(d)), org, connection)

		return err
	})
}
