package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// tenantOptions are the flags of `bench tenants`.
type tenantOptions struct {
	*options
	database      string
	last, quiet   time.Duration
	organizations int
	attack        string      // see attacker
	commits       [][2]string // see attackFile
}

// tenants measures how long the reviews of many organizations take, first alone and then beside one that does all
// that it may to be in their way.
func tenants(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := tenantOptions{options: common}
	flags.StringVar(&o.database, "database", "sqlite", "postgres or sqlite")
	flags.DurationVar(&o.last, "for", 10*time.Minute, "how long the hostile phase lasts")
	flags.DurationVar(&o.quiet, "quiet", 2*time.Minute, "how long the quiet phase lasts, at most as long as the other")
	flags.IntVar(&o.organizations, "organizations", 200, "how many there are, the hostile one among them")
	flags.StringVar(&o.attack, "attack", "", "be the hostile one, as this `file` says; for bench itself")
	return func(ctx context.Context, out io.Writer) error {
		if o.attack != "" {
			return attackAs(ctx, o.attack, out)
		}
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

// hostileRepository has a pull request whose 2,500 files have a MiB each, and branches with a rules file each.
const hostileRepository = "bench/hostile"

// rulesFiles is how many branches with other rules there are: base0 and so on, each with a head.
const rulesFiles = 20

// makeHostileRepository returns the commits of the branches.
func makeHostileRepository(ctx context.Context, dir string) (commits [][2]string, err error) {
	line := "call(value, order, result, another); // needle x y z\n"
	text := strings.Repeat(line, (1<<20-100)/len(line))
	var stream strings.Builder
	fmt.Fprintf(&stream, "blob\nmark :1\ndata %d\n%s\n", len(text), text)
	const commit = "commit %s\ncommitter Dev <dev@example.com> 1750000000 +0000\ndata 1\nm\n%s"
	fmt.Fprintf(&stream, commit, "refs/heads/main", "M 644 inline README\ndata 1\nr\n")
	fmt.Fprintf(&stream, commit, "refs/pull/1/head", "from refs/heads/main\n")
	for i := range 2500 {
		fmt.Fprintf(&stream, "M 644 :1 src/%04d.js\n", i)
	}
	found := strings.Repeat("subprocess.run(f\"ls {path}\", shell=True)\n", 10_000)
	fmt.Fprintf(&stream, commit, "refs/pull/3/head", fmt.Sprintf(
		"from refs/heads/main\nM 644 inline app.py\ndata %d\n%s\n", len(found), found))
	for i := range rulesFiles {
		rules := hostileRules(i)
		fmt.Fprintf(&stream, commit, fmt.Sprintf("refs/heads/base%d", i), fmt.Sprintf(
			"from refs/heads/main\nM 644 inline .prwarden/rules.yml\ndata %d\n%s\n", len(rules), rules))
		fmt.Fprintf(&stream, commit, fmt.Sprintf("refs/heads/head%d", i), fmt.Sprintf(
			"from refs/heads/base%d\nM 644 :1 src/a.js\n", i))
	}

	dir = filepath.Join(dir, hostileRepository+".git")
	if err := program.MakeRepository(ctx, dir, stream.String()); err != nil {
		return nil, err
	}
	for i := range rulesFiles {
		shas, err := program.Git(ctx, dir, "", "rev-parse", fmt.Sprintf("base%d", i), fmt.Sprintf("head%d", i))
		if err != nil {
			return nil, err
		}
		commits = append(commits, [2]string(strings.Fields(shas)))
	}

	return commits, nil
}

// hostileRules is a rules file of 64 KiB with as many large rules as there is place for.
func hostileRules(n int) string {
	var rules strings.Builder
	rules.WriteString("version: 1\nrules:\n")
	for i := 0; rules.Len() < 63<<10; i++ {
		fmt.Fprintf(&rules, "- {id: r%d, type: regex, pattern: '%s', message: m, severity: low}\n", i, largePattern(1000*n+i))
	}

	return rules.String()
}

func (o tenantOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	d, err := newDatabases(ctx, o.database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()

	i, err := install(ctx, o.builds()[0], d, o.organizations)
	if err != nil {
		return err
	}
	if err := program.MakePulls(ctx, dir, repository, []program.Change{{Findings: 2, Lines: 20}}); err != nil {
		return err
	}
	if o.commits, err = makeHostileRepository(ctx, dir); err != nil {
		return err
	}

	if err := i.serve(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Stop()) }()

	return o.measure(ctx, i, out)
}

func (o tenantOptions) measure(ctx context.Context, i *installation, out io.Writer) error {
	t := table{{"Phase", "reviews", "p50, ms", "p95, ms", "p99, ms", "longest, ms", "failed", "peak memory, MiB"}}
	add := func(name string, v visits) {
		at := func(q float64) string { return milliseconds(quantile(v.took, q)) }
		t.add(name, fmt.Sprint(len(v.took)), at(0.5), at(0.95), at(0.99), at(1), fmt.Sprint(len(v.failed)),
			fmt.Sprintf("%.0f", peakMemory(i.PID())))
	}
	if _, err := visit(ctx, i, time.Second); err != nil { // the first scans fetch and compile
		return err
	}
	quiet, err := visit(ctx, i, min(o.quiet, o.last))
	if err != nil {
		return err
	}
	add("quiet", quiet)

	hostile, log, err := o.startAttack(ctx, i)
	if err != nil {
		return err
	}
	busy, err := visit(ctx, i, o.last)
	add("hostile", busy)
	err = errors.Join(err, hostile())
	t.print(out)

	factor := func(q float64) string { return ratio(quantile(busy.took, q), quantile(quiet.took, q)) }
	fmt.Fprintf(out, "p95 is %s ×, p99 %s × of quiet.\n\nThe hostile organization's requests:\n%s\n",
		factor(0.95), factor(0.99), log())
	for _, failure := range busy.failed[:min(len(busy.failed), 5)] {
		fmt.Fprintln(out, "failed:", failure)
	}
	select {
	case <-i.Exited:
		err = errors.Join(err, errors.New("the server died"))
	default:
	}

	return err
}

// visits are reviews of ordinary organizations.
type visits struct {
	took   []time.Duration
	failed []error
}

// visit has one of the organizations but the first create a small review every second, by turns, and waits for all.
func visit(ctx context.Context, i *installation, last time.Duration) (all visits, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := range max(int(last/time.Second), 1) {
		group.Go(func() {
			took, err := i.visit(ctx, i.tokens[1+n%(len(i.tokens)-1)])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				all.failed = append(all.failed, err)
				return
			}
			all.took = append(all.took, took)
		})
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	group.Wait()

	return all, ctx.Err()
}

// visit creates a review and waits until it is complete. What is refused is tried again, as clients do.
func (i *installation) visit(ctx context.Context, token string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c, began := client(i.Process, token), time.Now()
	try := func(do func() error) (err error) {
		for {
			var refusal *program.Refusal
			if err = do(); !errors.As(err, &refusal) || refusal.Status < 429 {
				return err
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return err
			}
		}
	}

	var created, done review
	err := try(func() error { return call(ctx, c, http.MethodPost, "", creation(1), &created) })
	if err == nil {
		err = try(func() error {
			_, err := c.Call(ctx, http.MethodGet, "/v1/reviews/"+created.ID+":watch", "")
			return err
		})
	}
	took := time.Since(began)
	if err == nil {
		err = try(func() error { return call(ctx, c, http.MethodGet, "/"+created.ID, "", &done) })
	}
	if err == nil && done.Status != "complete" {
		err = fmt.Errorf("a review ended %s: %v", done.Status, done.Error)
	}

	return took, err
}

// startAttack starts the hostile organization as a process of low priority. stop ends it, and log is what it says.
func (o tenantOptions) startAttack(
	ctx context.Context, i *installation,
) (stop func() error, log func() string, err error) {
	a := attackFile{URL: "http://" + i.HTTP, Address: i.HTTP, Commits: o.commits}
	for range hostileKeys {
		token, err := i.Command(ctx, "keys", "create", "--org", "org0", "--name", "hostile",
			"--scopes", "reviews:read,reviews:write,rules:read,rules:write,keys:admin")
		if err != nil {
			return nil, nil, err
		}
		a.Tokens = append(a.Tokens, token)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(i.Dir, "attack.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}

	var said strings.Builder
	cmd := exec.CommandContext(ctx, "nice", "-n", "19", self, "tenants", "-attack", path)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}

	return stop, said.String, nil
}
