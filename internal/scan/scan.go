// Package scan is what a scan is: a pull request is opened at a Source, its
// rules are put together, the rules are matched on the lines that it adds, and
// the hits become findings. It knows neither git, nor storage, nor transport.
package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// Target names one pull request.
type Target struct {
	Organization string // whose cache is used
	Host         organization.Host
	Credential   codehost.Credential // opens the repository, for this one scan
	Guarded      bool                // the host is reached at public addresses only, by https
	Repo         string              // `owner/name`
	Number       int32               // from 1
	Commits      finding.Commits
	RequireBase  bool // fail with CodeBaseUnknown rather than guess the base

	// ForDiff opens the commits to show them: files that were deleted are there, links
	// stay what they are, and nothing is fetched when the cache has all.
	ForDiff bool
}

// Source opens pull requests. A code host is one.
type Source interface {
	// Open finds the pull request's head and base and makes their difference
	// readable. It fails with a *Failure, also when too many files are changed.
	Open(ctx context.Context, t Target) (Change, error)
}

// Side is one of the commits of a change.
type Side int

// The sides. A change is what differs between MergeBase and Head.
const (
	Base      Side = iota // what the pull request is to be merged into
	Head                  // the pull request's head
	MergeBase             // what both have in common: where the pull request started
)

// Change is an opened pull request. It is not safe for concurrent use.
type Change interface {
	// HeadSHA and BaseSHA are the commits at the two ends, in hexadecimal.
	HeadSHA() string
	BaseSHA() string
	// HeadCommit is the first paragraph of the head commit's message and the name of
	// its author, as finding.Line makes them; "" where there is no such commit.
	HeadCommit() (subject, author string)
	// BaseFoundBy says how the base was found.
	BaseFoundBy() finding.BaseFoundBy
	// ReadFile reads the rules file, which is at path, on one side. found is false
	// when there is none. A file over limit bytes is returned cut at limit+1 bytes.
	ReadFile(ctx context.Context, side Side, path string, limit int) (data []byte, found bool, err error)
	// FileCount is the number of files that Files yields.
	FileCount() int
	// Files yields each file that is changed and still there at head, in the
	// order of their paths, by bytes. What it yields is the receiver's to keep.
	// After an error it ends. It is called once, after ReadFile.
	Files(ctx context.Context) iter.Seq2[*File, error]
	// Pairs yields those files at paths that are changed, in the order of the paths,
	// each as it was and as it is. A file over most bytes on one side is not read. It is
	// called in place of Files, for a Target.ForDiff.
	Pairs(ctx context.Context, paths []string, most int64) iter.Seq2[*Pair, error]
	// Close frees what Open took.
	Close() error
}

// Failure is why a scan could not be done.
type Failure struct {
	Code    string // a word for programs, one of the Code constants
	Message string // a sentence for people, without secrets
	Lasting bool   // trying again is pointless
	Err     error  // the cause, for the log only
}

// The codes. docs/api.md explains each.
const (
	CodePullRequestNotFound = "pull_request_not_found"
	CodeRepositoryNotFound  = "repository_not_found" // or no access: hosts do not tell them apart
	CodeAccessDenied        = "access_denied"
	CodeBaseUnknown         = "base_unknown"
	CodeCommitNotFound      = "commit_not_found"
	CodeNoMergeBase         = "no_merge_base"
	CodePullRequestTooLarge = "pull_request_too_large"
	CodeRepositoryTooLarge  = "repository_too_large"
	CodeRepositoryInvalid   = "repository_invalid" // its objects are damaged or hostile
	CodeCacheFull           = "cache_full"         // the scanner's disk, so a passing fault
	CodeScanTimeout         = "scan_timeout"
	CodeHostUnreachable     = "host_unreachable"
	CodeHostMisconfigured   = "host_misconfigured" // the operator has to change the host of the organization
	CodeScanFailed          = "scan_failed"
)

// Error returns the message followed by the cause; it is for the log.
func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.Err)
	}

	return f.Code + ": " + f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// MaxTime is the wall time of a scan, reading included.
const MaxTime = 5 * time.Minute

// maxCache is how many bytes of compiled rules a Scanner keeps, as estimated, when
// nothing else is said.
const maxCache = 256 << 20

// Request says what to scan, and with which rules.
type Request struct {
	Target
	Ruleset string   // rule.RulesetDefault, rule.RulesetCustom, else all rules: the repository's
	Rules   *Ruleset // from the Scanner that scans

	// OtherRules says that there may be rules beside Rules and those of the rules
	// file. Then a comment may name a rule that is not known here.
	OtherRules bool

	// File is a rules file to apply in place of the base's. It is valid and has no
	// ids of other rules. With it nothing is found about rules files.
	File *rule.File

	// PlacesOnly leaves out of findings what takes longer than finding them:
	// Snippet, Fingerprint, LineHash and the UTF-16 columns.
	PlacesOnly bool

	MaxFindings int // that are returned, and as many skips; the rest is counted
	MaxSize     int // of all that is returned, see finding.Finding.Size; MaxSize when 0

	// Policy is that of the organization; policy.Default when nil.
	Policy *policy.Policy
	// Today is the day by which such comments have ended, as `YYYY-MM-DD`. It is
	// this day in UTC when empty.
	Today string
}

// policy is what the request is scanned by.
func (r Request) policy() policy.Policy {
	if r.Policy == nil {
		return policy.Default()
	}

	return *r.Policy
}

// Result is what a scan found, and how long it took.
type Result struct {
	finding.Result
	Times Times
}

// Progress says how many changed files were looked at, of how many.
type Progress struct{ Done, Total int }

// Options set up a Scanner. Zero fields have the given defaults.
type Options struct {
	Timeout time.Duration // wall time of a scan; MaxTime
	Workers int           // files that one scan matches at the same time; the number of processors
	Cache   int64         // bytes of compiled rules that are kept, as estimated; 256 MiB

	DiffTime time.Duration // for how long lines of a diff are read and masked; 2 s

	// Background is where long matching goes on; nil for nowhere else.
	Background *background.Pool

	// Observe hears how each scan ended: OutcomeComplete, OutcomeCanceled or one of
	// the Code constants. It is called by many goroutines at once; nil for nobody.
	Observe func(outcome string, times Times)
}

// Scanner scans pull requests. It is safe for concurrent use.
type Scanner struct {
	source  Source
	options Options
	cache   *match.Cache[*Ruleset]
}

// NewScanner returns a scanner of the pull requests of source.
func NewScanner(source Source, o Options) *Scanner {
	o.Timeout = cmp.Or(o.Timeout, MaxTime)
	o.Workers = cmp.Or(o.Workers, background.Processors())
	o.Cache = cmp.Or(o.Cache, maxCache)
	o.DiffTime = cmp.Or(o.DiffTime, diffTime)

	return &Scanner{source: source, options: o, cache: match.NewCache(o.Cache, (*Ruleset).Size)}
}

// Scan scans one pull request. progress is called from time to time, from one
// goroutine at a time, and not after Scan returns. Scan fails with a *Failure, and
// with ctx's error when ctx ends.
func (s *Scanner) Scan(ctx context.Context, r Request, progress func(Progress)) (*Result, error) {
	began, clock := time.Now(), &clock{}
	ctx, span := startSpan(context.WithValue(ctx, clockKey{}, clock), "scan")

	found, err := s.limited(ctx, r, progress)
	clock[PhaseTotal].Store(int64(time.Since(began)))
	outcome, times := outcomeOf(err), clock.times()
	endScan(span, outcome, times)
	if s.options.Observe != nil {
		s.options.Observe(outcome, times)
	}
	if err != nil {
		return nil, err
	}

	return &Result{Result: *found, Times: times}, nil
}

// limited scans within the time that a scan has, and sorts the errors.
func (s *Scanner) limited(ctx context.Context, r Request, progress func(Progress)) (*finding.Result, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()

	result, err := s.scan(limited, r, progress)
	failure, isFailure := errors.AsType[*Failure](err)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, &Failure{
			Code:    CodeScanTimeout,
			Message: "The scan took more than " + s.options.Timeout.String() + ".",
			Lasting: true,
			Err:     err,
		}
	case isFailure:
		return nil, failure
	}

	return nil, &Failure{
		Code:    CodeScanFailed,
		Message: "The scan failed unexpectedly; the scanner's log has the details.",
		Err:     err,
	}
}

func (s *Scanner) scan(ctx context.Context, r Request, progress func(Progress)) (_ *finding.Result, err error) {
	change, err := s.source.Open(ctx, r.Target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, change.Close()) }()

	total := change.FileCount()
	progress(Progress{Total: total})

	files, plan, err := s.prepare(ctx, change, r)
	if err != nil {
		return nil, err
	}

	c := newCollector(r.MaxFindings, cmp.Or(r.MaxSize, MaxSize))
	if files.missing(r.Ruleset) {
		c.skip(finding.Skip{File: rule.FilePath, Reason: finding.SkipRulesFileInvalid})
	}
	edited, err := s.run(ctx, change, plan, c, progress)
	if err != nil {
		return nil, err
	}

	result := c.result(plan.metas.wanted(files.findings(edited)))
	result.HeadSHA, result.BaseSHA = change.HeadSHA(), change.BaseSHA()
	result.HeadTitle, result.HeadAuthor = change.HeadCommit()
	result.BaseFoundBy = change.BaseFoundBy()
	result.RulesDigest, result.LookedAt.Rules = plan.digest, plan.ruleCount
	result.SwitchedOff = plan.switched
	if c.excluded > 0 {
		result.Exclusions = finding.Exclusions{Files: c.excluded, By: rule.FilePath}
	}
	result.FilesTotal, result.RuleCosts = total, plan.costs()
	result.RulesFileValid = files.baseErr == nil
	if files.base != nil {
		result.RulesFile, result.Publish = files.base.Rules, files.base.Publish
	}

	return result, nil
}

// prepare reads the rules files and puts together what the scan applies.
func (s *Scanner) prepare(ctx context.Context, change Change, r Request) (*rulesFiles, *plan, error) {
	defer Begin(ctx, PhaseRules)()

	files, err := readRulesFiles(ctx, change, r)
	if err != nil {
		return nil, nil, err
	}
	plan, err := s.plan(ctx, r, files.base)
	if err != nil {
		return nil, nil, err
	}
	plan.head = files.head

	return files, plan, nil
}

// Outcomes of scans that are no failures.
const (
	OutcomeComplete = "complete"
	OutcomeCanceled = "canceled" // the caller has no use for it any more, or takes it back
)

// outcomeOf is what a scan's end is called in metrics and traces.
func outcomeOf(err error) string {
	if err == nil {
		return OutcomeComplete
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Code
	}

	return OutcomeCanceled
}
