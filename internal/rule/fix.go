package rule

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/spelling"
)

// Bounds of fixes.
const (
	MaxFix      = 1024 // bytes of Rule.Fix
	MaxEdit     = 2000 // bytes of the lines that an edit replaces, and of those that it makes
	MaxEditLine = 20   // lines, likewise

	// maxFixWork is how many bytes of a file, each time anew, are read to find what edits
	// replace and to see what they make of the file.
	maxFixWork = 16 << 20
	// regexpWork is the part in it of a byte in which a regular expression is looked for.
	regexpWork = 64
	// maxKept bounds the matches of structure rules with a fix that are remembered of a file.
	maxKept = 10_000
)

// fixer is what the edits of a rule are made by.
type fixer struct {
	parts   []fixPart
	pattern string         // of a regex rule; "" for others
	list    *spelling.List // of a spelling rule; nil for others
}

// fixPart is a piece of a Fix: a text, or what stands for something that was matched.
type fixPart struct {
	text string
	name string // of a group or of a metavariable; "" for a text
	run  bool   // `$$$X`
}

// What stands for something that was matched, as Go's regexp.Expand and patterns of
// structure rules have it. A dollar sign is `\$` in both.
var (
	regexReference     = regexp.MustCompile(`\\\$|\$(\w+)|\$\{(\w+)\}`)
	structureReference = regexp.MustCompile(`\\\$|\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)`)
)

// fixParts reads the Fix of a rule.
func (r Rule) fixParts() (parts []fixPart) {
	reference := regexReference
	if r.Type == TypeStructure {
		reference = structureReference
	}
	text := func(s string) {
		if k := len(parts) - 1; k >= 0 && parts[k].name == "" {
			parts[k].text += s
		} else if s != "" {
			parts = append(parts, fixPart{text: s})
		}
	}

	fix, at := *r.Fix, 0
	for _, m := range reference.FindAllStringSubmatchIndex(fix, -1) {
		text(fix[at:m[0]])
		switch at = m[1]; {
		case m[2] >= 0:
			parts = append(parts, fixPart{name: fix[m[2]:m[3]], run: r.Type == TypeStructure})
		case m[4] >= 0:
			parts = append(parts, fixPart{name: fix[m[4]:m[5]]})
		default:
			text("$")
		}
	}
	text(fix[at:])

	return parts
}

// checkFix adds what is wrong with the fix of a rule whose pattern is valid.
func checkFix(v *errs.Violations, r Rule) {
	if r.Fix == nil {
		return
	}
	switch {
	case r.Type == TypeSpelling:
		v.Add("fix", "is not allowed with type %q: its findings have the right word as their fix", TypeSpelling)
	case r.Type == TypeTaint:
		v.Add("fix", "is not allowed with type %q: what makes a value harmless depends on what it is for", TypeTaint)
	case r.Redact:
		v.Add("fix", "is not allowed with `redact`: what it replaces must not be shown")
	case r.Multiline:
		v.Add("fix", "is not allowed with `multiline`; a rule of type %q finds code over lines, too", TypeStructure)
	case len(*r.Fix) > MaxFix:
		v.Add("fix", "has %d bytes; at most %d are allowed", len(*r.Fix), MaxFix)
	case !isText(*r.Fix) || strings.ContainsFunc(*r.Fix, isHidden):
		v.Add("fix", "must be UTF-8 without characters that nobody sees, other than tabs and line ends")
	default:
		r.checkReferences(v)
	}
}

// isHidden tells those and other characters that have no place of their own.
func isHidden(c rune) bool { return disrupts(c) || unicode.Is(unicode.Cf, c) }

// disrupts tells characters that lines of an edit must not have.
func disrupts(c rune) bool { return c != '\n' && IsDisruptive(c) }

// IsDisruptive tells characters that may change how others on their line are shown: those
// that control terminals, end lines for some, or set the direction.
func IsDisruptive(c rune) bool {
	return unicode.IsControl(c) && c != '\t' || c == '\u2028' || c == '\u2029' || unicode.Is(unicode.Bidi_Control, c)
}

// checkReferences says which part of a fix stands for nothing.
func (r Rule) checkReferences(v *errs.Violations) {
	missing := func(name string) bool { return !isGroup(r.Pattern, name) }
	what := "group of the pattern; the number of a group or its name is allowed, and ${1} before letters"
	if r.Type == TypeStructure {
		what = "metavariable that every match has"
		finders := r.finders()
		missing = func(name string) bool {
			for _, f := range finders.by {
				if !f.read.Binds(name) {
					return true
				}
			}
			return false
		}
	}
	for _, part := range r.fixParts() {
		if part.name != "" && missing(part.name) {
			v.Add("fix", "has $%s, which is no %s", part.name, what)
			return
		}
	}
}

// isGroup reports whether a pattern has a group of a number or a name.
func isGroup(pattern, name string) bool {
	re, err := regexp.Compile(pattern)

	return err == nil && groupOf(re, name) >= 0
}

// groupOf is the number of a group; -1 for none.
func groupOf(re *regexp.Regexp, name string) int {
	for i := range re.NumSubexp() + 1 {
		if strconv.Itoa(i) == name {
			return i
		}
	}

	return re.SubexpIndex(name)
}

// HasFix reports whether findings of the rule may have a fix.
func (r Rule) HasFix() bool { return r.Fix != nil || r.Type == TypeSpelling }

// newFixer returns nil for a rule without a fix.
func newFixer(r Rule) *fixer {
	if r.Type == TypeSpelling {
		list := spelling.NewList(r.Words)
		return &fixer{parts: []fixPart{{name: "word"}}, list: &list}
	}
	if r.Fix == nil {
		return nil
	}

	f := &fixer{parts: r.fixParts()}
	if r.Type == TypeRegex {
		f.pattern = r.Pattern
	}

	return f
}
