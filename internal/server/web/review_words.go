package web

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// short is the beginning of a hash.
func short(hash string) string { return hash[:min(len(hash), 8)] }

// queryOf is the end of an address with one parameter.
func queryOf(name, value string) string { return "?" + url.Values{name: {value}}.Encode() }

// into is what the pull request is to be merged into: a branch where one was named.
func (r *reviewView) into() string {
	if r.GetBaseRef() != "" {
		return r.GetBaseRef()
	}

	return short(r.GetBaseSha())
}

// times says when the review was made and how long it took.
func (r *reviewView) times() string {
	at := agoOf(r.Now, r.GetCreatedAt())
	if r.GetStartedAt() == nil || r.GetCompletedAt() == nil {
		return at
	}

	return at + ", took " + lasted(r.GetCompletedAt().AsTime().Sub(r.GetStartedAt().AsTime()))
}

// without is how many files were looked at and have no finding that is shown.
func (r *reviewView) without() int {
	if r.Filter.State != "open" || r.Filter.Severity+r.Filter.Rule+r.Filter.File != "" {
		return 0
	}

	return int(r.GetLookedAt().GetFiles()) - len(r.Tree)
}

func (r *reviewView) emptyWords() string {
	if r.Filter.Severity+r.Filter.Rule+r.Filter.File != "" {
		return "Nothing of this kind matches the filters."
	}

	return "Nothing of this kind in " + plural(int(r.GetLookedAt().GetFiles()), "file", "files") + " with added lines."
}

// treeLink leads to a file of the page, or to the page that has it.
func (r *reviewView) treeLink(f *fileView) string {
	for _, here := range r.Files {
		if here.Number == f.Number {
			return "#" + f.id()
		}
	}

	return r.Filter.with(func(x *filter) { x.File = f.Path })
}

// findingLink leads to a finding, on whichever page it is.
func (r *reviewView) findingLink(v *visit, x *prwardenv1.Finding) string {
	f := filter{State: r.Filter.State, At: x.GetFingerprint()}
	if f.kind() == prwardenv1.ListFindingsRequest_reported {
		f.State = "open"
	}

	return r.link(v, f.query()+"#x"+x.GetFingerprint())
}

// lookedAt says how much a review looked at.
func lookedAt(r *prwardenv1.Review) string {
	l := r.GetLookedAt()

	text := fmt.Sprintf("%s in %s were looked at with %s", plural(int(l.GetAddedLines()), "added line", "added lines"),
		plural(int(l.GetFiles()), "file", "files"), plural(int(l.GetRules()), "rule", "rules"))
	if l.GetGenerated()+l.GetMinified()+l.GetVendored() > 0 {
		text += fmt.Sprintf("; some rules skip %d generated, %d minified and %d vendored",
			l.GetGenerated(), l.GetMinified(), l.GetVendored())
	}

	return text
}

// baseWords say which commit the base is, and how it was found.
func baseWords(r *prwardenv1.Review) string {
	base := short(r.GetBaseSha())
	if r.GetBaseRef() != "" {
		base = shown(r.GetBaseRef()) + " at " + base
	}
	switch r.GetBaseFoundBy() {
	case prwardenv1.Base_merge_ref:
		return base + ", from the code host's trial merge"
	case prwardenv1.Base_requested:
		return base + ", as it was asked for"
	case prwardenv1.Base_merge_commit:
		return base + ", a guess: the pull request is merged already, and this was there before"
	case prwardenv1.Base_default_branch:
		return base + ", a guess: the default branch as it is now"
	case prwardenv1.Base_code_host:
		return base + ", as the code host told"
	}

	return base
}

// actorWords say who did something, by name where it is known.
func (r *reviewView) actorWords(actor string) string {
	kind, id, _ := strings.Cut(actor, ":")
	name := shown(r.Names[actor])
	switch kind {
	case "key":
		return "API key " + cmp.Or(name, id)
	case "host":
		host, login, _ := strings.Cut(id, "/")
		return shown(login) + " on " + host
	}

	return cmp.Or(name, shown(actor))
}

// switchedOffWords say who switched a rule off, and how.
func switchedOffWords(s *prwardenv1.SwitchedOff) string {
	how := map[prwardenv1.SwitchedOff_Way]string{
		prwardenv1.SwitchedOff_disable:  "switched off",
		prwardenv1.SwitchedOff_override: "made less severe",
		prwardenv1.SwitchedOff_exclude:  "kept from some files",
	}[s.GetHow()]
	if s.GetBy() == prwardenv1.SwitchedOff_repository {
		return how + " by the repository's rules file"
	}

	return how + " by the organization's policy"
}

// skipWords say why something was not looked at.
func skipWords(reason prwardenv1.Skip_Reason) string {
	switch reason {
	case prwardenv1.Skip_binary:
		return "It is no text"
	case prwardenv1.Skip_file_too_large:
		return "It is too large"
	case prwardenv1.Skip_rule_stopped:
		return "The rule took too much work and was stopped there"
	case prwardenv1.Skip_submodule:
		return "It is a submodule"
	case prwardenv1.Skip_undecodable:
		return "Its text can't be decoded"
	case prwardenv1.Skip_rules_file_invalid:
		return "The rules file is broken, so none of its rules was applied"
	}

	return reason.String()
}

// notShownWords say why a file has no changed lines; "" when it has.
func notShownWords(d *prwardenv1.FileDiff) string {
	if d == nil || d.NotShown == nil {
		return ""
	}
	switch d.GetNotShown() {
	case prwardenv1.FileDiff_binary:
		return "The file is no text, so only the lines of its findings are shown."
	case prwardenv1.FileDiff_file_too_large:
		return "The file is too large, so only the lines of its findings are shown."
	}

	return "Only the lines of the findings are shown."
}

// triageWords say what is decided about a finding.
func triageWords(t *prwardenv1.Triage) string {
	words := strings.ReplaceAll(t.GetDecision().String(), "_", " ")
	if t.GetDecision() == prwardenv1.Decision_wont_fix {
		words = "won't fix"
	}
	if t.GetScope() == prwardenv1.Triage_pull_request {
		words += " here"
	}
	if t.GetUntil() != "" {
		words += " until " + t.GetUntil()
	}

	return words
}

// isDone reports whether a finding needs nothing more.
func isDone(x *prwardenv1.Finding) bool { return x.GetTriage() != nil || x.GetSuppression() != nil }

// mayDecide reports whether something can be decided about a finding.
func mayDecide(v *visit, r *reviewView, x *prwardenv1.Finding) bool {
	return v.has(auth.FindingsTriage) && x.GetSuppression() == nil && x.GetState() != prwardenv1.Finding_fixed &&
		r.Filter.State != "observed"
}

// headParts are the parts of the page of a review that a decision changes.
const headParts = "#verdict #severities #states #tree"

// decideSwap is what the answer to a button about a finding replaces: the buttons, by
// a form, or the finding when nothing more is asked.
func decideSwap(x *prwardenv1.Finding) string {
	if x.GetTriage() != nil {
		return "#x" + x.GetFingerprint() + " " + headParts
	}

	return "#d" + x.GetFingerprint()
}

// swap is what the answer to the form replaces.
func (f decisionForm) swap() string {
	if f.Part != "" {
		return f.Part
	}
	if f.Bulk {
		return "#review #bulk"
	}

	return "#x" + f.Fingerprints[0] + " #d" + f.Fingerprints[0] + " " + headParts
}

func (f decisionForm) cancelSwap() string {
	if f.Bulk {
		return "#bulk"
	}

	return "#" + f.id()
}

// number writes a number of a message.
func number(n int32) string { return strconv.Itoa(int(n)) }

// fixedLines names the lines that a fix replaces.
func fixedLines(f *prwardenv1.Fix) string {
	if f.GetStartLine() == f.GetEndLine() {
		return "line " + number(f.GetStartLine())
	}

	return "lines " + number(f.GetStartLine()) + " to " + number(f.GetEndLine())
}
