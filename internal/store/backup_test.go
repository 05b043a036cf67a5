package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
)

// fileOf is the file of an SQLite database.
func fileOf(database string) string { return strings.TrimPrefix(database, "sqlite:") }

// names are the files in a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)

	for _, e := range entries {
		out = append(out, e.Name())
	}

	return out
}

func TestBackupWhileTheServerWrites(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t), Exclusive: true})
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var finished []string
	begun := make(chan struct{}, 1_000_000)
	var writing sync.WaitGroup
	for range 3 {
		writing.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.CreateReview(t.Context(), newReview("acme", review.NewID()), 1<<30); !assert.NoError(t, err) {
					return
				}
				c, err := s.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: time.Minute})
				if !assert.NoError(t, err) || !assert.NoError(t, s.Finish(t.Context(), *c, manyFindings(30))) {
					return
				}
				mu.Lock()
				finished = append(finished, c.ReviewID)
				mu.Unlock()
				begun <- struct{}{}
			}
		})
	}

	dir := t.TempDir()
	for i := range 3 {
		for range 20 {
			<-begun
		}
		mu.Lock()
		before := append([]string(nil), finished...)
		mu.Unlock()
		file := filepath.Join(dir, fmt.Sprint("backup", i))
		c, err := Backup(t.Context(), s.database, file)
		require.NoError(t, err)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, info.Size(), c.Bytes)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		assert.Equal(t, c.Schema.Needed, c.Schema.Current)

		restored := "sqlite:" + filepath.Join(t.TempDir(), "restored.db")
		_, err = Restore(t.Context(), file, restored, false)
		require.NoError(t, err)
		r := openAt(t, Options{Database: restored, Exclusive: true})
		assertCounts(t, r)

		for _, id := range before {
			got, err := r.GetReview(t.Context(), "acme", id)
			require.NoError(t, err, "it was finished before the backup began")
			require.Len(t, got.Findings, 30)
		}
		var half int
		require.NoError(t, r.pools.reader.GetContext(t.Context(), &half, `SELECT COUNT(*) FROM reviews r WHERE
			(SELECT COUNT(*) FROM findings f WHERE f.review_id = r.id) <> CASE r.status WHEN 'complete' THEN 30 ELSE 0 END`))
		assert.Zero(t, half)
	}

	stop()
	writing.Wait()
	assert.Equal(t, []string{"backup0", "backup1", "backup2"}, names(t, dir), "and nothing else")
}

// TestBackupWaitsForNoWriter: a busy server's writes follow each other without a
// gap, so that who waits for one may wait for ever.
func TestBackupWaitsForNoWriter(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	writing, err := s.pools.writer.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { assert.NoError(t, writing.Rollback()) }()
	file := filepath.Join(t.TempDir(), "backup")
	_, err = Backup(t.Context(), s.database, file)
	require.NoError(t, err)
	beside, err := Open(t.Context(), Options{Database: s.database, busyTimeoutMS: 1})
	require.NoError(t, err, "to open a database is no write")
	assert.NoError(t, beside.Close())
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	dir := t.TempDir()
	taken, garbage := filepath.Join(dir, "taken"), filepath.Join(dir, "garbage")
	underWay := filepath.Join(t.TempDir(), "under-way")
	require.NoError(t, os.WriteFile(underWay+".part", nil, 0o600))
	require.NoError(t, os.WriteFile(taken, []byte("precious"), 0o600))
	require.NoError(t, os.WriteFile(garbage, []byte(strings.Repeat("garbage ", 1_000)), 0o600))
	empty := openAtWithoutSchema(t)
	for name, c := range map[string]struct{ database, file, want string }{
		"an existing file":     {s.database, taken, "exists; a backup replaces nothing"},
		"no database":          {"sqlite:" + filepath.Join(dir, "none.db"), filepath.Join(dir, "a"), "there is no database"},
		"no path":              {"sqlite:", filepath.Join(dir, "a"), "has no path"},
		"a folder that isn't":  {s.database, filepath.Join(dir, "none", "a"), "no such file"},
		"no SQLite database":   {"sqlite:" + garbage, filepath.Join(dir, "a"), "can't be opened"},
		"a backup under way":   {s.database, underWay, "another backup writes it"},
		"another's database":   {empty, filepath.Join(dir, "a"), "not one of prwarden"},
		"a name that is taken": {s.database, dir, "exists"},
	} {
		_, err := Backup(t.Context(), c.database, c.file)
		require.ErrorContains(t, err, c.want, name)
		assert.Equal(t, []string{"garbage", "taken"}, names(t, dir), name)
	}

	assert.FileExists(t, underWay+".part")
	data, err := os.ReadFile(taken)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(data))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Backup(ended, s.database, filepath.Join(dir, "a"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{"garbage", "taken"}, names(t, dir))
}

// openAtWithoutSchema makes an SQLite database that is not one of prwarden.
func openAtWithoutSchema(t *testing.T) string {
	t.Helper()
	database := newDatabase(t)
	s, err := Open(t.Context(), Options{Database: database})
	require.NoError(t, err)
	_, err = s.pools.writer.ExecContext(t.Context(), "CREATE TABLE t (x)")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return database
}

// backupWith makes a backup of a new database with one review.
func backupWith(t *testing.T, id string) string {
	t.Helper()
	s := openAt(t, Options{Database: newDatabase(t)})
	create(t, s, "acme", id)
	file := filepath.Join(t.TempDir(), "backup")
	_, err := Backup(t.Context(), s.database, file)
	require.NoError(t, err)
	return file
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	good := backupWith(t, "rev_new")
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}

	data, err := os.ReadFile(good)
	require.NoError(t, err)
	damaged := append([]byte(nil), data...)
	for i := range damaged[4096:] {
		damaged[4096+i] ^= 0x55
	}

	inUse := write("in-use", data)
	write("in-use-wal", []byte("x"))
	later := write("later", nil)
	alter(t, good, later, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, 1)")

	o := Options{Database: newDatabase(t), Exclusive: true}
	s := openAt(t, o)
	create(t, s, "acme", "rev_old")
	_, err = Restore(t.Context(), good, o.Database, true)
	require.ErrorContains(t, err, "another prwarden serves this database")
	require.NoError(t, s.Close())

	beside := openAt(t, Options{Database: o.Database})
	_, err = Restore(t.Context(), good, o.Database, true)
	require.ErrorContains(t, err, "another command uses the database")
	create(t, beside, "acme", "rev_beside")
	require.NoError(t, beside.Close())

	_, err = Restore(t.Context(), good, o.Database, false)
	require.ErrorContains(t, err, "--force replaces it")

	for file, want := range map[string]string{
		write("empty", nil):                     "not one of prwarden",
		write("garbage", []byte("no database")): "can't be opened",
		write("cut off", data[:len(data)/2]):    "",
		write("damaged", damaged):               "",
		fileOf(openAtWithoutSchema(t)):          "not one of prwarden",
		inUse:                                   "has a log beside it",
		filepath.Join(dir, "none"):              "no such file",
		dir:                                     "is a directory",
	} {
		_, err := Restore(t.Context(), file, o.Database, true)
		require.ErrorContains(t, err, want, file)
		assert.Equal(t, []string{"prwarden.db", "prwarden.db.lock"}, names(t, filepath.Dir(fileOf(o.Database))), file)
	}

	s = openAt(t, o)
	for _, id := range []string{"rev_old", "rev_beside"} {
		_, err = s.GetReviewState(t.Context(), "acme", id)
		require.NoError(t, err, "the old one is as it was")
	}
	require.NoError(t, s.Close())

	// Nor is what the old one became.
	require.NoError(t, os.WriteFile(fileOf(o.Database), damaged, 0o600))
	_, err = Restore(t.Context(), good, o.Database, true)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(fileOf(o.Database), []byte("no database"), 0o600))

	// A later schema on which this program still works is no reason.
	c, err := Restore(t.Context(), later, o.Database, true)
	require.NoError(t, err)
	assert.EqualValues(t, 1000, c.Schema.Current)
}

// alter makes a changed copy of a database.
func alter(t *testing.T, from, to, statements string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
	s, err := Open(t.Context(), Options{Database: "sqlite:" + to})
	require.NoError(t, err)
	_, err = s.pools.writer.ExecContext(t.Context(), statements)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// A server that was killed leaves its log beside the database. It must not be
// taken for that of the database that comes in its place.
func TestRestoreInPlaceOfAKilledServersDatabase(t *testing.T) {
	t.Parallel()
	good := backupWith(t, "rev_new")
	running := openAt(t, Options{Database: newDatabase(t)})
	for i := range 50 {
		create(t, running, "acme", fmt.Sprint("rev_", i))
	}

	killed, kept := filepath.Join(t.TempDir(), "prwarden.db"), filepath.Join(t.TempDir(), "prwarden.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(fileOf(running.database) + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(killed+suffix, data, 0o600))
		require.NoError(t, os.WriteFile(kept+suffix, data, 0o600))
	}

	require.NoError(t, closeLog(t.Context(), kept))
	assert.Equal(t, []string{"prwarden.db"}, names(t, filepath.Dir(kept)))
	old, _, err := openAt(t, Options{Database: "sqlite:" + kept}).
		ListReviews(t.Context(), "acme", review.Filter{Limit: 100})
	require.NoError(t, err)
	assert.Len(t, old, 50, "a restore that fails now loses nothing")

	require.NoError(t, os.WriteFile(killed+".part", []byte("what an earlier attempt left"), 0o600))
	_, err = Restore(t.Context(), good, "sqlite:"+killed, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"prwarden.db", "prwarden.db.lock"}, names(t, filepath.Dir(killed)))

	s := openAt(t, Options{Database: "sqlite:" + killed, Exclusive: true})
	list, _, err := s.ListReviews(t.Context(), "acme", review.Filter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "rev_new", list[0].ID)
	require.NoError(t, checkIntegrity(t.Context(), s.pools.reader))
	create(t, s, "acme", "rev_next")
}
