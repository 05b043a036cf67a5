package review

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxIdempotencyKey is the length, in characters, of an Idempotency-Key.
const maxIdempotencyKey = 255

// Service creates, reads, cancels and watches reviews.
type Service struct {
	store         Reviews
	organizations Organizations
	notifier      *Notifier
	workers       int
	scanner       Scanner
}

// NewService returns a service over a store. Changes of state are told to
// notifier; workers is how many scans this server has run at once, for estimates:
// where others share the queue, as many count as run. scanner is asked only whether
// one can be reached.
func NewService(store Reviews, organizations Organizations, notifier *Notifier, scanner Scanner, workers int) *Service {
	return &Service{
		store: store, organizations: organizations, notifier: notifier, scanner: scanner, workers: max(workers, 1),
	}
}

// CreateInput is a request to scan a pull request.
type CreateInput struct {
	Repo           string
	PRNumber       int32
	Ruleset        string // "" for the repository's
	Commits        finding.Commits
	FailOn         rule.Severity // 0 when not given: DefaultFailOn
	RequireBase    bool          // fail rather than guess the base
	Priority       Priority      // "" when not given: Normal
	IdempotencyKey string        // "" for none
	TraceParent    string        // see NewReview
}

// Create stores a queued review, durably, and answers it. The errors are those
// of ReviewService.CreateReview in the API.
func (s *Service) Create(ctx context.Context, org string, in CreateInput) (Accepted, error) {
	if err := s.checkCreate(org, in); err != nil {
		return Accepted{}, err
	}
	load, err := s.store.Load(ctx, org, in.Repo)
	if err != nil {
		return Accepted{}, err
	}
	n := NewReview{
		ID:           NewID(),
		Organization: org,
		Repo:         in.Repo,
		PRNumber:     in.PRNumber,
		Ruleset:      in.Ruleset,
		EstimatedMS:  estimate(load, max(s.workers, load.Running)), // others may scan as well
		TraceParent:  in.TraceParent,
		Commits:      in.Commits,
		FailOn:       in.FailOn,
		RequireBase:  in.RequireBase,
		Priority:     cmp.Or(in.Priority, Normal),
		Large:        load.Bytes >= LargeScan,
		CreatedBy:    audit.FromContext(ctx).String(),
	}

	if n.Ruleset == "" {
		n.Ruleset = in.Repo
	}
	if in.IdempotencyKey != "" {
		n.Idempotency = &Idempotency{Key: in.IdempotencyKey, RequestHash: requestHash(in), TTL: IdempotencyTTL}
	}
	accepted, err := s.store.CreateReview(ctx, n, min(s.organizations.MaxQueued(org), MaxQueued))
	if err != nil {
		return Accepted{}, err
	}
	if !accepted.Replayed {
		s.notifier.Enqueued()
	}
	accepted.ScannerAvailable = s.scanner.Available()

	return accepted, nil
}

func (s *Service) checkCreate(org string, in CreateInput) error {
	var bad errs.Violations
	repoErr := rule.CheckRepository(in.Repo)
	if repoErr != nil {
		bad.Add("repo", "%s", repoErr)
	}
	if in.PRNumber < 1 {
		bad.Add("pr_number", "must be a pull request number from 1 to 2147483647, not %d", in.PRNumber)
	}
	switch in.Ruleset {
	case "", rule.RulesetDefault, rule.RulesetCustom, in.Repo:
	default:
		own := "this repository's `<owner>/<repository>`"
		if repoErr == nil {
			own = "`" + in.Repo + "`"
		}
		bad.Add("ruleset", "unknown ruleset %s; allowed are `default`, `custom` and %s", strconv.Quote(in.Ruleset), own)
	}

	bad = append(bad, CheckCommits(in.Commits)...)
	if in.FailOn != 0 && !slices.Contains(rule.Severities(), in.FailOn) {
		bad.Add("fail_on", "must be one of critical, high, medium, warning, low and info")
	}
	if in.Priority != "" && in.Priority != Normal && in.Priority != Low {
		bad.Add("priority", "must be one of normal and low")
	}
	if err := checkIdempotencyKey(in.IdempotencyKey); err != "" {
		bad.Add("Idempotency-Key", "%s", err)
	}
	if err := bad.Err(); err != nil {
		return err
	}
	if !s.organizations.Allowed(org, in.Repo) {
		return rule.RepositoryNotAllowed(org, in.Repo)
	}

	return nil
}

func checkIdempotencyKey(key string) string {
	if len(key) > maxIdempotencyKey {
		return fmt.Sprintf("must have at most %d characters, not %d", maxIdempotencyKey, len(key))
	}
	for i := range len(key) {
		if key[i] < '!' || key[i] > '~' {
			return "must consist of visible ASCII characters"
		}
	}

	return ""
}

// requestHash is equal for requests that mean the same. A field that is not
// given differs from one that names the default, as the bodies do.
func requestHash(in CreateInput) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		in.Repo, strconv.Itoa(int(in.PRNumber)), in.Ruleset,
		in.Commits.Head, in.Commits.Base, in.Commits.BaseRef, in.FailOn.String(), strconv.FormatBool(in.RequireBase),
		string(in.Priority),
	}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Get reads a review with its findings; NotFound.
func (s *Service) Get(ctx context.Context, org, id string) (Review, error) {
	return s.store.GetReview(ctx, org, id)
}

// GetComplete is Get for a review that must be complete: FailedPrecondition
// (REVIEW_NOT_COMPLETE).
func (s *Service) GetComplete(ctx context.Context, org, id string) (Review, error) {
	r, err := s.store.GetReview(ctx, org, id)
	switch {
	case err != nil:
		return Review{}, err
	case r.Status != Complete:
		return Review{}, NotComplete(id, r.Status)
	}
	return r, nil
}

// NotComplete says that a review has no findings in its state.
func NotComplete(id string, status Status) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonReviewNotComplete,
		"The review %q is %s; only a complete one has findings.", id, status)
}

// Cancel stops a queued or running review and returns it in its new state.
func (s *Service) Cancel(ctx context.Context, org, id string) (Review, error) {
	r, err := s.store.CancelReview(ctx, org, id)
	if err != nil {
		return Review{}, err
	}
	s.notifier.Canceled(id)
	return r, nil
}

// defaultScan is the expected time of a scan when none was measured yet:
// a small pull request fetched for the first time over the network.
const defaultScan = 5 * time.Second

// estimate is the expected time, in milliseconds, until a review that is
// created now is complete: what goes first, at the rate that all scans had, by so
// many workers, and its own scan.
func estimate(l Load, workers int) int32 {
	overall, own := l.Overall, l.Average
	if overall <= 0 {
		overall = defaultScan
	}
	if own <= 0 {
		own = overall
	}
	total := time.Duration(l.Ahead)*overall/time.Duration(workers) + own
	return int32(min(max(total.Milliseconds(), 1), 1<<31-1))
}

// shaLength is the length of a commit's name in hexadecimal.
const shaLength = 40

// maxBranch is the length of a branch's name, in bytes: what a file system gives
// a file's less a little, for git locks a branch by a file of a longer name.
const maxBranch = 250

// CheckCommits says what is wrong with the commits of a request, field by
// field.
func CheckCommits(c finding.Commits) (bad errs.Violations) {
	if c.Head != "" && !isSHA(c.Head) {
		bad.Add("head_sha", "must be a commit in 40 lower-case hexadecimal digits")
	}
	if c.Base != "" && !isSHA(c.Base) {
		bad.Add("base_sha", "must be a commit in 40 lower-case hexadecimal digits")
	}
	if problem := checkBranch(c.BaseRef); problem != "" {
		bad.Add("base_ref", "%s", problem)
	}

	switch {
	case c.Head == "" && c.Base != "":
		bad.Add("base_sha", "goes with head_sha, which is missing")
	case c.Head != "" && c.Base == "" && c.BaseRef == "":
		bad.Add("head_sha", "needs base_sha or base_ref: what the commit is to be merged into")
	case c.Base != "" && c.BaseRef != "":
		bad.Add("base_ref", "can't be given together with base_sha; leave one of them out")
	}
	if c.Head == "" && c.BaseRef != "" {
		bad.Add("base_ref", "goes with head_sha, which is missing")
	}

	return bad
}

func isSHA(s string) bool {
	return len(s) == shaLength && strings.Trim(s, "0123456789abcdef") == ""
}

// notInBranch is what the name of a branch can't have in it, as git says it (git
// check-ref-format --branch).
var notInBranch = regexp.MustCompile(`^-|^@$|^HEAD$|[\x00- \x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|(^|/)\.|\.lock(/|$)|\.$`)

// checkBranch says what is wrong with the name of a branch; "" for nothing.
func checkBranch(name string) string {
	if len(name) > maxBranch {
		return fmt.Sprintf("must be the name of a branch with at most %d bytes, not %d", maxBranch, len(name))
	}
	if found := notInBranch.FindString(name); found != "" {
		return fmt.Sprintf("must be the name of a branch as git allows it, such as `main`; %q can't stand there", found)
	}

	return ""
}

// NewID returns a new review identifier: `rev_` and 128 random bits.
func NewID() string { return "rev_" + strings.ToLower(rand.Text()) }

// Watching reads the state at least every watchPoll, because another process
// may change it, and says something at least every keepAlive, because proxies
// close silent streams. A store that is away for less than watchOutage, as one
// that is restarted, ends no watch.
const (
	watchPoll   = time.Second
	keepAlive   = 15 * time.Second
	watchOutage = 30 * time.Second
)

// Update is one message to somebody who watches a review.
type Update struct {
	Review    Review // without findings and skips
	KeepAlive bool   // nothing changed
	Stranded  bool   // it is queued, and no scanner can be reached
}

// Watch sends the review's state at once, after changes of state and on
// progress, and an unchanged one as a keep-alive. A state that passes faster than
// it is looked at is not sent. Watch returns nil after a final
// state was sent, and otherwise the error of ctx, of send, or of the store, when
// that is not just away for a moment.
func (s *Service) Watch(ctx context.Context, org, id string, send func(Update) error) error {
	wake, stop := s.notifier.listen(id)
	defer stop()

	current, err := s.store.GetReviewState(ctx, org, id)
	if err != nil {
		return err
	}
	stranded := func(r Review) bool { return r.Status == Queued && !s.scanner.Available() }
	was := stranded(current)
	if err := send(Update{Review: current, Stranded: was}); err != nil {
		return err
	}
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	alive := time.NewTimer(keepAlive)
	defer alive.Stop()
	read := time.Now() // when the store was last there
	for !current.Status.Final() {
		quiet := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		case <-poll.C:
		case <-alive.C:
			quiet = true
		}
		next, err := s.store.GetReviewState(ctx, org, id)
		switch {
		case err == nil:
			read = time.Now()
		case errs.KindOf(err) == errs.Unavailable && time.Since(read) < watchOutage:
			next = current
		default:
			return err
		}
		is := stranded(next)
		changed := next.Status != current.Status || next.Attempt != current.Attempt ||
			next.Progress != current.Progress || is != was
		if !changed && !quiet {
			continue
		}
		if err := send(Update{Review: next, KeepAlive: !changed, Stranded: is}); err != nil {
			return err
		}
		current, was = next, is
		alive.Reset(keepAlive)
	}

	return nil
}
