// Package pgtest runs real Postgres servers for tests. A server lives in a temporary folder, under an ordinary user,
// and ends, folder and all, with the process that started it, however that ends. It needs the Postgres server's
// programs (initdb, postgres) and nothing else.
package pgtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// The server of a test process, and how many databases New made in it. They are variables because the tests of a
// package have nothing else in common; nothing but New uses them.
var (
	shared = sync.OnceValues(func() (*Cluster, error) {
		c, err := NewCluster(context.Background(), nil)
		if err != nil {
			return nil, err
		}
		return c, c.Start(context.Background()) // its end is that of the process
	})
	databases atomic.Int64
)

// New returns the DSN of an empty database with a role of its own, which owns it. The database goes away at the end of
// the test. All of a test process are on one server, which starts with the first; it does not wait for the disk.
func New(t testing.TB) string {
	t.Helper()
	dsn, _ := NewWithSuperuser(t)
	return dsn
}

// NewWithSuperuser does what New does, and gives the superuser's DSN of the same database, too.
func NewWithSuperuser(t testing.TB) (dsn, superuserDSN string) {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	name := "test" + strconv.FormatInt(databases.Add(1), 10)
	if err := c.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.DropDatabase(context.Background(), name); err != nil {
			t.Error(err)
		}
	})

	return c.DSN(name), c.SuperuserDSN(name)
}

// Start makes and runs a server of the test's own, with settings of postgresql.conf, which ends with the test.
func Start(t testing.TB, settings map[string]string) *Cluster {
	t.Helper()
	c, err := NewCluster(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// programs is the folder that holds initdb and postgres: that of the initdb on PATH, else the newest one where Debian
// puts them.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // a link has no postgres beside it
			found = append(found, path)
		}
	}

	for _, path := range slices.Backward(found) {
		dir := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir, nil
		}
	}

	return "", errors.New("these tests need a Postgres server, and neither PATH nor " +
		"/usr/lib/postgresql has its initdb: install it (for example: sudo apt-get install postgresql) and try again")
}

// Program is the path of a program of the Postgres that tests run, such as pg_dump.
func Program(name string) (string, error) {
	dir, err := programs()
	return filepath.Join(dir, name), err
}
