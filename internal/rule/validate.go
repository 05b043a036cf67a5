package rule

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
)

// Bounds of a rule's fields, beside those of match.
const (
	MaxMessage    = 1000     // characters
	MaxGlobs      = 100      // in each list of Paths
	MaxLanguages  = 50       // of a rule
	MaxSkip       = 6        // kinds of files
	MaxCases      = 50       // in each list of Cases
	MaxCase       = 16 << 10 // bytes
	MaxReferences = 10
	MaxReference  = 500 // characters

	// Rules are listed whole, thousands at once, so what a rule has in lists is
	// bounded in sum too.
	MaxAllCases = 32 << 10 // bytes in both lists of Cases
	MaxAllGlobs = 8 << 10  // bytes in both lists of Paths
)

const (
	// caseWork is the work, as match.Limit has it, that a rule may do on its own
	// cases, and all rules of a rules file on theirs.
	caseWork = 256 << 20
	// caseTime is the last resort: some automata do their work very slowly.
	caseTime = 5 * time.Second
)

// WorkLimit is the work that a rule may do in one file of a scan. A rule whose matches
// an automaton decides comes nowhere near it but by finding the columns of matches. For
// a file of 1 MiB it is about 2 seconds of regexp.
func WorkLimit() match.Limit { return match.Limit{File: 1 << 20, Byte: 1 << 10} }

// LateWorkLimit is the WorkLimit of the files of a scan that come behind FullWork bytes.
// It is far more than automata need, and keeps searches by regexp from taking minutes.
func LateWorkLimit() match.Limit { return match.Limit{File: 256 << 10, Byte: 1 << 7} }

// FullWork is how many bytes of a scan's files rules have all of WorkLimit for, in the
// order of the files.
const FullWork = 16 << 20

// Validate returns nil or an *errs.Error of kind InvalidArgument that has
// everything that is wrong with r, by field. An empty Scope is ScopeOrg. The
// rule's cases are run, within caseWork; it fails with the error of ctx when that
// ends meanwhile.
func Validate(ctx context.Context, r Rule) error {
	t := &trials{left: caseWork}
	v := t.violations(ctx, r)
	if err := ctx.Err(); err != nil {
		return err
	}

	return append(v, scopeViolations(r)...).Err()
}

// scopeViolations returns what is wrong with the scope and repository of a rule.
func scopeViolations(r Rule) (v errs.Violations) {
	switch r.Scope {
	case "", ScopeOrg:
		if r.Repo != "" {
			v.Add("repo", "is allowed with scope %q only", ScopeRepo)
		}
	case ScopeRepo:
		if r.Repo == "" {
			v.Add("repo", "is required with scope %q: `owner/name`", ScopeRepo)
		} else if err := CheckRepository(r.Repo); err != nil {
			v.Add("repo", "%v", err)
		}
	default:
		v.Add("scope", "%q is not a scope; use %q or %q", r.Scope, ScopeOrg, ScopeRepo)
	}

	return v
}

// checkMode says what is wrong with the mode of a rule.
func checkMode(m Mode) error {
	switch m {
	case "", ModeEnforce, ModeObserve:
		return nil
	}
	name := strings.TrimSpace(shown(string(m), "this"))

	return fmt.Errorf("%s is not a mode; use %q or %q", name, ModeEnforce, ModeObserve)
}

// trials runs the cases of one rule, or of all rules of a file, within one
// budget: a file can hold hundreds of slow ones.
type trials struct{ left int64 }

// violations returns what is wrong with r, scope and repository aside.
func (t *trials) violations(ctx context.Context, r Rule) errs.Violations {
	var v errs.Violations
	if err := CheckID(r.ID); err != nil {
		v.Add("id", "%v", err)
	}
	if err := checkType(r.Type); err != nil {
		v.Add("type", "%v", err)
	}
	patternErr := r.checkPattern(&v)
	if patternErr != nil {
		v.Add("pattern", "%v", patternErr)
	}

	checkMessage(&v, r.Message)
	if r.Severity.String() == "" {
		v.Add("severity", "is required; one of %s", SeverityList())
	}
	if err := checkMode(r.Mode); err != nil {
		v.Add("mode", "%v", err)
	}
	checkConfidence(&v, r)
	checkList(&v, "paths.include", r.Paths.Include, MaxGlobs, match.CheckGlob)
	checkList(&v, "paths.exclude", r.Paths.Exclude, MaxGlobs, match.CheckGlob)
	if n := size(r.Paths.Include, r.Paths.Exclude); n > MaxAllGlobs {
		v.Add("paths", "has globs of %d bytes in all; at most %d are allowed", n, MaxAllGlobs)
	}
	checkList(&v, "languages", r.Languages, MaxLanguages, checkLanguage)
	checkPlaces(&v, r.In)
	checkList(&v, "skip", r.Skip, MaxSkip, checkKind)
	checkList(&v, "references", r.References, MaxReferences, checkReference)

	before := len(v)
	checkConditions(&v, r)
	if patternErr == nil {
		checkFix(&v, r)
	}
	checkList(&v, "cases.match", r.Cases.Match, MaxCases, checkCase)
	checkList(&v, "cases.no_match", r.Cases.NoMatch, MaxCases, checkCase)
	if n := size(r.Cases.Match, r.Cases.NoMatch); n > MaxAllCases {
		v.Add("cases", "has texts of %d bytes in all; at most %d are allowed", n, MaxAllCases)
	}
	if len(v) == before && patternErr == nil {
		t.run(ctx, &v, r)
	}
	return v
}

var errRequired = errors.New("is required")

// types are those of rules.
var types = []string{TypeRegex, TypeStructure, TypeTaint, TypeSpelling}

// checkType says what is wrong with the type of a rule.
func checkType(word string) error {
	known := strings.Join(types, ", ")
	switch {
	case slices.Contains(types, word):
		return nil
	case word == "":
		return fmt.Errorf("is required; known types: %s", known)
	}

	return fmt.Errorf("%s is not a type of rule; known types: %s", strings.TrimSpace(shown(word, "this")), known)
}

func checkMessage(v *errs.Violations, message string) {
	switch n := utf8.RuneCountInString(message); {
	case strings.TrimSpace(message) == "":
		v.Add("message", "is required: say what to do instead")
	case n > MaxMessage:
		v.Add("message", "has %d characters; at most %d are allowed", n, MaxMessage)
	case !isText(message):
		v.Add("message", "must be UTF-8 without NUL")
	}
}

// checkList checks each of at most limit entries.
func checkList(v *errs.Violations, field string, list []string, limit int, check func(string) error) {
	if len(list) > limit {
		v.Add(field, "has %d entries; at most %d are allowed", len(list), limit)
		return
	}
	for i, entry := range list {
		if err := check(entry); err != nil {
			v.Add(fmt.Sprintf("%s[%d]", field, i), "%v", err)
		}
	}
}

// checkLanguage says what is wrong with the name of a language.
func checkLanguage(name string) error {
	if _, ok := language.Canonical(name); ok {
		return nil
	}
	if near := nearest(strings.ToLower(name), language.Names()); near != "" && len(name) <= language.MaxName {
		return fmt.Errorf("is no language that is known; did you mean `%s`?", near)
	}

	return errors.New("is no language that is known; use the names of GitHub's linguist, such as `python` and `c++`")
}

// checkKind says what is wrong with the name of a kind of files.
func checkKind(name string) error {
	if kind.IsName(name) {
		return nil
	}

	return fmt.Errorf("%s is no kind of files; one of %s", strings.TrimSpace(shown(name, "this")), kind.List())
}

func checkReference(ref string) error {
	if n := utf8.RuneCountInString(ref); n > MaxReference {
		return fmt.Errorf("has %d characters; at most %d are allowed", n, MaxReference)
	}
	u, err := url.Parse(ref)
	if err != nil || !isText(ref) || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be an absolute http or https URL")
	}
	return nil
}

func checkCase(text string) error {
	if len(text) > MaxCase {
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(text), MaxCase)
	}
	if !isText(text) {
		return errors.New("must be UTF-8 without NUL")
	}
	return nil
}

// isText says whether s can be stored and sent as text everywhere.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// size is how many bytes the texts of lists have.
func size(lists ...[]string) int { return len(strings.Join(slices.Concat(lists...), "")) }

// run matches the rule on its own cases, each as a file of which every line was
// added. Paths are not looked at.
func (t *trials) run(ctx context.Context, v *errs.Violations, r Rule) {
	if len(r.Cases.Match)+len(r.Cases.NoMatch) == 0 {
		return
	}
	places := NewPlaces([]Rule{r})
	session, err := newTrial(r, places, t.left)
	if err != nil {
		v.Add("pattern", "%v", err)
		return
	}
	defer func() { t.left -= session.Work(0) }()
	ctx, cancel := context.WithTimeoutCause(ctx, caseTime, errTooSlow)
	defer cancel()

	for i, text := range slices.Concat(r.Cases.Match, r.Cases.NoMatch) {
		content := match.SplitLines([]byte(text))
		reader := places.Reader(r.Languages)
		hits, err := hitsIn(ctx, session, t.left-session.Work(0), content, reader, 1)
		n := i - len(r.Cases.Match)
		switch {
		case err != nil:
			v.Add("pattern", "%v", err)
			return
		case n < 0 && len(hits) == 0:
			v.Add(fmt.Sprintf("cases.match[%d]", i), "the rule does not match this text, and it should")
		case n >= 0 && len(hits) > 0:
			v.Add(fmt.Sprintf("cases.no_match[%d]", n),
				"the rule matches this text, on line %d, and it should not", hits[0].Line)
		case n < 0 && r.Fix != nil:
			if _, ok := reader.Edit(content, 0, hits[0]); !ok {
				v.Add(fmt.Sprintf("cases.match[%d]", i), "the fix makes nothing of this text that can be offered: "+
					"it changes nothing, is too long, drops a comment, leaves a bracket or a string open, "+
					"or the rule matches it, too")
			}
		}
	}
}

// Try matches a rule on a text as a review would if the text were a file of such
// languages, by default of the rule's first one, of which every line was added. Of the
// rule what it matches counts. Try returns at most limit hits and whether there
// were more. It fails with an *errs.Error of kind InvalidArgument for what a rule
// can't have or what takes more than caseWork, and when ctx ends.
func Try(
	ctx context.Context, r Rule, languages []string, text string, limit int,
) (hits []match.Hit, truncated bool, err error) {
	var v errs.Violations
	if err := r.checkPattern(&v); err != nil {
		v.Add("pattern", "%v", err)
	}
	checkConditions(&v, Rule{Pattern: r.Pattern, Conditions: r.Conditions})
	checkPlaces(&v, r.In)
	checkList(&v, "languages", r.Languages, MaxLanguages, checkLanguage)
	if err := v.Err(); err != nil {
		return nil, false, err
	}

	places := NewPlaces([]Rule{r})
	session, err := newTrial(r, places, caseWork)
	if err == nil {
		limited, cancel := context.WithTimeoutCause(ctx, caseTime, errTooSlow)
		defer cancel()
		if len(languages) == 0 {
			languages = r.Languages
		}
		hits, err = hitsIn(limited, session, caseWork, match.SplitLines([]byte(text)), places.Reader(languages), limit+1)
	}
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return nil, false, errs.Invalid("pattern", "%v", err)
	}

	return hits[:min(len(hits), limit)], len(hits) > limit, nil
}

func newTrial(r Rule, places *Places, work int64) (*match.Session, error) {
	m, err := match.Compile([]match.Rule{places.ToMatch([]Rule{r}, 0)})
	if err != nil {
		return nil, err
	}
	return m.NewSession(match.Limit{File: work}, nil), nil
}

var errTooSlow = errors.New("takes too long on the given texts; make it simpler, or the texts fewer")

// hitsIn returns at most limit hits of the one rule of a session in a text, within so
// much work. It fails with the cause of ctx's end.
func hitsIn(
	ctx context.Context, s *match.Session, work int64, lines match.Lines, reader match.Reader, limit int,
) ([]match.Hit, error) {
	all := []match.LineRange{{First: 1, Last: lines.Count()}}
	result, err := s.File("").Within(match.Limit{File: work}).ReadBy(reader).Match(ctx, lines, all, limit)
	switch {
	case err != nil:
		return nil, context.Cause(ctx)
	case len(result.Stopped) > 0:
		return nil, errTooSlow
	}
	return result.Hits, nil
}
