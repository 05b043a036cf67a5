package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// databases makes empty databases of one kind, sqlite or postgres.
type databases struct {
	kind    string
	dir     string
	cluster *pgtest.Cluster // nil for SQLite
}

// newDatabases starts a Postgres cluster that syncs its commits, where one is needed. The caller closes it.
func newDatabases(ctx context.Context, kind, dir string) (d *databases, err error) {
	d = &databases{kind: kind, dir: dir}
	if kind == "sqlite" {
		return d, nil
	}
	if kind != "postgres" {
		return nil, fmt.Errorf("there is no database %q, only sqlite and postgres", kind)
	}

	if d.cluster, err = pgtest.NewCluster(ctx, pgtest.Durable()); err != nil {
		return nil, err
	}
	if err := d.cluster.Start(ctx); err != nil {
		return nil, errors.Join(err, d.cluster.Close())
	}
	return d, nil
}

// create makes an empty database. all is an address of it that row-level security does not hold.
func (d *databases) create(ctx context.Context, name string) (url, all string, err error) {
	if d.cluster == nil {
		url = "sqlite:" + filepath.Join(d.dir, name+".db")
		return url, url, nil
	}
	err = d.cluster.CreateDatabase(ctx, name)
	return d.cluster.DSN(name), d.cluster.SuperuserDSN(name), err
}

// spent is the processor time of the database's own processes. SQLite has none.
func (d *databases) spent() time.Duration {
	if d.cluster == nil {
		return 0
	}
	return familyTime(d.cluster.PID())
}

func (d *databases) close() error {
	if d.cluster == nil {
		return nil
	}
	return d.cluster.Close()
}

// repository is the name of the repository at the code host that a benchmark has its reviews of.
const repository = "bench/repository"

// installation is a build of prwarden with a database, organizations and keys.
type installation struct {
	build
	*program.Installation
	all    string // the database past row-level security
	tokens []string

	*program.Process // the server, while it runs
}

// nobody is the address of scanners that do not exist: reviews wait, and scans take nothing of the machine.
const nobody = "127.0.0.1:9"

// install prepares a server that finds repositories below the folder of the databases. Each organization may have
// 10,000 reviews waiting, so that many creations need many organizations.
func install(ctx context.Context, b build, d *databases, organizations int) (*installation, error) {
	url, all, err := d.create(ctx, b.name)
	if err != nil {
		return nil, err
	}
	var entries []program.Organization
	for n := range organizations {
		host := "file://" + d.dir + "/{repo}.git"
		entries = append(entries, program.Organization{Name: fmt.Sprintf("org%d", n), Repositories: "*/*", URL: host})
	}

	i := &installation{build: b, all: all}
	if i.Installation, err = program.Install(ctx, b.path, filepath.Join(d.dir, b.name), url, entries); err != nil {
		return nil, err
	}
	for _, entry := range entries {
		token, err := i.Key(ctx, entry.Name)
		if err != nil {
			return nil, err
		}
		i.tokens = append(i.tokens, token)
	}
	return i, nil
}

// serve starts the server.
func (i *installation) serve(ctx context.Context, args ...string) (err error) {
	i.Process, err = i.Serve(ctx, args...)
	return err
}

// client calls a server with a key.
func client(p *program.Process, token string) program.Client {
	return program.Client{URL: "http://" + p.HTTP, Token: token}
}

// review is what a benchmark reads of one.
type review struct {
	ID       string `json:"review_id"`
	Status   string `json:"status"`
	Findings []any  `json:"findings"`
	Error    any    `json:"error"`
}

// creation is the body of a request for a review.
func creation(pull int) string { return fmt.Sprintf(`{"repo":%q,"pr_number":%d}`, repository, pull) }

// call makes a request of a server for its reviews and reads the answer into out.
func call(ctx context.Context, c program.Client, method, path, body string, out any) error {
	text, err := c.Call(ctx, method, "/v1/reviews"+path, body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

func (i *installation) create(ctx context.Context, token string, pull int) (created review, err error) {
	err = call(ctx, client(i.Process, token), http.MethodPost, "", creation(pull), &created)
	return created, err
}

// complete has a pull request of the first organization reviewed and waits for the end. took begins with the request
// and ends when the server says that the review has ended.
func (i *installation) complete(ctx context.Context, pull int) (done review, took time.Duration, err error) {
	began, c := time.Now(), client(i.Process, i.tokens[0])
	created, err := i.create(ctx, i.tokens[0], pull)
	if err != nil {
		return review{}, 0, err
	}

	// The stream of a review's states ends with the review.
	if _, err := c.Call(ctx, http.MethodGet, "/v1/reviews/"+created.ID+":watch", ""); err != nil {
		return review{}, 0, err
	}
	took = time.Since(began)
	err = call(ctx, c, http.MethodGet, "/"+created.ID, "", &done)
	if err == nil && done.Status != "complete" {
		err = fmt.Errorf("the review of pull request %d ended %s: %v", pull, done.Status, done.Error)
	}
	return done, took, err
}

// clonePulls makes a bare repository below dir that shares the objects of the one at source. Each range BASE...HEAD
// becomes a pull request; the first one has number 1.
func clonePulls(ctx context.Context, dir, source string, ranges []string) error {
	bare := filepath.Join(dir, repository+".git")
	if _, err := program.Git(ctx, source, "", "clone", "--quiet", "--bare", "--shared", source, bare); err != nil {
		return err
	}

	for i, span := range ranges {
		base, head, ok := strings.Cut(span, "...")
		if !ok {
			return fmt.Errorf("-range %s is not BASE...HEAD", span)
		}
		for _, name := range []*string{&base, &head} {
			id, err := program.Git(ctx, source, "", "rev-parse", "--verify", "--end-of-options", *name+"^{commit}")
			if err != nil {
				return err
			}
			*name = id
		}

		// The trial merge of a code host says what the base is.
		merge, err := program.Git(ctx, bare, "", "commit-tree", head+"^{tree}", "-p", base, "-p", head, "-m", "Merge")
		if err != nil {
			return err
		}
		for name, id := range map[string]string{"head": head, "merge": merge} {
			if _, err := program.Git(ctx, bare, "", "update-ref", fmt.Sprintf("refs/pull/%d/%s", i+1, name), id); err != nil {
				return err
			}
		}
	}
	return program.ServeObjects(ctx, bare)
}

// peakMemory is the most resident memory that a process had, in MiB; 0 when the process is gone.
func peakMemory(pid int) float64 {
	var status procfs.ProcStatus
	if proc, err := procfs.NewProc(pid); err == nil {
		status, _ = proc.NewStatus() // zero when it has just gone
	}
	return float64(status.VmHWM) / (1 << 20)
}

// processorTime is that of a process and of its finished children; 0 when the process is gone.
func processorTime(pid int) time.Duration {
	var stat procfs.ProcStat
	if proc, err := procfs.NewProc(pid); err == nil {
		stat, _ = proc.Stat() // zero when it has just gone
	}

	const perSecond = 100 // the kernel counts hundredths
	n := int64(stat.UTime) + int64(stat.STime) + int64(stat.CUTime) + int64(stat.CSTime)
	return time.Duration(n) * time.Second / perSecond
}

// familyTime is that of a process and of its children.
func familyTime(parent int) time.Duration {
	sum := processorTime(parent)
	all, _ := procfs.AllProcs() // there is a /proc, as processorTime needs
	for _, proc := range all {
		// A process that ended meanwhile has nothing to read, and its parent counts it.
		if stat, err := proc.Stat(); err == nil && stat.PPID == parent {
			sum += processorTime(proc.PID)
		}
	}
	return sum
}
