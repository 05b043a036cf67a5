package rule

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
)

// Bounds of a rule's fields, beside those of match.
const (
	MaxMessage    = 1000     // characters
	MaxGlobs      = 100      // in each list of Paths
	MaxCases      = 50       // in each list of Cases
	MaxCase       = 16 << 10 // bytes
	MaxReferences = 10
	MaxReference  = 500 // characters

	// Rules are listed whole, thousands at once, so what a rule has in lists is
	// bounded in sum too.
	MaxAllCases = 32 << 10 // bytes in both lists of Cases
	MaxAllGlobs = 8 << 10  // bytes in both lists of Paths
)

// Budget is the time that one rule may spend matching: in a scan over all
// files, and on its own cases.
const Budget = 2 * time.Second

// Validate returns nil or an *errs.Error of kind InvalidArgument that has
// everything that is wrong with r, by field. An empty Scope is ScopeOrg. The
// rule's cases are run, within Budget; it fails with the error of ctx when that
// ends meanwhile.
func Validate(ctx context.Context, r Rule) error {
	v := violations(r, &trials{ctx: ctx, left: Budget})
	if err := ctx.Err(); err != nil {
		return err
	}
	switch r.Scope {
	case "", ScopeOrg:
		if r.Repo != "" {
			v.add("repo", "is allowed with scope %q only", ScopeRepo)
		}
	case ScopeRepo:
		if r.Repo == "" {
			v.add("repo", "is required with scope %q: `owner/name`", ScopeRepo)
		} else if err := CheckRepository(r.Repo); err != nil {
			v.add("repo", "%v", err)
		}
	default:
		v.add("scope", "%q is not a scope; use %q or %q", r.Scope, ScopeOrg, ScopeRepo)
	}
	if len(v) > 0 {
		return errs.InvalidFields(v...)
	}
	return nil
}

// SeverityList is the severity words, most severe first, for messages.
func SeverityList() string {
	words := make([]string, 0, len(severityWords))
	for _, s := range Severities() {
		words = append(words, s.String())
	}
	return strings.Join(words, ", ")
}

// TypeList is the types of rules, for messages.
func TypeList() string { return TypeRegex }

type violationList []errs.FieldViolation

func (v *violationList) add(field, format string, args ...any) {
	*v = append(*v, errs.FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// violations returns what is wrong with r, scope and repository aside.
func violations(r Rule, t *trials) violationList {
	var v violationList
	if err := CheckID(r.ID); err != nil {
		v.add("id", "%v", err)
	}
	switch r.Type {
	case TypeRegex:
	case "":
		v.add("type", "is required; known types: %s", TypeList())
	default:
		v.add("type", "%s is not a type of rule; known types: %s", strings.TrimSpace(shown(r.Type, "this")), TypeList())
	}
	compiles := false
	if r.Pattern == "" {
		v.add("pattern", "is required")
	} else if err := match.CheckPattern(r.Pattern); err != nil {
		v.add("pattern", "%v", err)
	} else {
		compiles = true
	}
	checkMessage(&v, r.Message)
	if r.Severity.String() == "" {
		v.add("severity", "is required; one of %s", SeverityList())
	}
	checkGlobs(&v, "paths.include", r.Paths.Include)
	checkGlobs(&v, "paths.exclude", r.Paths.Exclude)
	if n := size(r.Paths.Include, r.Paths.Exclude); n > MaxAllGlobs {
		v.add("paths", "has globs of %d bytes in all; at most %d are allowed", n, MaxAllGlobs)
	}
	checkReferences(&v, r.References)
	if checkCases(&v, r.Cases) && compiles {
		t.run(&v, r)
	}
	return v
}

func checkMessage(v *violationList, message string) {
	switch n := utf8.RuneCountInString(message); {
	case strings.TrimSpace(message) == "":
		v.add("message", "is required: say what to do instead")
	case n > MaxMessage:
		v.add("message", "has %d characters; at most %d are allowed", n, MaxMessage)
	case !isText(message):
		v.add("message", "must be UTF-8 without NUL")
	}
}

func checkGlobs(v *violationList, field string, globs []string) {
	if len(globs) > MaxGlobs {
		v.add(field, "has %d globs; at most %d are allowed", len(globs), MaxGlobs)
		return
	}
	for i, g := range globs {
		if err := match.CheckGlob(g); err != nil {
			v.add(fmt.Sprintf("%s[%d]", field, i), "%v", err)
		}
	}
}

func checkReferences(v *violationList, refs []string) {
	if len(refs) > MaxReferences {
		v.add("references", "has %d URLs; at most %d are allowed", len(refs), MaxReferences)
		return
	}
	for i, ref := range refs {
		field := fmt.Sprintf("references[%d]", i)
		u, err := url.Parse(ref)
		switch n := utf8.RuneCountInString(ref); {
		case n > MaxReference:
			v.add(field, "has %d characters; at most %d are allowed", n, MaxReference)
		case !isText(ref), err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
			v.add(field, "must be an absolute http or https URL")
		}
	}
}

// checkCases says whether the cases are such that they can be run.
func checkCases(v *violationList, cases Cases) bool {
	before := len(*v)
	for _, list := range []struct {
		field string
		texts []string
	}{{"cases.match", cases.Match}, {"cases.no_match", cases.NoMatch}} {
		if len(list.texts) > MaxCases {
			v.add(list.field, "has %d texts; at most %d are allowed", len(list.texts), MaxCases)
			continue
		}
		for i, text := range list.texts {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			if len(text) > MaxCase {
				v.add(field, "has %d bytes; at most %d are allowed", len(text), MaxCase)
			} else if !isText(text) {
				v.add(field, "must be UTF-8 without NUL")
			}
		}
	}
	if n := size(cases.Match, cases.NoMatch); n > MaxAllCases {
		v.add("cases", "has texts of %d bytes in all; at most %d are allowed", n, MaxAllCases)
	}
	return len(*v) == before
}

// size is how many bytes the texts of lists have.
func size(lists ...[]string) (n int) {
	for _, list := range lists {
		for _, text := range list {
			n += len(text)
		}
	}
	return n
}

// trials runs the cases of one rule, or of all rules of a file, within one
// budget: a file can hold hundreds of slow ones.
type trials struct {
	ctx  context.Context //nolint:containedctx // for the length of one call
	left time.Duration
	off  bool // cases are not run
}

// run matches the rule on its own cases, each as a file of which every line was
// added. Paths are not looked at.
func (t *trials) run(v *violationList, r Rule) {
	if t.off || len(r.Cases.Match)+len(r.Cases.NoMatch) == 0 {
		return
	}
	began := time.Now()
	defer func() { t.left -= time.Since(began) }()
	one, err := newTrial(r.Pattern, r.Multiline, max(t.left, time.Nanosecond))
	if err != nil {
		v.add("pattern", "%v", err)
		return
	}
	check := func(field string, texts []string, want bool) bool {
		for i, text := range texts {
			hits, err := one.hits(t.ctx, text, 1)
			switch {
			case err != nil:
				v.add("pattern", "%v", err)
				return false
			case want && len(hits) == 0:
				v.add(fmt.Sprintf("%s[%d]", field, i), "the rule does not match this text, and it should")
			case !want && len(hits) > 0:
				v.add(fmt.Sprintf("%s[%d]", field, i), "the rule matches this text, on line %d, and it should not", hits[0].Line)
			}
		}
		return true
	}
	_ = check("cases.match", r.Cases.Match, true) && check("cases.no_match", r.Cases.NoMatch, false)
}

// Try matches a pattern on a text as a review would if the text were a file of
// which every line was added, and returns at most limit hits and whether there
// were more. It fails with an *errs.Error of kind InvalidArgument for a pattern
// that a rule can't have or that takes more than Budget, and when ctx ends.
func Try(
	ctx context.Context, pattern string, multiline bool, text string, limit int,
) (hits []match.Hit, truncated bool, err error) {
	if pattern == "" {
		return nil, false, errs.Invalid("pattern", "is required")
	}
	if err := match.CheckPattern(pattern); err != nil {
		return nil, false, errs.Invalid("pattern", "%v", err)
	}
	t, err := newTrial(pattern, multiline, Budget)
	if err != nil {
		return nil, false, errs.Invalid("pattern", "%v", err)
	}
	hits, err = t.hits(ctx, text, limit+1)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return nil, false, errs.Invalid("pattern", "%v", err)
	}
	if len(hits) > limit {
		return hits[:limit], true, nil
	}
	return hits, false, nil
}

// trial is one rule, tried on texts within a budget.
type trial struct{ file *match.File }

func newTrial(pattern string, multiline bool, budget time.Duration) (trial, error) {
	m, err := match.Compile([]match.Rule{{Pattern: pattern, Multiline: multiline}})
	if err != nil {
		return trial{}, err
	}
	return trial{m.NewSession(budget, nil).File("")}, nil
}

var errTooSlow = errors.New("takes more than 2 seconds on the given texts; make it simpler, or the texts fewer")

func (t trial) hits(ctx context.Context, text string, limit int) ([]match.Hit, error) {
	lines := match.SplitLines([]byte(text))
	result, err := t.file.Match(ctx, lines, []match.LineRange{{First: 1, Last: lines.Count()}}, limit)
	if err != nil {
		return nil, err
	}
	if len(result.Stopped) > 0 {
		return nil, errTooSlow
	}
	return result.Hits, nil
}

// isText says whether s can be stored and sent as text everywhere.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// shown quotes a word of a rules file for a message, after a space, when it is
// no secret by its looks, and is instead otherwise: what is said about a rules
// file is stored and shown without a mask.
func shown(word, instead string) string {
	if word == "" || len(word) > maxShown || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-<") != "" {
		return instead
	}
	return " " + strconv.Quote(word)
}

// maxShown is the length, in bytes, of a word that is quoted.
const maxShown = 20
