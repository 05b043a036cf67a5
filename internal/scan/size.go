package scan

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
)

// MaxSize is how many bytes the findings, suppressed ones and skips of a scan
// take in all, see finding.Finding.Size. So an answer that has all of them can be
// held in memory, whatever their paths are made of.
const MaxSize = 32 << 20

// fit returns how many of the findings, the suppressed ones and the skips, from
// the first on, have size in all. Each list may leave the others too little, but
// findings have half of it and the others a quarter each, whatever there is of
// the others: who can make many of one kind must not be able to hide another.
func fit(findings, suppressed []finding.Finding, skips []finding.Skip, size int) (nFindings, nSuppressed, nSkips int) {
	allSuppressed, allSkips := sizeOf(suppressed), sizeOf(skips)
	nFindings, used := within(findings, max(size/2, size-allSuppressed-allSkips))
	left := size - used
	nSuppressed, used = within(suppressed, max(size/4, left-allSkips))
	nSkips, _ = within(skips, left-used)
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

// within returns how many of all, from the first on, fit into size, and what they
// take.
func within[T sized](all []T, size int) (n, used int) {
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

// inOrder sorts findings as results have them.
func inOrder(all []finding.Finding) {
	slices.SortStableFunc(all, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
}
