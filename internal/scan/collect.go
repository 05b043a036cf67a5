package scan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/suppress"
)

// MaxSize is how many bytes the findings, suppressed ones and skips of a scan
// take in all, see finding.Finding.Size. So an answer that has all of them can be
// held in memory, whatever their paths are made of.
const MaxSize = 32 << 20

// progressEvery is how often progress is told at most.
const progressEvery = 200 * time.Millisecond

// bySeverity is findings, in order, by their severity.
type bySeverity map[rule.Severity][]finding.Finding

// collector puts together what was found in the files of a scan. Of more than
// limit findings, or of more than fit size, it keeps the most severe, and the
// first of those: many small ones must not bury a large one.
type collector struct {
	limit       int
	size        int // of all that is kept in the end
	findings    bySeverity
	suppressed  bySeverity
	reports     map[string][]finding.Finding // about comments that suppress, by rule; maxReports and one
	reportCount map[string]int               // how many there are
	metas       []finding.Finding            // about the rules file
	skips       []finding.Skip
	summary     finding.Summary
	truncated   bool
}

func newCollector(limit, size int) *collector {
	return &collector{
		limit: limit, size: size,
		findings: bySeverity{}, suppressed: bySeverity{}, summary: finding.NewSummary(),
		reports: map[string][]finding.Finding{}, reportCount: map[string]int{},
	}
}

// collect takes the results of total files in their order and tells progress.
// It ends at the first that failed.
func (c *collector) collect(ordered <-chan chan fileResult, total int, progress func(Progress)) error {
	done, told := 0, time.Time{}
	for result := range ordered {
		r := <-result
		if r.err != nil {
			return r.err
		}
		c.add(r)

		done++
		if now := time.Now(); now.Sub(told) >= progressEvery || done == total {
			told = now
			progress(Progress{Done: done, Total: total})
		}
	}

	return nil
}

// add adds what was found in a file.
func (c *collector) add(r fileResult) {
	c.keep(c.findings, r.findings)
	c.keep(c.suppressed, r.suppressed)
	c.truncated = c.truncated || r.suppressedCount > len(r.suppressed)
	for severity, n := range r.counts {
		c.summary[severity] = min(c.summary[severity]+n, math.MaxInt32) // as the API counts
	}

	for _, f := range r.reports {
		if kept := c.reports[f.RuleID]; len(kept) <= maxReports {
			c.reports[f.RuleID] = append(kept, f)
		}
	}
	for id, n := range r.reportCounts {
		c.reportCount[id] += n
	}

	room := min(len(r.skips), c.limit-len(c.skips))
	c.truncated = c.truncated || len(r.skips) > room
	c.skips = append(c.skips, r.skips[:room]...)
}

// keep adds findings to those that are kept.
func (c *collector) keep(all bySeverity, more []finding.Finding) {
	for _, f := range more {
		if kept := all[f.Severity]; len(kept) < c.limit {
			all[f.Severity] = append(kept, f)
		}
	}
}

// addMeta adds a finding about the rules file.
func (c *collector) addMeta(f finding.Finding) {
	c.metas = append(c.metas, f)
	c.summary[f.Severity]++
}

// addReports makes findings of all that there is to say about comments.
func (c *collector) addReports() {
	for _, kind := range suppress.Kinds() {
		id := string(kind)
		list := c.reports[id]
		if len(list) > maxReports {
			last := &list[maxReports]
			last.Message = fmt.Sprintf("There are %d more of these, which are not listed one by one.",
				c.reportCount[id]-maxReports)
			last.Fingerprint = fingerprinter{}.next(identity{ruleID: id, file: last.File, text: "more"})
		}

		c.keep(c.findings, list)
		c.summary[kind.Severity()] += len(list)
	}
}

// result returns all that was collected.
func (c *collector) result() *finding.Result {
	c.addReports()
	// There are few metas, and they are about all of the other findings.
	findings, _ := c.severest(slices.Clone(c.metas), c.findings)
	suppressed, cut := c.severest(nil, c.suppressed)
	nFindings, nSuppressed, nSkips := fit(findings, suppressed, c.skips, c.size)
	total := 0
	for _, n := range c.summary {
		total += n
	}

	r := &finding.Result{
		Findings:   findings[:nFindings],
		Suppressed: suppressed[:nSuppressed],
		Skips:      c.skips[:nSkips],
		Summary:    c.summary,
		Truncated: c.truncated || cut ||
			total > nFindings || len(suppressed) > nSuppressed || len(c.skips) > nSkips,
	}
	sortFindings(r.Findings)
	sortFindings(r.Suppressed)

	return r
}

// severest adds findings to others, the most severe first and as many as are
// wanted. cut says that there were more.
func (c *collector) severest(all []finding.Finding, by bySeverity) (_ []finding.Finding, cut bool) {
	for _, severity := range rule.Severities() {
		room := min(len(by[severity]), max(0, c.limit-len(all)))
		cut = cut || len(by[severity]) > room
		all = append(all, by[severity][:room]...)
	}

	return all[:min(len(all), c.limit)], cut
}

// sortFindings sorts findings as results have them.
func sortFindings(all []finding.Finding) {
	slices.SortStableFunc(all, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
}

// fit returns how many of the findings, the suppressed ones and the skips, from
// the first on, have size in all. Each list may leave the others too little, but
// findings have half of it and the others a quarter each, whatever there is of
// the others: who can make many of one kind must not be able to hide another.
func fit(findings, suppressed []finding.Finding, skips []finding.Skip, size int) (nFindings, nSuppressed, nSkips int) {
	allSuppressed, allSkips := sizeOf(suppressed), sizeOf(skips)
	nFindings, used := fitting(findings, max(size/2, size-allSuppressed-allSkips))
	left := size - used
	nSuppressed, used = fitting(suppressed, max(size/4, left-allSkips))
	nSkips, _ = fitting(skips, left-used)

	return nFindings, nSuppressed, nSkips
}

type sized interface{ Size() int }

func sizeOf[T sized](all []T) int {
	n := 0
	for _, one := range all {
		n += one.Size()
	}

	return n
}

// fitting returns how many of all, from the first on, fit into size, and what they
// take.
func fitting[T sized](all []T, size int) (n, used int) {
	for n < len(all) {
		more := all[n].Size()
		if used+more > size {
			break
		}
		used += more
		n++
	}

	return n, used
}
