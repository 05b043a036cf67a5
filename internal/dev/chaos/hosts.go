package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/program"
)

const (
	// margin is how long after a call that was given up it may still take effect (publish.Options).
	margin = 20 * time.Second
	// redeliveries are how many there are of each push.
	redeliveries = 5

	webhookSecret = "the-secret-of-all-webhooks"
)

// hostSettings are what a run with code hosts is made of.
type hostSettings struct {
	pushes, kills, freezes int

	late time.Duration // the latest that a call takes effect after it was given up
}

// hostRun is a run with code hosts: pull requests are pushed to and told of, while servers are killed and hosts fail.
type hostRun struct {
	*world
	progress  io.Writer
	hosts     []*codeHost
	db        *sqlx.DB
	client    http.Client
	delivered atomic.Int64 // deliveries that were answered
	frozen    atomic.Int32 // the number of the server that is frozen, from 1 on; 0 for none
}

// executeHosts makes the world and the hosts, breaks both, and returns what it found.
func executeHosts(ctx context.Context, s settings, progress io.Writer) (v *verdict, err error) {
	r := &hostRun{progress: progress, client: http.Client{Timeout: 10 * time.Second}}
	r.world = newWorld(s)
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	for n, h := range r.hosts {
		if s.hosts.late > 0 {
			h.faults.Random(trouble(randv2.New(randv2.NewPCG(s.seed, uint64(100+n))), s.hosts.late))
		}
	}

	if err := r.storm(ctx); err != nil {
		return nil, err
	}
	for _, h := range r.hosts {
		h.faults.Random(nil)
	}
	r.tell("the faults are over")
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	if s.hosts.late > margin {
		if err := r.onceMore(ctx); err != nil {
			return nil, err
		}
	}
	r.tell("all is done")

	return r.judge(ctx)
}

// build makes the database and the hosts, and starts the servers and a scanner, which is not killed: docs/chaos.md
// has that part.
func (r *hostRun) build(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if r.hosts, err = newCodeHosts(ctx, r.s); err != nil {
		return err
	}
	database, err := r.startDatabase(ctx)
	if err != nil {
		return err
	}
	var all []program.Organization
	for _, h := range r.hosts {
		all = append(all, program.Organization{
			Name: h.organization, Repositories: hosttest.Repo, URL: "file://" + r.s.dir + "/hosts/none/{repo}.git",
		})
	}
	if r.Installation, err = program.Install(ctx, r.s.binary, r.s.dir, database, all); err != nil {
		return err
	}
	if err := r.configure(); err != nil {
		return err
	}

	if err := r.startScanner(0); err != nil {
		return err
	}
	for i := range serverCount {
		if err := r.startServer(i, r.links[0].Listen); err != nil {
			return err
		}
	}
	if err := r.waitServing(ctx); err != nil {
		return err
	}
	if r.db, err = sqlx.ConnectContext(ctx, "postgres", r.cluster.SuperuserDSN(databaseName)); err != nil {
		return err
	}
	for _, h := range r.hosts { // the servers have stored them
		err := r.db.GetContext(ctx, &h.connection, `SELECT id FROM connections WHERE organization = $1`, h.organization)
		if err != nil {
			return err
		}
	}

	return nil
}

// configure adds the hosts to the configuration.
func (r *hostRun) configure() error {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	for name, text := range map[string]string{
		"key": base64.StdEncoding.EncodeToString(key), "token": hosttest.Token, "webhook": webhookSecret,
		"app.pem": githubfake.PrivateKey(),
	} {
		if err := os.WriteFile(filepath.Join(r.s.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}

	config := fmt.Sprintf("public_url: https://prwarden.example.com\n"+
		"secrets: {keys: [{name: k1, file: %q}]}\nconnections:\n", filepath.Join(r.s.dir, "key"))
	for _, h := range r.hosts {
		config += fmt.Sprintf("  - {organization: %s, name: host, kind: %s, url: %q, repositories: [%s], git_url: %q, "+
			"webhook_secret_file: %q, ", h.organization, h.kind, h.server.URL, hosttest.Repo,
			"file://"+strings.TrimSuffix(h.repository, hosttest.Repo+".git")+"{repo}.git", filepath.Join(r.s.dir, "webhook"))
		if h.app {
			config += fmt.Sprintf("account: acme, app_id: %d, installation_id: %d, private_key_file: %q}\n",
				githubfake.AppID, githubfake.Installation, filepath.Join(r.s.dir, "app.pem"))
		} else {
			config += fmt.Sprintf("token_file: %q}\n", filepath.Join(r.s.dir, "token"))
		}
	}
	file, err := os.OpenFile(r.Config(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(config)
	return errors.Join(err, file.Close())
}

// storm pushes, delivers again and kills, all in the time that the kills take.
func (r *hostRun) storm(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	last := time.Duration(r.s.hosts.kills) * *r.s.every["kill"]
	for n, part := range []struct {
		times int
		do    func(context.Context, *randv2.Rand) error
	}{
		{r.s.hosts.pushes, r.push}, {redeliveries * r.s.hosts.pushes, r.redeliver}, {r.s.hosts.kills, r.killServer},
		{r.s.hosts.freezes, r.freezeServer},
	} {
		random := randv2.New(randv2.NewPCG(r.s.seed, uint64(n)))
		all.Go(func() error {
			for range part.times {
				every := max(last/time.Duration(part.times), 10*time.Millisecond)
				if err := pause(ctx, between(random, every*3/4, every*5/4)); err != nil {
					return err
				}
				if err := part.do(ctx, random); err != nil {
					return err
				}
			}
			return nil
		})
	}

	return all.Wait()
}

// push pushes to one of the pull requests, and has its host tell that. Now and then somebody also asks for the check
// once more.
func (r *hostRun) push(ctx context.Context, random *randv2.Rand) error {
	h := r.hosts[random.IntN(len(r.hosts))]
	if err := h.push(ctx, random); err != nil {
		return err
	}
	r.note("push to", string(h.kind))
	if err := r.deliver(ctx, random, h, h.delivery(hosttest.Pushed)); err != nil || !h.app || random.IntN(4) > 0 {
		return err
	}

	return r.deliver(ctx, random, h, h.delivery(hosttest.Rerun))
}

func (r *hostRun) redeliver(ctx context.Context, random *randv2.Rand) error {
	for {
		h := r.hosts[random.IntN(len(r.hosts))]
		if d, ok := h.again(random); ok {
			r.note("delivery again of", string(h.kind))
			return r.deliver(ctx, random, h, d)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// deliver sends a delivery to one server after the other until one has it. A host that doesn't send again what did
// not arrive is for the sweep, which comes too seldom for this.
func (r *hostRun) deliver(ctx context.Context, random *randv2.Rand, h *codeHost, d delivery) error {
	for server := random.IntN(len(r.servers)); ctx.Err() == nil; server++ {
		url := "http://" + r.servers[server%len(r.servers)].address + "/hooks/" + h.connection
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(d.body)))
		if err != nil {
			return err
		}
		q.Header = d.header.Clone()
		answer, err := r.client.Do(q)
		if err == nil {
			text, _ := io.ReadAll(answer.Body) // an answer that was cut off is none of success
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusAccepted {
				r.delivered.Add(1)
				return nil
			}
			if !asksForPatience(&program.Refusal{Status: answer.StatusCode, Header: answer.Header}) {
				return fmt.Errorf("a delivery of %s was answered %s: %s", h.organization, answer.Status, text)
			}
		}
		_ = pause(ctx, shortestPause)
	}

	return ctx.Err()
}

// freezeServer stops one of the servers for longer than the lease of a call, and returns at once.
func (r *hostRun) freezeServer(_ context.Context, random *randv2.Rand) error {
	server := random.IntN(len(r.servers))
	if !r.frozen.CompareAndSwap(0, int32(server+1)) {
		return nil
	}
	r.servers[server].signal(syscall.SIGSTOP)
	r.note("freeze", "server")
	time.AfterFunc(between(random, time.Minute, 90*time.Second), func() {
		r.servers[server].signal(syscall.SIGCONT)
		r.frozen.Store(0)
	})

	return nil
}

// killServer kills one of the servers, as soon as one serves that is not frozen.
func (r *hostRun) killServer(ctx context.Context, random *randv2.Rand) error {
	for {
		server := random.IntN(len(r.servers))
		if int(r.frozen.Load()) != server+1 && r.servers[server].signal(syscall.SIGKILL) {
			break
		}
		if err := pause(ctx, shortestPause); err != nil {
			return err
		}
	}
	r.note("kill", "server")
	if n := r.count("kill server"); n%50 == 0 {
		r.tell("storm")
	}

	return nil
}

// settle waits until nothing is left to do.
func (r *hostRun) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.s.settle)
	defer cancel()
	for {
		var left struct{ Deliveries, Reviews, Publications int }
		err := r.db.GetContext(ctx, &left, `SELECT
			(SELECT count(*) FROM deliveries WHERE outcome = 'waiting') AS deliveries,
			(SELECT count(*) FROM reviews WHERE status IN ('queued', 'in_progress')) AS reviews,
			(SELECT count(*) FROM pull_requests WHERE done < want) AS publications`)
		if err == nil && left.Deliveries+left.Reviews+left.Publications == 0 {
			return nil
		}
		if pausing := pause(ctx, 200*time.Millisecond); pausing != nil {
			return fmt.Errorf("not all was done in time: %+v: %w", left, errors.Join(err, pausing))
		}
	}
}

// onceMore pushes to each pull request when nothing more can take effect, so that each is observed again.
func (r *hostRun) onceMore(ctx context.Context) error {
	random := randv2.New(randv2.NewPCG(r.s.seed, 99))
	for _, h := range r.hosts {
		h.faults.Close()
		if err := h.push(ctx, random); err != nil {
			return err
		}
		if err := r.deliver(ctx, random, h, h.delivery(hosttest.Pushed)); err != nil {
			return err
		}
	}

	return r.settle(ctx)
}

func (r *hostRun) tell(what string) {
	fmt.Fprintf(r.progress, "%s: %d kills, %d deliveries answered\n", what, r.count("kill server"), r.delivered.Load())
}

// close ends the world before the hosts, so that nobody calls them any more.
func (r *hostRun) close() (err error) {
	if r.db != nil {
		err = r.db.Close()
	}
	err = errors.Join(err, r.world.close())
	for _, h := range r.hosts {
		h.server.Close()
		h.faults.Close()
	}

	return err
}
