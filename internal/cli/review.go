package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// ReviewInput is what the review command was asked for.
type ReviewInput struct {
	Repo    string // `owner/name`; empty, as Number then is, for what the CI service says
	Number  string // pull request number, as it was given
	Ruleset string // empty for the repository's

	// Commits to scan in place of the pull request's own.
	HeadSHA, BaseSHA, BaseRef string

	IdempotencyKey string        // empty for one that is made of the CI job, or at random
	NoWait         bool          // until the review has ended
	Timeout        time.Duration // of everything
	Output         Output
}

// pollEvery is the time between two looks at a review whose watch stream
// broke. It leaves half of the usual rate limit to others.
const pollEvery = 2 * time.Second

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
	target, err := in.target(st)
	if err != nil {
		return err
	}
	if err := in.check(out); err != nil {
		return err
	}

	key, err := apiKey(st, c)
	if err != nil {
		return err
	}
	config, err := clientTLS(c)
	if err != nil {
		return err
	}

	p := newProgress(st)
	patience := min(restclient.Patience, in.Timeout)
	r := reviewer{
		st: st, out: out, target: target, progress: p, began: time.Now(),
		client: restclient.New(c.Server, key, "prwarden/"+build.Read().Version, config, func(err error) {
			p.say("%s; trying again for up to %s", terminal.Safe(err.Error()), patience)
		}),
	}

	if target.service != "" {
		st.note("%s: %s", target.service, terminal.Safe(target.String()))
	}
	within, cancel := context.WithTimeout(ctx, in.Timeout)
	defer cancel()
	do := r.run
	if in.NoWait {
		do = r.start
	}

	err = do(within)
	switch {
	case err == nil || errors.Is(err, ErrSilent):
		return err
	case ctx.Err() != nil:
		return errors.New("stopped waiting" + r.goesOn())
	case within.Err() != nil:
		return fmt.Errorf("gave up after %s%s", in.Timeout, r.goesOn())
	}
	return err
}

// check says what is wrong with what is asked for beside the target.
func (in ReviewInput) check(out *outputs) error {
	if in.Timeout <= 0 {
		return Usagef("--timeout: %s is no time to wait; give more than 0", in.Timeout)
	}
	answer := []report.Output{{Format: report.JSON}}
	if in.NoWait && len(in.Output.Formats) > 0 && !slices.Equal(out.list, answer) {
		return Usagef("--output: with --no-wait there are no findings to show; "+
			"leave it out, or use %s for the server's answer", report.JSON)
	}
	return nil
}

// reviewer does one call of the command.
type reviewer struct {
	st       Streams
	out      *outputs
	target   *target
	client   *restclient.Client
	progress *progress
	began    time.Time
	waitsFor string // identifier of the review that is waited for; empty for none
}

// goesOn says what becomes of a review that nobody waits for.
func (r *reviewer) goesOn() string {
	if r.waitsFor == "" {
		return "; no review was started, as far as is known"
	}
	return "; review " + terminal.Safe(r.waitsFor) + " goes on"
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

// run has the review queued, waits, and shows it. Where the same job asked for
// it before, and it failed, there is nothing to show: another one is begun,
// which a further try would find.
func (r *reviewer) run(ctx context.Context) error {
	key := r.target.key
	for try := 0; ; try++ {
		created, _, err := r.create(ctx, key)
		if err != nil {
			return err
		}
		answer, raw, err := r.await(ctx, created.ReviewID)
		if err != nil {
			return err
		}
		earlier := r.target.derived && r.isEarlier(created, answer)
		if earlier && answer.Status == string(review.Complete) {
			r.progress.say("this is the review that an earlier try of this job started, at %s",
				answer.CreatedAt.UTC().Format(time.RFC3339))
		} else if earlier && try < maxRetries {
			r.progress.say("review %s of an earlier try of this job is %s; starting another",
				terminal.Safe(created.ReviewID), terminal.Safe(answer.Status))
			key = derivedKey(key, created.ReviewID)
			continue
		}
		return r.show(answer, raw)
	}
}

// isEarlier reports whether a review is older than this call of the command,
// by the server's clock.
func (r *reviewer) isEarlier(created restclient.Created, answer restclient.Review) bool {
	const rounding = 2 * time.Second // times in HTTP are in seconds
	if created.At.IsZero() || answer.CreatedAt.IsZero() {
		return false
	}
	return answer.CreatedAt.Before(created.At.Add(-time.Since(r.began) - rounding))
}

// create asks for the review.
func (r *reviewer) create(ctx context.Context, key string) (restclient.Created, []byte, error) {
	created, raw, err := r.client.CreateReview(ctx, r.target.request, key)
	if err != nil {
		return created, raw, reviewError(err)
	}
	r.progress.say("review %s %s, done in about %s",
		terminal.Safe(created.ReviewID), terminal.Safe(created.Status), expected(created.EstimatedMS))
	return created, raw, nil
}

// await returns a review that has ended.
func (r *reviewer) await(ctx context.Context, id string) (answer restclient.Review, raw []byte, err error) {
	r.waitsFor = id
	defer r.progress.end()
	if err = waitFor(ctx, r.client, id, r.progress); err == nil {
		answer, raw, err = r.client.GetReview(ctx, id)
	}
	if err != nil {
		return answer, nil, fmt.Errorf("waiting for review %s, which goes on: %w", terminal.Safe(id), reviewError(err))
	}
	r.waitsFor = ""
	return answer, raw, nil
}

// show shows a review that has ended.
func (r *reviewer) show(answer restclient.Review, raw []byte) error {
	found := answer.Decoded()
	err := r.out.show(report.Report{
		Review: found, Of: fmt.Sprintf("%s#%d", found.Repo, found.PRNumber), JSON: raw,
	})
	if err == nil && found.Status != review.Complete {
		return ErrSilent
	}
	return err
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

// waitFor returns when the review has ended. It watches, and where the stream
// breaks, polls.
func waitFor(ctx context.Context, client *restclient.Client, id string, p *progress) error {
	final := false
	err := client.WatchReview(ctx, id, func(u restclient.Update) {
		final = final || restclient.Final(u.Status)
		p.update(u)
	})

	var refused *restclient.APIError
	never := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}
	switch {
	case final:
		return nil
	case errors.As(err, &refused) && slices.Contains(never, refused.Status):
		return err
	}

	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		r, _, err := client.GetReview(ctx, id)
		switch {
		case err != nil:
			return err
		case restclient.Final(r.Status):
			return nil
		}
		p.update(restclient.Update{Status: r.Status})
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func parseNumber(text string) (int32, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 32)
	if err != nil || n < 1 {
		return 0, Usagef("%q is not a pull request number; it must be from 1 to %d", text, math.MaxInt32)
	}
	return int32(n), nil
}

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
	case key == "" && c.KeyFile == "":
		return "", Usagef("no API key: set %s or give --key-file; `prwarden keys create` on the server makes one", where)
	case key == "":
		return "", Usagef("%s is empty; it should hold an API key", where)
	case !isKey(key):
		return "", Usagef("%s does not hold an API key and nothing else: "+
			"there is a space or a control character in it", where)
	}
	return key, nil
}

// isKey reports whether a text can be an API key. Others are no values of a
// header, which would look like a server that can't be reached.
func isKey(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

// reviewError tells a request that was wrong, which trying again as it is will
// not help, from a service that failed.
func reviewError(err error) error {
	var refused *restclient.APIError
	if !errors.As(err, &refused) {
		return err
	}
	refused.Message = terminal.Safe(refused.Message)
	switch status := refused.Status; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return err
	case status >= http.StatusMultipleChoices && status < http.StatusInternalServerError: // redirects are not followed
		return &UsageError{Err: err}
	}
	return err
}

// expected rounds an estimate to what a person wants to know.
func expected(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Second {
		return "1s"
	}
	return d.Round(time.Second).String()
}
