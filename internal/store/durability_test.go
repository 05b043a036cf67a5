package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
)

// childDatabase is set in a process that TestKill starts: the database that it
// shall work on.
const childDatabase = "PRWARDEN_TEST_CHILD_DATABASE"

func TestMain(m *testing.M) {
	if database := os.Getenv(childDatabase); database != "" {
		panic(work(context.Background(), database, os.Stdout)) // it ends only with an error
	}
	m.Run()
}

// work creates reviews and finishes every second one, and says so on out
// after each commit, until it is killed.
func work(ctx context.Context, database string, out io.Writer) error {
	s, err := Open(ctx, Options{Database: database, Exclusive: true})
	if err != nil {
		return err
	}

	if err := s.Migrate(ctx); err != nil {
		return err
	}

	for i := 0; ; i++ {
		id := review.NewID()
		if _, err := s.CreateReview(ctx, newReview("acme", id), 1<<30); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "created", id); err != nil {
			return err
		}
		if i%2 == 1 {
			continue
		}
		c, err := s.Claim(ctx, review.Claiming{Worker: "worker", Lease: time.Minute})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "claimed", c.ReviewID); err != nil {
			return err
		}
		if err := s.Finish(ctx, *c, manyFindings(findingsOfChild)); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "finished", c.ReviewID); err != nil {
			return err
		}
	}
}

const findingsOfChild = 50

// TestKill kills a process with SIGKILL while it writes, several times on the
// same database. Everything that it said was committed must be there, and
// nothing may be there by half.
func TestKill(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	self, err := os.Executable()
	require.NoError(t, err)
	said := map[string]string{} // review: the last that was said of it
	for round := range 4 {
		child := exec.Command(self)
		child.Env = append(os.Environ(), childDatabase+"="+database)
		var stderr strings.Builder
		child.Stderr = &stderr
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 40+13*round {
				// It is somewhere in its next operations. What it still says
				// before it is dead is read, too.
				require.NoError(t, child.Process.Kill())
			}
			what, id, ok := strings.Cut(lines.Text(), " ")
			if !ok || len(id) != len(review.NewID()) {
				break // a line that was cut off
			}
			said[id] = what
		}
		require.Error(t, child.Wait())
		require.Equal(t, "signal: killed", child.ProcessState.String(), stderr.String())
		assertAsSaid(t, database, said)
	}
}

// assertAsSaid opens the database as the next server does, and puts back what
// was in progress.
func assertAsSaid(t *testing.T, database string, said map[string]string) {
	t.Helper()
	s := openAt(t, Options{Database: database, Exclusive: true})
	defer func() { require.NoError(t, s.Close()) }()
	var check string
	require.NoError(t, s.pools.writer.GetContext(t.Context(), &check, "PRAGMA integrity_check"))
	require.Equal(t, "ok", check)
	released, err := s.ReleaseLeases(t.Context(), review.MaxLost)
	require.NoError(t, err)
	require.LessOrEqual(t, len(released), 1)
	finished := 0
	for id, what := range said {
		r, err := s.GetReview(t.Context(), "acme", id)
		require.NoError(t, err, "%s was %s", id, what)

		switch r.Status {
		case review.Complete:
			finished++
			require.NotEqual(t, "created", what, "nobody can have finished it unseen")
			require.Len(t, r.Findings, findingsOfChild)
		case review.Queued:
			require.NotEqual(t, "finished", what, id)
			require.Empty(t, r.Findings)
		default:
			require.Fail(t, "not put back", "%s is %s", id, r.Status)
		}
	}

	assert.Positive(t, finished)
	assertCounts(t, s)
}
