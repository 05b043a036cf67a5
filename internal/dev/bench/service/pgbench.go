package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// ceiling is what the database itself takes for one insert a transaction.
type ceiling struct {
	clients int
	rate    float64       // transactions a second
	latency time.Duration // mean
}

// insertion is the transaction of pgbench: a row as long as a review's, with a
// primary key like it and one index.
const (
	insertionTable = `CREATE TABLE one_insert (id TEXT COLLATE "C" PRIMARY KEY, organization TEXT, repo TEXT, created_at BIGINT, rest TEXT);
CREATE INDEX ON one_insert (organization, created_at)`
	insertion = `\set n random(1, 9000000000000000)
INSERT INTO one_insert VALUES ('rev_' || md5(:n::text), 'bench', 'acme/shop', :n, repeat('x', 100));
`
)

// pgbenchTime is how long each measurement of pgbench is.
const pgbenchTime = 4 * time.Second

// ceilings measures with pgbench on the same cluster, in a database of its own.
func (s *suite) ceilings(ctx context.Context, d *database) (out []ceiling, err error) {
	const name = "ceiling"
	if err := errors.Join(d.cluster.CreateDatabase(ctx, name), d.cluster.Exec(ctx, name, insertionTable)); err != nil {
		return nil, err
	}
	if err := d.cluster.Exec(ctx, name, "GRANT INSERT ON one_insert TO "+name); err != nil {
		return nil, err
	}
	program, err := findPgbench()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(s.tmp, "insert.sql")
	if err := os.WriteFile(script, []byte(insertion), 0o600); err != nil {
		return nil, err
	}
	dsn, err := url.Parse(d.cluster.DSN(name))
	if err != nil {
		return nil, err
	}
	for _, clients := range []int{1, manyCallers} {
		cmd := exec.CommandContext(ctx, program, "--no-vacuum", "--file="+script, "--protocol=prepared",
			"--client="+strconv.Itoa(clients), "--time="+strconv.Itoa(int(pgbenchTime.Seconds())),
			"--host="+dsn.Query().Get("host"), "--port="+dsn.Query().Get("port"), "--username="+name, name)
		text, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("pgbench: %w: %s", err, bytes.TrimSpace(text))
		}
		one := ceiling{clients: clients}
		if one.rate, err = numberIn(text, `tps = ([0-9.]+) `); err != nil {
			return nil, err
		}
		latency, err := numberIn(text, `latency average = ([0-9.]+) ms`)
		if err != nil {
			return nil, err
		}
		one.latency = time.Duration(latency * float64(time.Millisecond))
		s.progress("pgbench, %d clients: %.0f/s, %.2f ms mean", clients, one.rate, ms(one.latency))
		out = append(out, one)
	}
	return out, nil
}

// findPgbench looks for pgbench on the PATH and where Debian has it.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return "", errors.New("pgbench was not found; install it (on Debian it is in the package postgresql)")
	}
	return found[len(found)-1], nil
}

func numberIn(text []byte, pattern string) (float64, error) {
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("pgbench said nothing like %s:\n%s", pattern, text)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
