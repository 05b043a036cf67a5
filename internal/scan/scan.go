package scan

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Limits of a scan.
const (
	MaxFiles = 100_000         // changed files
	MaxTime  = 5 * time.Minute // wall time of a scan, reading included
)

// Selection says which of the rules apply.
type Selection int

// The selections.
const (
	SelectRepository Selection = iota // all: the ruleset of the repository
	SelectDefault                     // the default ruleset
	SelectCustom                      // the organization's rules
)

// Request says what to scan, and with which rules.
type Request struct {
	Target
	Selection Selection
	Rules     *Ruleset // from the Scanner that scans
	// File is a rules file to apply in place of the base's, valid and without
	// ids of other rules. With it nothing is found about rules files.
	File *rule.File
	// Bare leaves out of findings what takes longer than finding them: Snippet,
	// Fingerprint, LineHash and the UTF-16 columns.
	Bare        bool
	Budget      time.Duration // in which each rule may match; rule.Budget when 0
	MaxFindings int           // that are returned, and as many skips; the rest is counted
	MaxSize     int           // of all that is returned, see Finding.Size; MaxSize when 0
	// RequireReason says that a comment that suppresses findings must give a
	// reason.
	RequireReason bool
	Today         string // by which such comments have ended, `YYYY-MM-DD`; empty for this day in UTC
	// Partial says that there may be rules beside Rules and those of the rules
	// file: then nothing is said of a comment that names a rule that is unknown.
	Partial bool
	// Unsuppressed says that comments suppress nothing and are not looked at, for
	// who takes no suppressed findings.
	Unsuppressed bool
}

// Result is what a scan found.
type Result struct {
	HeadSHA, BaseSHA string
	RulesDigest      string    // of exactly what was applied, see rule.Digest
	Findings         []Finding // by path (bytes), line, rule id
	Suppressed       []Finding // likewise, up to the same limit; in no Summary
	Skips            []Skip    // by path (bytes), line, rule id
	Summary          Summary   // of all findings, also of those over the limit
	Truncated        bool      // there were more findings, suppressed ones or skips than the limits
	FilesTotal       int       // changed files that are there at head
	// RulesFile is the rules of the base's rules file, each with Repo set. When
	// that file is broken RulesFileValid is false, and there are none.
	RulesFile      []rule.Rule
	RulesFileValid bool
	Times          Times
}

// Finding is one place where a rule fired.
type Finding struct {
	RuleID      string // `category/name`
	Severity    rule.Severity
	Path        string // bytes, not always UTF-8
	Line        int    // of the start of the match, from 1
	EndLine     int    // of its last byte
	Column      int    // of its start, in bytes from 1
	EndColumn   int    // after its last byte, on EndLine, in bytes from 1
	Message     string
	Snippet     string // the line of the start, see snippet; empty for findings about the rules file
	Fingerprint string // see fingerprint
	// Column and EndColumn in UTF-16 code units from 1, as editors and SARIF
	// count.
	UTF16Column, UTF16EndColumn int
	// LineHash is SARIF's primaryLocationLineHash as GitHub's uploader computes
	// it. It is empty where the rule masks what it matches, since it is made of
	// the text itself, or a line that it is made of has a masked part, and for
	// findings of the category meta.
	LineHash    string
	Suppression *Suppression // the comment that suppresses it; nil for none
}

// Suppression is a comment in the code that accepts a finding.
type Suppression struct {
	Reason string // empty when the comment gives none
	Until  string // last day on which it holds, `YYYY-MM-DD` in UTC; empty for no end
	Line   int    // of the comment, from 1
}

// Skip is something that was not looked at.
type Skip struct {
	Path   string // bytes
	Line   int    // 0 when it is not about a line
	RuleID string // `category/name`; empty when it is not about a rule
	Reason string // one of the Skip constants
}

// The reasons of skips, the words of the API.
const (
	SkipBinary       = "binary"         // a NUL in the first 8,000 bytes
	SkipFileTooLarge = "file_too_large" // over MaxFileSize
	SkipLineTooLong  = "line_too_long"  // over match.MaxLine
	SkipRuleTimeout  = "rule_timeout"   // the rule used up rule.Budget
	SkipSubmodule    = "submodule"      // not followed
)

// Summary counts findings by severity. It has all severities as keys.
type Summary map[rule.Severity]int

// Progress says how many changed files were looked at, of how many.
type Progress struct{ Done, Total int }

// progressEvery is how often progress is told at most.
const progressEvery = 200 * time.Millisecond

// Options set up a Scanner. Zero fields have the given defaults.
type Options struct {
	CacheSize int64         // bytes of compiled rules to keep, as estimated; 256 MiB
	Timeout   time.Duration // wall time of a scan; MaxTime
	Workers   int           // files that one scan matches at the same time; the number of processors
	Observer  Observer      // hears of scans; nobody
}

// Scanner scans pull requests. It is safe for concurrent use.
type Scanner struct {
	source  Source
	options Options
	cache   *match.Cache[*Ruleset]
}

// NewScanner returns a scanner of the pull requests of source.
func NewScanner(source Source, o Options) *Scanner {
	if o.CacheSize == 0 {
		o.CacheSize = 256 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = MaxTime
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	return &Scanner{source: source, options: o, cache: match.NewCache(o.CacheSize, (*Ruleset).Size)}
}

// Scan scans one pull request. progress is called from time to time, from one
// goroutine at a time, and not after Scan returns. Scan fails with a *Failure, and with
// ctx's error when ctx ends.
func (s *Scanner) Scan(ctx context.Context, r Request, progress func(Progress)) (*Result, error) {
	began, times := time.Now(), &clock{}
	ctx, span := startSpan(withClock(ctx, times), "scan")
	s.options.Observer.Started()
	result, err := s.limited(ctx, r, progress)
	report := Report{Outcome: outcomeOf(err), Took: time.Since(began), Times: times.times(), Result: result}
	endSpan(span, report)
	s.options.Observer.Ended(report)
	return result, err
}

// limited scans within the time that a scan has, and sorts the errors.
func (s *Scanner) limited(ctx context.Context, r Request, progress func(Progress)) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	result, err := s.scan(limited, r, progress)
	var failure *Failure
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
	case errors.As(err, &failure):
		return nil, failure
	}
	return nil, &Failure{Code: CodeScanFailed, Message: "The scan failed unexpectedly; the scanner's log has the details.", Err: err}
}

func (s *Scanner) scan(ctx context.Context, r Request, progress func(Progress)) (_ *Result, err error) {
	ended := Begin(ctx, PhaseTotal)
	change, err := s.source.Open(ctx, r.Target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, change.Close()) }()

	total := change.FileCount()
	if total > MaxFiles {
		return nil, tooManyFiles(total)
	}
	progress(Progress{Total: total})
	files, plan, err := s.prepare(ctx, change, r)
	if err != nil {
		return nil, err
	}
	c := newCollector(r.MaxFindings, cmp.Or(r.MaxSize, MaxSize))
	edited, err := s.run(ctx, change, plan, c, progress)
	if err != nil {
		return nil, err
	}
	for _, f := range files.findings(edited) {
		c.meta(f)
	}
	result := c.result()
	result.HeadSHA, result.BaseSHA = change.HeadSHA(), change.BaseSHA()
	result.RulesDigest = plan.digest
	result.FilesTotal = total
	result.RulesFileValid = files.baseErr == nil
	if files.base != nil {
		result.RulesFile = files.base.Rules
	}
	// Closed here, so that its time counts; a second Close does nothing.
	if err := change.Close(); err != nil {
		return nil, err
	}
	ended()
	result.Times = timesOf(ctx)
	return result, nil
}

// prepare reads the rules files and puts together what the scan applies.
func (s *Scanner) prepare(ctx context.Context, change Change, r Request) (*rulesFiles, *plan, error) {
	defer Begin(ctx, PhaseRules)()
	files, err := readRulesFiles(ctx, change, r)
	if err != nil {
		return nil, nil, err
	}
	plan, err := s.plan(r, files.base)
	if err != nil {
		return nil, nil, err
	}
	plan.head = files.head
	return files, plan, nil
}
