package scan

import (
	"path"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// linkToOther is the finding about a link whose name rules look at that don't look at
// what it leads to: a later change of that alone would pass them by. nil for none.
func (p *plan) linkToOther(f *File) *finding.Finding {
	if f.LinkTo == "" || !p.isLookedAtLess(f.LinkTo, f.Path) {
		return nil
	}

	about := reports{file: f.Path, prints: fingerprinter{}}
	about.add(rule.MetaLinkToOther, rule.Warning, 1, f.LinkTo,
		"This is a link to `%s`, where rules don't look that look here: "+
			"what is changed there later passes them by. Give both the same ending and the same kind of folder.",
		printable([]byte(f.LinkTo), MaxSnippet))
	if !p.metas.apply(&about.list[0]) {
		return nil
	}
	return &about.list[0]
}

// isLookedAtLess tells whether some severe rule looks at a file with the path of the link, because
// of its language or name, and not at one with that of its target. A rule for all files that leaves
// the target's folder out says nothing: nobody runs a licence. Nor does what the target is, such as
// a test or a tool: code that imports it runs it without a link.
func (p *plan) isLookedAtLess(target, link string) bool {
	for _, g := range p.groups {
		atTarget, atLink := p.looks(g, target), p.looks(g, link)
		for i, r := range g.rules {
			isForSome := len(r.Languages)+len(r.Paths.Include) > 0
			if isForSome && r.Severity.AtLeast(rule.High) && atLink(i) && !atTarget(i) {
				return true
			}
		}
	}

	return false
}

// LinkTarget is the path that a link in a repository leads to by its text, whether
// something is there or not; "" when it leads out of the repository.
func LinkTarget(link, text string) string {
	to := path.Join(path.Dir(link), text)
	if strings.HasPrefix(text, "/") || to == ".." || strings.HasPrefix(to, "../") {
		return ""
	}

	return to
}
