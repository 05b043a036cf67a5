package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, []byte(strings.Repeat("no database at all ", 100)), 0o600))
	cases := map[string]struct{ database, want string }{
		"no scheme":              {"prwarden.db", "must begin with `sqlite:`"},
		"unknown scheme":         {"mysql://user:secret@host/db", `not with "mysql"`},
		"no path":                {"sqlite:", "has no path"},
		"in memory":              {"sqlite::memory:", "in memory"},
		"NUL":                    {"sqlite:a\x00b", "NUL"},
		"folder missing":         {"sqlite:" + dir + "/none/a.db", "the folder " + dir + "/none does not exist"},
		"a folder":               {"sqlite:" + dir, "is a folder"},
		"no regular file":        {"sqlite:/dev/null", "is not a regular file"},
		"not a database":         {"sqlite:" + garbage, "can't be opened"},
		"a folder that's a file": {"sqlite:" + garbage + "/a.db", "a.db"},
	}

	for name, c := range cases {
		for _, exclusive := range []bool{false, true} {
			if exclusive && strings.HasPrefix(c.database, "sqlite:/dev/") {
				continue // its lock file would be made in /dev
			}
			s, err := Open(t.Context(), Options{Database: c.database, Exclusive: exclusive})
			if !assert.Error(t, err, name) {
				require.NoError(t, s.Close())
				continue
			}
			assert.NotContains(t, err.Error(), "secret", name)
			if !exclusive {
				assert.Contains(t, err.Error(), c.want, name)
			}
		}
	}
}

func TestOneServesAtATime(t *testing.T) {
	t.Parallel()
	o := Options{Database: newDatabase(t), Exclusive: true}
	first := openAt(t, o)
	_, err := Open(t.Context(), o)
	require.ErrorContains(t, err, "another prwarden serves this database")

	file := fileOf(o.Database)
	for name, target := range map[string]string{"file": file, "folder": filepath.Dir(file)} {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(target, link))
		if name == "folder" {
			link = filepath.Join(link, filepath.Base(o.Database))
		}
		_, err := Open(t.Context(), Options{Database: "sqlite:" + link, Exclusive: true})
		require.ErrorContains(t, err, "another prwarden serves this database", "by a link to the "+name)
	}

	// The command line may work on it all the same.
	second := openAt(t, Options{Database: o.Database})
	create(t, second, "acme", "rev_a")
	_, err = first.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)

	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "twice does nothing")
	openAt(t, o)
}

// Who is killed may hold the lock for a moment longer than his life.
func TestLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lockFile(t.Context(), path)
	require.NoError(t, err)
	released := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() { released <- release() })
	next, err := lockFile(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, <-released)
	require.NoError(t, next())
}

func TestFailedOpenKeepsNoLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("garbage ", 1_000)), 0o600))
	o := Options{Database: "sqlite:" + path, Exclusive: true}
	_, err := Open(t.Context(), o)
	require.Error(t, err)
	require.NoError(t, os.Remove(path))
	openAt(t, o)
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	o := Options{Database: newDatabase(t), Exclusive: true}
	openAt(t, o)
	dir := filepath.Dir(fileOf(o.Database))
	all := names(t, dir)
	assert.Equal(t, []string{"prwarden.db", "prwarden.db-shm", "prwarden.db-wal", "prwarden.db.lock"}, all)
	for _, name := range all {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestPathMeansNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"a b?c#d%41&_pragma=synchronous(OFF).db", "ü+;=@:.db", "%2e%2e", "file:x?mode=memory",
		"\xff.db", "'quoted' \"name\"",
	} {
		path := filepath.Join(dir, name)
		s := openAt(t, Options{Database: "sqlite:" + path})
		_, err := os.Stat(path)
		require.NoError(t, err, name)
		assertPragmas(t, s)
	}

	assert.Len(t, names(t, dir), 3*6, "each with its log and shared memory")
}

func TestPragmas(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	assertPragmas(t, s)

	// A connection that was broken off is replaced by one like it.
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := s.pools.writer.BeginTxx(ctx, nil)
	require.NoError(t, err)
	cancel()
	require.Error(t, tx.Commit())
	assertPragmas(t, s)
}

func assertPragmas(t *testing.T, s *Store) {
	t.Helper()

	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"busy_timeout": "5000"} {
		var got string
		require.NoError(t, s.pools.writer.GetContext(t.Context(), &got, "PRAGMA "+pragma))
		assert.Equal(t, want, got, pragma)
	}

	_, err := s.pools.reader.ExecContext(t.Context(), "DELETE FROM reviews")
	require.Error(t, err, "readers can't write")
	assert.Equal(t, unavailable, classifySQLite(err), "SQLITE_READONLY")
}

func TestErrorsByCode(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	o := Options{Database: newDatabase(t), busyTimeoutMS: 1}
	s := openAt(t, o)
	away := func(err error) {
		t.Helper()
		require.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)
		assert.Equal(t, errs.ReasonUnavailable, errs.ReasonOf(err))
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, retryAfter, e.RetryAfter)
		require.Error(t, e.Err, "the log sees the cause")
		assert.NotContains(t, e.Message, e.Err.Error())
	}

	// Another process writes for too long.
	blocker, err := openAt(t, o).pools.writer.BeginTxx(ctx, nil)
	require.NoError(t, err)
	_, err = s.CreateReview(ctx, newReview("acme", "rev_busy"), 10)
	away(err)
	_, _, err = s.ListReviews(ctx, "acme", review.Filter{Limit: 1})
	require.NoError(t, err, "readers don't wait for a writer")
	require.NoError(t, blocker.Rollback())

	// The disk is full.
	var pages int
	require.NoError(t, s.pools.writer.GetContext(ctx, &pages, "PRAGMA page_count"))
	_, err = s.pools.writer.ExecContext(ctx, "PRAGMA max_page_count = 1") // the least possible is what is there
	require.NoError(t, err)
	_, err = s.CreateReview(ctx, newReview("acme", "rev_a"), 10)
	require.NoError(t, err, "pages have room left")
	c := claim(t, s)
	away(s.Finish(ctx, c, manyFindings(5_000)))
	r, err := s.GetReview(ctx, "acme", "rev_a")
	require.NoError(t, err)
	assert.Equal(t, review.InProgress, r.Status)
	assert.Empty(t, r.Findings)
	_, err = s.pools.writer.ExecContext(ctx, "PRAGMA max_page_count = 1000000")
	require.NoError(t, err)
	require.NoError(t, s.Finish(ctx, c, manyFindings(5_000)), "and goes on when there is room again")

	// Constraints and statements.
	_, err = s.pools.writer.ExecContext(ctx, "INSERT INTO organizations (name) VALUES ('acme')")
	assert.Equal(t, duplicate, classifySQLite(err))
	_, err = s.pools.writer.ExecContext(ctx, "UPDATE organizations SET queued = -1")
	assert.Equal(t, unexpected, classifySQLite(err), "a CHECK is a mistake of ours")
	_, err = s.pools.writer.ExecContext(ctx, "DELETE FROM nothing")
	assert.Equal(t, unexpected, classifySQLite(err))
	assert.Equal(t, unexpected, classifySQLite(errors.New("database is locked")), "text means nothing")
}

// TestContextEndsInTheMiddle ends the context while a large outcome is being
// written: nothing of it may remain, and the one writer must live on.
func TestContextEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	create(t, s, "acme", "rev_a")
	c := claim(t, s)

	ctx, cancel := context.WithCancel(t.Context())
	err := s.write(ctx, "break off", allOrganizations, func(tx *tx) error {
		if _, err := tx.insertResult(ctx, c.ReviewID, "", manyFindings(1_000)); err != nil {
			return err
		}
		cancel()
		_, err := tx.insertResult(ctx, c.ReviewID, "", finding.Result{Skips: []finding.Skip{{File: "a", Reason: "binary"}}})

		return err
	})

	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, errs.Canceled, errs.KindOf(err))

	o := manyFindings(review.MaxFindings)
	require.NoError(t, s.Finish(t.Context(), c, o))
	r, err := s.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	assert.Len(t, r.Findings, review.MaxFindings)
}

// TestContextEndsWhileWaiting ends the context while another process writes.
func TestContextEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	o := Options{Database: newDatabase(t), busyTimeoutMS: 200}
	s := openAt(t, o)
	blocker, err := openAt(t, o).pools.writer.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.CreateReview(ctx, newReview("acme", "rev_a"), 10)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, errs.DeadlineExceeded, errs.KindOf(err))
	require.NoError(t, blocker.Rollback())
	create(t, s, "acme", "rev_a")
}

// TestCommitFails breaks a foreign key in a way that only the commit notices.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	err := s.write(t.Context(), "break a key", allOrganizations, func(tx *tx) error {
		if _, err := tx.exec(t.Context(), "PRAGMA defer_foreign_keys = 1"); err != nil {
			return err
		}

		_, err := tx.insertResult(t.Context(), "rev_none", "", manyFindings(1))

		return err
	})

	require.ErrorContains(t, err, "break a key")
	assert.Equal(t, errs.Internal, errs.KindOf(err))
	var n int
	require.NoError(t, s.pools.reader.GetContext(t.Context(), &n, "SELECT COUNT(*) FROM findings"))
	assert.Zero(t, n)
	create(t, s, "acme", "rev_a")
}

// TestStrict holds that a value of the wrong type is refused in every table.
func TestStrict(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	var loose []string
	require.NoError(t, s.pools.writer.SelectContext(t.Context(), &loose,
		`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict
			AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version'`))
	assert.Empty(t, loose)
}

// TestALargeResultLetsOthersWrite breaks off a large result between two turns: others
// write meanwhile, nothing is seen, and a result that is stored again is whole.
func TestALargeResultLetsOthersWrite(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	create(t, s, "acme", "rev_a")
	c := claim(t, s)
	o := manyFindings(3 * rowsPerTurn)
	all, err := s.storeLarge(t.Context(), c, o)
	require.NoError(t, err)
	require.True(t, all.isStored)
	create(t, s, "acme", "rev_b")
	r, err := s.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	assert.Empty(t, r.Findings)

	turns := 0
	err = all.insert(t.Context(), "rev_none", func(func(*tx) error) error { turns++; return nil })
	require.NoError(t, err)
	assert.Equal(t, 3, turns)

	small := manyFindings(2)
	require.NoError(t, s.Finish(t.Context(), c, small), "what was stored before is no more")
	r, err = s.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	assert.Len(t, r.Findings, 2)

	b := claim(t, s)
	require.NoError(t, s.Finish(t.Context(), b, o))
	_, err = s.storeLarge(t.Context(), b, o)
	require.ErrorIs(t, err, review.ErrLeaseLost, "it is complete")
	r, err = s.GetReview(t.Context(), "acme", "rev_b")
	require.NoError(t, err)
	assert.Len(t, r.Findings, len(o.Findings))
}
