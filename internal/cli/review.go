package cli

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/ci"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// ReviewInput is what the review command was asked for.
type ReviewInput struct {
	Repo    string // `owner/name`, or a pull request's address; empty, as Number then is, for what the CI service says
	Number  string // pull request number, as it was given
	Ruleset string // empty for the repository's
	// Priority is that of the review, empty for normal.
	Priority string

	// Commits to scan in place of the pull request's own.
	HeadSHA, BaseSHA, BaseRef string
	RequireBase               bool // fail rather than guess the base

	IdempotencyKey string        // empty for one that is made of the CI job, or at random
	NoWait         bool          // until the review has ended
	Timeout        time.Duration // of everything
	Output         Output
}

// Review has a server scan a pull request, waits, and shows what was found. It
// fails with ErrFound when that reaches the threshold, and with others when
// there is no result.
func Review(ctx context.Context, st Streams, c config.Client, in ReviewInput) error {
	out, err := in.Output.parse(st)
	if err != nil {
		return err
	}
	return out.withdraw(in.review(ctx, st, c, out))
}

func (in ReviewInput) review(ctx context.Context, st Streams, c config.Client, out *outputs) error {
	target, err := in.target(st, out)
	if err != nil {
		return err
	}

	r := reviewer{st: st, out: out, target: target, progress: newProgress(st)}
	r.client, err = newClient(st, c, func(err error) {
		r.progress.say("%s; trying again for up to %s", terminal.Safe(err.Error()), min(restclient.Patience, in.Timeout))
	})
	if err != nil {
		return err
	}
	if target.service != "" {
		st.note("%s: %s", target.service, terminal.Safe(target.String()))
	}

	within, cancel := context.WithTimeout(ctx, in.Timeout)
	defer cancel()
	if in.NoWait {
		err = r.start(within)
	} else {
		err = r.run(within)
	}

	switch {
	case err == nil || errors.Is(err, ErrSilent):
		return err
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	case within.Err() != nil:
		err = fmt.Errorf("gave up after %s", in.Timeout)
	}
	if r.waitsFor != "" {
		err = fmt.Errorf("waiting for review %s, which goes on: %w", terminal.Safe(r.waitsFor), err)
	}
	return err
}

// reviewer does one call of the command.
type reviewer struct {
	st       Streams
	out      *outputs
	target   *target
	client   *restclient.Client
	progress *progress
	waitsFor string // identifier of the review that is waited for; empty for none
}

// start only has the review queued.
func (r *reviewer) start(ctx context.Context) error {
	created, raw, err := r.create(ctx, r.target.key)
	if err != nil {
		return err
	}
	if len(r.out.flags.Formats) > 0 {
		return report.Write(r.out.list, report.Report{JSON: raw}, r.st.Out, r.out.style)
	}
	_, err = fmt.Fprintln(r.st.Out, terminal.GuardLine(terminal.Safe(created.ReviewID)))
	return err
}

// maxRetries is how many reviews of earlier tries of the same job may have
// failed before it is given up.
const maxRetries = 5

// rounding is how far two times of a server may be apart that are the same: those
// in HTTP are in seconds.
const rounding = 2 * time.Second

// run has the review queued, waits, and shows it. Where an earlier try of the same
// CI job asked for it, and it failed, another one is begun, which a further try
// would find.
func (r *reviewer) run(ctx context.Context) error {
	key, began := r.target.key, time.Now()
	for try := 0; ; try++ {
		created, _, err := r.create(ctx, key)
		if err != nil {
			return err
		}
		id, start := created.ReviewID, created.At.Add(-time.Since(began)-rounding) // by the server's clock
		r.waitsFor = id
		answer, raw, err := r.wait(ctx, id)
		if err != nil {
			return reviewError(err)
		}
		r.waitsFor = ""

		earlier := r.target.derived && answer.CreatedAt.Before(start)
		if !earlier || answer.Status == review.Complete || try == maxRetries {
			return r.show(answer, raw)
		}
		r.progress.say("review %s of an earlier try of this job is %s; starting another",
			terminal.Safe(id), terminal.Safe(string(answer.Status)))
		key = derivedKey(key, id)
	}
}

// create asks for the review.
func (r *reviewer) create(ctx context.Context, key string) (created restclient.Created, raw []byte, err error) {
	created, raw, err = r.client.CreateReview(ctx, r.target.request, key)
	if err != nil {
		return created, raw, reviewError(err)
	}
	when := fmt.Sprintf("done in about %s",
		max(time.Second, (time.Duration(created.EstimatedMS)*time.Millisecond).Round(time.Second)))
	if created.Available != nil {
		when = "but the server reaches no scanner now; it waits until one is there"
	}
	r.progress.say("review %s %s, %s", terminal.Safe(created.ReviewID), terminal.Safe(created.Status), when)
	return created, raw, nil
}

// pollEvery is the time between two looks at a review whose watch stream
// broke. It leaves half of the usual rate limit to others.
const pollEvery = 4 * time.Second

// wait returns a review that has ended. It watches, and where the stream breaks,
// it looks again.
func (r *reviewer) wait(ctx context.Context, id string) (answer review.Review, raw []byte, err error) {
	defer r.progress.end()
	for watched := false; ; watched = true {
		answer, raw, err = r.client.GetReview(ctx, id)
		if err != nil || answer.Status.Final() {
			return answer, raw, err
		}

		if watched {
			select {
			case <-time.After(pollEvery):
			case <-ctx.Done():
				return answer, nil, ctx.Err()
			}
		}
		r.client.WatchReview(ctx, id, r.progress.update)
	}
}

// newClient returns a client of the server with the key that the configuration
// names. trouble hears of failures that are tried again.
func newClient(st Streams, c config.Client, trouble func(error)) (*restclient.Client, error) {
	key, err := apiKey(st, c)
	if err != nil {
		return nil, err
	}
	files, err := clientTLS(c)
	if err != nil {
		return nil, err
	}
	return restclient.New(c.Server, key, files, trouble), nil
}

// clientTLS is what an https server must show and is shown; nil for what the
// system believes, which on Linux SSL_CERT_FILE changes too.
func clientTLS(c config.Client) (*tls.Config, error) {
	files := tlsfile.Files{Cert: c.ClientCert, Key: c.ClientKey, CA: c.CAFile}
	if files == (tlsfile.Files{}) {
		return nil, nil
	}
	loader, err := tlsfile.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, Usagef("ca_file, client_cert and client_key: %v", err)
	}
	return loader.Client(tls.VersionTLS12), nil
}

// apiKey reads the key. It may have no character that is no value of a header,
// with which the server would look like one that can't be reached.
func apiKey(st Streams, c config.Client) (string, error) {
	where, key := config.EnvAPIKey, st.Lookup(config.EnvAPIKey)
	if c.KeyFile != "" {
		data, err := os.ReadFile(c.KeyFile)
		if err != nil {
			return "", Usagef("the file with the API key can't be read: %w", err)
		}
		where, key = c.KeyFile, string(data)
	}

	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return "", Usagef("%s has no API key; set %s or give --key-file. `prwarden keys create` on the server makes one",
			where, config.EnvAPIKey)
	case strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return "", Usagef("%s holds more than an API key: there is a space or a control character in it", where)
	}
	return key, nil
}

// target is what to ask the server for.
type target struct {
	request restclient.NewReview
	service string // CI service that told the pull request; empty when the command line did
	key     string // idempotency key; empty for one at random
	derived bool   // the key is made of the CI job
}

// String names what is scanned. A CI service may tell no commits, or such that
// can't be asked for.
func (t *target) String() string {
	at := "as the code host has it"
	if t.request.HeadSHA != "" {
		at = "at " + t.request.HeadSHA[:12]
	}

	return fmt.Sprintf("%s#%d %s", t.request.Repo, t.request.PRNumber, at)
}

// target takes the pull request from the command line, or else from the CI
// service, and says what is wrong with what is asked for.
func (in ReviewInput) target(st Streams, out *outputs) (*target, error) {
	switch {
	case in.Timeout <= 0:
		return nil, Usagef("--timeout: %s is no time to wait; give more than 0", in.Timeout)
	case in.NoWait && len(in.Output.Formats) > 0 && !slices.Equal(out.list, []report.Output{{Format: report.JSON}}):
		return nil, Usagef("--output: with --no-wait there are no findings to show; "+
			"leave it out, or use %s for the server's answer", report.JSON)
	}

	if in.Priority != "" && in.Priority != string(review.Normal) && in.Priority != string(review.Low) {
		return nil, Usagef("--priority: %q is no priority; use %s or %s", in.Priority, review.Normal, review.Low)
	}

	t := &target{request: restclient.NewReview{Ruleset: in.Ruleset, RequireBase: in.RequireBase}}
	if in.Priority != string(review.Normal) { // which is what servers take without
		t.request.Priority = in.Priority
	}
	var identity []string
	if in.Repo != "" {
		var err error
		if t.request.Repo, t.request.PRNumber, err = in.pullRequest(); err != nil {
			return nil, err
		}
	} else {
		job, err := ci.Detect(st.Lookup)
		if err != nil {
			return nil, Usagef("%w; or name one: prwarden review OWNER/REPO NUMBER", err)
		}

		if job == nil {
			return nil, Usagef("which pull request? No CI service that prwarden knows says so; write OWNER/REPO and NUMBER")
		}

		t.request.Repo, t.request.PRNumber = job.Repo, job.Number
		t.request.HeadSHA, t.request.BaseSHA, t.request.BaseRef = job.HeadSHA, job.BaseSHA, job.BaseRef
		t.service, identity = job.Service, job.Identity
	}

	if err := in.commits(&t.request); err != nil {
		return nil, err
	}

	if in.Output.FailOn != FailNever && in.Output.FailOn != rule.High.String() { // which is what servers take without
		t.request.FailOn = in.Output.FailOn
	}

	return t, in.idempotency(t, identity)
}

// pullRequest reads which pull request the command line names: by its address, or
// as OWNER/REPO and NUMBER.
func (in ReviewInput) pullRequest() (repo string, number int32, err error) {
	if repo, number, ok := ci.PullRequest(in.Repo); ok && in.Number == "" {
		return repo, number, nil
	}
	if strings.Contains(in.Repo, "://") {
		return "", 0, Usagef("%q is not the address of a pull request; write one as "+
			"https://HOST/OWNER/REPO/pull/NUMBER, or OWNER/REPO NUMBER", in.Repo)
	}

	n, err := strconv.ParseInt(strings.TrimPrefix(in.Number, "#"), 10, 32)
	if err != nil || n < 1 {
		return "", 0, Usagef("%q is not a pull request number from 1 to %d; write OWNER/REPO NUMBER",
			in.Number, math.MaxInt32)
	}
	if rule.CheckRepository(in.Repo) != nil {
		return "", 0, Usagef("%q is not a repository; write OWNER/REPO, or GROUP/SUBGROUP/REPO", in.Repo)
	}
	return in.Repo, int32(n), nil
}

var hexSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// commits puts the commits of the command line into the request.
func (in ReviewInput) commits(request *restclient.NewReview) error {
	head, base := strings.ToLower(in.HeadSHA), strings.ToLower(in.BaseSHA)
	switch {
	case head == "" && base == "" && in.BaseRef == "":
		return nil
	case head != "" && !hexSHA.MatchString(head):
		return Usagef("--head-sha: %q is not a commit in 40 hexadecimal digits", in.HeadSHA)
	case base != "" && !hexSHA.MatchString(base):
		return Usagef("--base-sha: %q is not a commit in 40 hexadecimal digits", in.BaseSHA)
	case base != "" && in.BaseRef != "":
		return Usagef("--base-sha and --base-ref say the same; give one of them")
	}

	if head != "" {
		request.HeadSHA = head
	}

	if base != "" || in.BaseRef != "" {
		request.BaseSHA, request.BaseRef = base, in.BaseRef
	}

	if request.HeadSHA == "" || request.BaseSHA == "" && request.BaseRef == "" {
		return Usagef("--head-sha goes with --base-sha or --base-ref")
	}

	return nil
}

// idempotency chooses the key. One that is made of the CI job is the same for
// every try of it, so that these start one scan together, and another one for
// another request.
func (in ReviewInput) idempotency(t *target, identity []string) error {
	if t.key = in.IdempotencyKey; t.key != "" {
		if len(t.key) > 255 || strings.ContainsFunc(t.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return Usagef("--idempotency-key: %q is not 1 to 255 visible ASCII characters", t.key)
		}

		return nil
	}

	if strings.Join(identity, "") == "" {
		return nil
	}

	request, err := json.Marshal(t.request)
	if err != nil {
		return err
	}

	t.key, t.derived = derivedKey(append(identity, string(request))...), true
	return nil
}

func derivedKey(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return "ci-" + hex.EncodeToString(sum[:16])
}
