package review

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/page"
)

// Limits of a diff.
const (
	MaxDiffFiles   = 64
	MaxUnfold      = 200 // lines
	DefaultContext = 3   // lines

	// diffTime bounds a call; a scanner has less to fetch what it lacks.
	diffTime = 30 * time.Second
	// diffRetry is when to try again while the source can't be read.
	diffRetry = 5 * time.Second
	// diffKept is how long an answer is kept at most: a force push, or a right that
	// was taken away at the code host, shows after it.
	diffKept = time.Hour
	// diffCache is how many bytes of answers are kept in memory, as estimated.
	diffCache = 32 << 20
)

// Diffs shows changed lines of reviews, with what rules mask hidden. The lines come from
// a scanner's cache, or the code host; here they are only kept in memory for a while.
type Diffs struct {
	DiffsNeeds

	kept *match.Cache[finding.Diff]
}

// DiffsNeeds is what diffs are made with.
type DiffsNeeds struct {
	Reviews       Reviews
	Scanner       DiffScanner
	Rules         RuleSource
	Policies      PolicySource
	Organizations Organizations
	Sources       Sources
	Enabled       bool // whether source is shown at all
	Now           func() time.Time
	OnEnd         func(result string, took time.Duration) // what each call led to, for metrics
}

// DiffScanner reads lines of commits that were scanned.
type DiffScanner interface {
	// Diff returns them masked, or fails with a *ScanError.
	Diff(ctx context.Context, j DiffJob) (finding.Diff, error)
}

// DiffJob says which lines to read.
type DiffJob struct {
	Job // its Commits have a head and a base

	Paths    []string // in the order of the answer
	Context  int      // lines around changed ones
	From, To int      // lines at head, in place of changed ones; 0 for these
}

// Availability says whether source can be shown.
type Availability string

// What can be said of it.
const (
	DiffAvailable Availability = "available"
	DiffGone      Availability = "gone"
	DiffDisabled  Availability = "disabled"
	DiffTooLarge  Availability = "too_large"
)

// DiffInput selects lines of a review.
type DiffInput struct {
	ReviewID  string
	Files     []string // as finding.Shown shows them; none for those that have findings
	Context   int
	PageToken string // of the page before
	From, To  int    // lines at head of the one file, in place of changed ones; 0 for these
}

// ShownDiff is a page of the changed lines of a review.
type ShownDiff struct {
	Availability  Availability
	Files         []finding.FileDiff // by path
	NextPageToken string             // "" on the last page
}

// NewDiffs returns diffs of reviews in a store.
func NewDiffs(n DiffsNeeds) *Diffs {
	return &Diffs{DiffsNeeds: n, kept: match.NewCache(diffCache, finding.Diff.Size)}
}

// Get returns a page of the changed lines of a review. The errors are those of
// ReviewService.GetDiff in the API.
func (d *Diffs) Get(ctx context.Context, org string, in DiffInput) (ShownDiff, error) {
	began := time.Now()
	out, err := d.get(ctx, org, in)
	result := string(out.Availability)
	switch {
	case err == nil:
	case errs.KindOf(err) == errs.Unavailable, ctx.Err() != nil:
		result = "unavailable"
	case errs.KindOf(err) == errs.Internal:
		result = "failed"
	default:
		result = "refused"
	}
	d.OnEnd(result, time.Since(began))

	return out, err
}

func (d *Diffs) get(ctx context.Context, org string, in DiffInput) (ShownDiff, error) {
	if err := checkDiff(in); err != nil {
		return ShownDiff{}, err
	}
	filters := append([]string{in.ReviewID, strconv.Itoa(in.Context)}, in.Files...)
	place, _ := page.Place(in.PageToken, filters...)
	first, err := strconv.Atoi(cmp.Or(place, "0"))
	if in.PageToken != "" && (place == "" || err != nil || first < 1) {
		return ShownDiff{}, errs.Invalid("page_token",
			"must be the next_page_token of a page of the same review with the same files and context")
	}

	r, err := d.Reviews.GetReviewState(ctx, org, in.ReviewID)
	switch {
	case err != nil:
		return ShownDiff{}, err
	case r.Status != Complete:
		return ShownDiff{}, NotComplete(r.ID, r.Status)
	case !d.Enabled:
		return ShownDiff{Availability: DiffDisabled}, nil
	case !d.Organizations.Allowed(org, r.Repo):
		return ShownDiff{Availability: DiffGone}, nil
	}

	paths, err := d.paths(ctx, r, in.Files)
	if err != nil {
		return ShownDiff{}, err
	}
	rest := paths[min(first, len(paths)):]
	job := DiffJob{Paths: rest[:min(MaxDiffFiles, len(rest))], Context: in.Context, From: in.From, To: in.To}
	found, err := d.read(ctx, r, job)
	if err != nil {
		return unavailable(err)
	}

	out := ShownDiff{Availability: DiffAvailable, Files: found.Files}
	if next := first + found.Done; next < len(paths) {
		out.NextPageToken = page.Token(strconv.Itoa(next), filters...)
	}

	return out, nil
}

func checkDiff(in DiffInput) error {
	switch {
	case in.From == 0 && in.To == 0:
	case in.From == 0 || in.To == 0:
		return errs.Invalid("from", "and to must be given together")
	case in.To < in.From || in.To-in.From >= MaxUnfold:
		return errs.Invalid("to", "must be from `from` to %d lines behind it", MaxUnfold-1)
	case len(in.Files) != 1:
		return errs.Invalid("files", "must be one file when from and to are given")
	case in.PageToken != "":
		return errs.Invalid("page_token", "can't be given together with from and to")
	}

	return nil
}

// paths are the files to show, by path.
func (d *Diffs) paths(ctx context.Context, r Review, files []string) ([]string, error) {
	paths := slices.Clone(files)
	if len(paths) == 0 {
		whole, err := d.Reviews.GetReview(ctx, r.Organization, r.ID)
		if err != nil {
			return nil, err
		}
		for _, list := range [][]finding.Finding{whole.Findings, whole.Suppressed, whole.Observed} {
			for _, f := range list {
				paths = append(paths, f.File)
			}
		}
	}
	slices.Sort(paths)

	return slices.Compact(paths), nil
}

// read has a scanner read lines, unless they are kept.
func (d *Diffs) read(ctx context.Context, r Review, job DiffJob) (finding.Diff, error) {
	if len(job.Paths) == 0 {
		return finding.Diff{}, nil
	}
	rules, err := d.Rules.RulesFor(ctx, r.Organization, r.Repo)
	if err != nil {
		return finding.Diff{}, err
	}
	by, err := d.Policies.Policy(ctx, r.Organization)
	if err != nil {
		return finding.Diff{}, err
	}

	hour := d.Now().Truncate(diffKept).Format(time.RFC3339) // what is kept is answered until it ends
	key := []string{r.Organization, r.ID, rules.Digest, string(by.JSON()), hour}
	for _, n := range []int{job.Context, job.From, job.To} {
		key = append(key, strconv.Itoa(n))
	}
	key = append(key, job.Paths...)

	ctx, cancel := context.WithTimeout(ctx, diffTime)
	defer cancel()
	return d.kept.Load(ctx, r.Organization, strings.Join(key, "\x00"), func(ctx context.Context) (finding.Diff, error) {
		claim := Claim{
			ReviewID: r.ID, Organization: r.Organization, Repo: r.Repo, PRNumber: r.PRNumber, Ruleset: r.Ruleset,
			Commits: finding.Commits{Head: r.HeadSHA, Base: r.BaseSHA}, Attempt: 1,
		}
		source, err := d.Sources.Source(ctx, claim)
		if err != nil {
			return finding.Diff{}, err
		}
		job.Job = Job{Claim: claim, Source: source, Rules: rules, Policy: by}

		return d.Scanner.Diff(ctx, job)
	})
}

// unavailable is what is answered when lines could not be read: that they are gone, when
// trying again is pointless.
func unavailable(err error) (ShownDiff, error) {
	failed, ok := errors.AsType[*ScanError](err)
	switch {
	case !ok:
		return ShownDiff{}, err
	case failed.Lasting && strings.HasSuffix(failed.Code, "_too_large"):
		return ShownDiff{Availability: DiffTooLarge}, nil
	case failed.Lasting:
		return ShownDiff{Availability: DiffGone}, nil
	}

	e := errs.New(errs.Unavailable, errs.ReasonUnavailable, "The source can't be read now: %s", failed.Message)
	e.RetryAfter, e.Err = cmp.Or(failed.After, diffRetry), err

	return ShownDiff{}, e
}
