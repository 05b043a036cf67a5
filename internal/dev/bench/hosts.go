package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// hostsOptions are the flags of `bench hosts`.
type hostsOptions struct {
	*options
	database string
	pushes   int
	large    int
	last     time.Duration
}

// hosts has a code host tell of pushes, and measures when people see what comes of them. Then it sends deliveries that
// nobody signed, beside which others read.
func hosts(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := hostsOptions{options: common}
	flags.StringVar(&o.database, "database", "sqlite", "sqlite or postgres")
	flags.IntVar(&o.pushes, "pushes", 20, "pushes to the pull request")
	flags.IntVar(&o.large, "large", 100, "deliveries of 25 MiB at once")
	flags.DurationVar(&o.last, "for", time.Minute, "how long the deliveries with bad signatures come")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o hostsOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	d, err := newDatabases(ctx, o.database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	h, err := newBenchHost(ctx, dir)
	if err != nil {
		return err
	}
	defer h.server.Close()

	i, err := install(ctx, o.builds()[0], d, 1)
	if err != nil {
		return err
	}
	if i.tokens[0], err = i.Command(ctx, "keys", "create", "--org", "org0", "--name", "hosts", "--rate-limit",
		"1000000000", "--scopes", "reviews:read,hosts:read"); err != nil {
		return err
	}
	if err := h.connect(i, dir); err != nil {
		return err
	}
	if err := i.serve(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Stop()) }()
	if err := h.find(ctx, i); err != nil {
		return err
	}
	if err := o.measurePushes(ctx, i, h, out); err != nil {
		return err
	}

	return o.measureFlood(ctx, i, h, out)
}

// benchHost is a fake of a code host with one pull request. It writes down when people see a check.
type benchHost struct {
	*giteafake.Fake
	server     *httptest.Server
	repository string // folder
	connection string // identifier

	mu   sync.Mutex
	head string
	seen []time.Time         // when the check of the head became pending and ended
	ends chan codehost.Check // of the head
}

const webhookSecret = "the-secret-of-all-webhooks"

func newBenchHost(ctx context.Context, dir string) (*benchHost, error) {
	h := &benchHost{
		Fake: giteafake.New(nil), repository: filepath.Join(dir, "hosts", hosttest.Repo+".git"),
		ends: make(chan codehost.Check, 1),
	}
	if err := program.MakeRepository(ctx, h.repository, benchCommit("heads/main", "", 0)); err != nil {
		return nil, err
	}
	h.server = httptest.NewServer(h)

	return h, nil
}

// benchCommit is a commit for git fast-import with one finding of the default ruleset, in another line each time.
func benchCommit(ref, parent string, number int) string {
	var text strings.Builder
	for line := range hosttest.Lines {
		if number > 0 && line == number {
			fmt.Fprintf(&text, "defer client%d.Lock()\n", line)
		} else {
			fmt.Fprintf(&text, "client%d.Use(step)\n", line)
		}
	}
	message := fmt.Sprint("change ", number)

	return fmt.Sprintf("commit refs/%s\ncommitter Dev <dev@example.com> 1750000000 +0000\ndata %d\n%s\n%s"+
		"M 644 inline %s\ndata %d\n%s\n", ref, len(message), message, parent, hosttest.Path, text.Len(), text.String())
}

// ServeHTTP has the fake answer, and looks at what people see afterwards.
func (h *benchHost) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h.Fake.ServeHTTP(w, q)
	if !hosttest.Writes(q) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.Check(h.head)
	if c == nil || len(h.seen) == 2 {
		return
	}
	if len(h.seen) == 0 {
		h.seen = append(h.seen, time.Now())
	}
	if c.Verdict != codehost.Pending {
		h.seen = append(h.seen, time.Now())
		h.ends <- *c
	}
}

// connect adds the host to the configuration.
func (h *benchHost) connect(i *installation, dir string) error {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	for name, text := range map[string]string{
		"key": base64.StdEncoding.EncodeToString(key), "token": hosttest.Token, "webhook": webhookSecret,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	// The organization may use all repositories, and this connection is for its own ones.
	config := fmt.Sprintf("public_url: https://prwarden.example.com\nsecrets: {keys: [{name: k1, file: %q}]}\n"+
		"connections:\n  - {organization: org0, name: host, kind: gitea, url: %q, repositories: [%s], git_url: %q, "+
		"webhook_secret_file: %q, token_file: %q}\n", filepath.Join(dir, "key"), h.server.URL, hosttest.Repo,
		"file://"+filepath.Join(dir, "hosts")+"/{repo}.git", filepath.Join(dir, "webhook"), filepath.Join(dir, "token"))
	file, err := os.OpenFile(i.Config(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(config)

	return errors.Join(err, file.Close())
}

// find asks the server which connection it made.
func (h *benchHost) find(ctx context.Context, i *installation) error {
	text, err := client(i.Process, i.tokens[0]).Call(ctx, http.MethodGet, "/v1/connections", "")
	if err != nil {
		return err
	}
	var answer struct {
		Connections []struct {
			ID   string `json:"connection_id"`
			Name string `json:"name"`
		} `json:"connections"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	for _, c := range answer.Connections {
		if c.Name == "host" {
			h.connection = c.ID
		}
	}
	if h.connection == "" {
		return errors.New("the server has no connection to the host")
	}

	return nil
}

// push makes a commit the head of the pull request.
func (h *benchHost) push(ctx context.Context, number int) error {
	ref := fmt.Sprintf("pull/%d/head", hosttest.Number)
	stream := benchCommit(ref, "from refs/heads/main^0\n", number)
	if _, err := program.Git(ctx, h.repository, stream, "fast-import", "--quiet", "--force"); err != nil {
		return err
	}
	sha, err := program.Git(ctx, h.repository, "", "rev-parse", "refs/"+ref)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.head, h.seen = sha, nil
	h.Push(sha, false)

	return nil
}

// deliver sends a delivery to the server and returns the status of its answer.
func (h *benchHost) deliver(ctx context.Context, i *installation, c *http.Client, header http.Header, body []byte) (
	int, error,
) {
	url := "http://" + i.HTTP + "/hooks/" + h.connection
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	q.Header = header
	answer, err := c.Do(q)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, answer.Body)

	return answer.StatusCode, errors.Join(err, answer.Body.Close())
}

// measurePushes measures from the delivery of a push until people see that it is known, and what the scan found.
func (o hostsOptions) measurePushes(ctx context.Context, i *installation, h *benchHost, out io.Writer) error {
	var pending, final, scans, rest []time.Duration
	for number := range o.pushes {
		if err := h.push(ctx, number+1); err != nil {
			return err
		}
		header, body := h.Deliver(hosttest.Pushed, webhookSecret)
		began := time.Now()
		status, err := h.deliver(ctx, i, http.DefaultClient, header, body)
		if err != nil || status != http.StatusAccepted {
			return fmt.Errorf("the delivery of a push was answered with status %d: %w", status, err)
		}
		select {
		case c := <-h.ends:
			if c.Verdict != codehost.Failure {
				return fmt.Errorf("the check of push %d says %s: %s", number+1, c.Verdict, c.Title)
			}
		case <-time.After(answerTimeout):
			return fmt.Errorf("push %d has no verdict after %s", number+1, answerTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
		scan, err := h.settle(ctx, i)
		if err != nil {
			return err
		}
		h.mu.Lock()
		pending, final = append(pending, h.seen[0].Sub(began)), append(final, h.seen[1].Sub(began))
		h.mu.Unlock()
		scans, rest = append(scans, scan), append(rest, final[number]-scan)
	}

	t := table{{"From the delivery of a push", "p50, ms", "p99, ms", "longest, ms"}}
	for _, row := range []struct {
		name string
		took []time.Duration
	}{
		{"until the check is pending", pending}, {"until the verdict", final}, {"of that, the scan", scans},
		{"the verdict without the scan", rest},
	} {
		t.add(row.name, milliseconds(quantile(row.took, 0.5)), milliseconds(quantile(row.took, 0.99)),
			milliseconds(quantile(row.took, 1)))
	}
	t.print(out)
	fmt.Fprintf(out, "%d pushes, one after the other; %s, one server with its own scanner, a fake of Gitea.\n\n",
		o.pushes, o.database)

	return nil
}

// settle waits until nothing is left to publish, and returns how long the last scan took.
func (h *benchHost) settle(ctx context.Context, i *installation) (time.Duration, error) {
	c := client(i.Process, i.tokens[0])
	path := fmt.Sprintf("/v1/pull-requests/%d?repo=%s", hosttest.Number, hosttest.Repo)
	for {
		text, err := c.Call(ctx, http.MethodGet, path, "")
		if err != nil {
			return 0, err
		}
		var p struct {
			Publication struct {
				Pending bool `json:"pending"`
			} `json:"publication"`
		}
		if err := json.Unmarshal(text, &p); err != nil {
			return 0, err
		}
		if !p.Publication.Pending {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}

	var last struct {
		Reviews []struct {
			Started   time.Time `json:"started_at"`
			Completed time.Time `json:"completed_at"`
		} `json:"reviews"`
	}
	err := call(ctx, c, http.MethodGet, "?page_size=1&repo="+hosttest.Repo, "", &last)
	if err != nil || len(last.Reviews) == 0 {
		return 0, fmt.Errorf("there is no review: %w", err)
	}

	return last.Reviews[0].Completed.Sub(last.Reviews[0].Started), nil
}
