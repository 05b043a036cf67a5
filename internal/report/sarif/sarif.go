// Package sarif writes the findings of a review or of a local scan as a SARIF
// 2.1.0 log (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub
// code scanning
// (https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support).
//
// What code scanning doesn't know decides some of it: it ignores baselineState,
// so findings that were fixed are no results, or they would be open alerts; and
// it ignores suppressions, so a log for upload has no suppressed findings.
package sarif

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// MediaType is that of a log.
const MediaType = "application/sarif+json"

// MaxResults is how many results a log has at most. GitHub rejects logs with
// more.
const MaxResults = 25_000

const (
	schemaURI      = "https://json.schemastore.org/sarif-2.1.0.json"
	informationURI = "https://github.com/prwarden/prwarden"
	sourceRoot     = "%SRCROOT%"
)

// Input is what a log is made of.
type Input struct {
	// Review has the findings. Of a local scan, most of it is empty.
	Review review.Review
	// Rules describes those of the rules that are known; the others are
	// described by what their findings say.
	Rules *Catalog
	// Version is prwarden's own.
	Version string
	// RepositoryURI is where the repository is, for people and for git; empty
	// when that is not known.
	RepositoryURI string
	// OmitSuppressed leaves out findings that comments suppress.
	OmitSuppressed bool
}

// Write writes a log, a result at a time. Of more than MaxResults findings it
// takes those that no comment suppresses before the others, and then the most
// severe, and a notification says how many there were.
func Write(w io.Writer, in Input) error {
	results, total := selected(in)
	rules := newRuleTable(in.Rules, results)
	began := run{
		Tool: tool{Driver: driver{
			Name:            "prwarden",
			Version:         in.Version,
			SemanticVersion: semanticVersion(in.Version),
			InformationURI:  informationURI,
			Rules:           rules.list,
		}},
		Invocations:              []invocation{newInvocation(in.Review, len(results), total)},
		AutomationDetails:        newAutomation(in.Review),
		VersionControlProvenance: provenance(in),
		OriginalURIBaseIDs: map[string]baseID{
			sourceRoot: {Description: message{Text: "The root of the repository."}},
		},
		ColumnKind: "utf16CodeUnits",
	}

	if in.Review.PreviousID != "" {
		began.BaselineGUID = guid(in.Review.PreviousID)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := writeLog(out, began, results, rules, in.Review.PreviousID != ""); err != nil {
		return err
	}
	return out.Flush()
}

// writeLog writes the log around the results, which no other order of keys
// would let it write as they come.
func writeLog(w *bufio.Writer, began run, results []finding.Finding, rules *ruleTable, compared bool) error {
	head, err := json.Marshal(began)
	if err != nil {
		return err
	}
	const begin = `{"$schema":%q,"version":"2.1.0","runs":[` + "\n" + `%s,"results":[`
	if _, err := fmt.Fprintf(w, begin, schemaURI, head[:len(head)-1]); err != nil {
		return err
	}

	before := "\n"
	for _, f := range results {
		line, err := json.Marshal(newResult(f, rules, compared))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, line); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err = w.WriteString("]}]}\n")
	return err
}

// selected returns the findings that become results, in order, and how many
// there would be without a limit.
func selected(in Input) (list []finding.Finding, total int) {
	list = slices.Clone(in.Review.Findings)
	if !in.OmitSuppressed {
		list = append(list, in.Review.Suppressed...)
	}
	total = len(list)
	if total > MaxResults {
		slices.SortStableFunc(list, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(suppressed(a), suppressed(b)), cmp.Compare(a.Severity, b.Severity))
		})
		list = list[:MaxResults]
	}

	slices.SortStableFunc(list, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
	return list, total
}

func suppressed(f finding.Finding) int {
	if f.Suppression != nil {
		return 1
	}
	return 0
}

// newAutomation names the run. GitHub takes what is before the last slash as
// the category in which it compares runs, so rulesets don't overwrite each
// other's.
func newAutomation(r review.Review) automation {
	a := automation{ID: "prwarden/" + r.ID}
	if r.Ruleset != "" && r.Ruleset != r.Repo {
		a.ID = "prwarden/" + r.Ruleset + "/" + r.ID
	}
	if r.ID != "" {
		a.GUID = guid(r.ID)
	}
	return a
}

func provenance(in Input) []versionControl {
	if in.RepositoryURI == "" {
		return nil
	}
	return []versionControl{
		{RepositoryURI: in.RepositoryURI, RevisionID: in.Review.HeadSHA, MappedTo: artifact{URIBaseID: sourceRoot}},
	}
}

func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
