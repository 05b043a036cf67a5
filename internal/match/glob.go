package match

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// MaxGlob is the length of a glob, in characters.
	MaxGlob = 255
	// maxGlobChoices bounds the combinations of `{a,b}` choices in a glob:
	// doublestar tries them one after the other.
	maxGlobChoices = 100
	// maxGlobPath is the length of a path, in bytes, over which globs are not
	// tried: no system can check such a file out, and the time that a glob
	// takes grows with the square of the path.
	maxGlobPath = 4096
)

// CheckGlob says what is wrong with a doublestar glob, or nothing.
func CheckGlob(glob string) error {
	switch n := utf8.RuneCountInString(glob); {
	case n == 0:
		return fmt.Errorf("must not be empty")
	case n > MaxGlob:
		return fmt.Errorf("has %d characters; at most %d are allowed", n, MaxGlob)
	case !utf8.ValidString(glob) || strings.ContainsRune(glob, 0):
		return fmt.Errorf("must be UTF-8 without NUL")
	case strings.HasPrefix(glob, "/"), strings.HasPrefix(glob, "./"):
		return fmt.Errorf(
			"matches nothing: paths start at the root of the repository, without %q", glob[:strings.Index(glob, "/")+1],
		)
	case strings.HasSuffix(glob, "/"):
		return fmt.Errorf("matches nothing: write %q for everything in a folder", glob+"**")
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("is not a valid glob: each [ needs its ], each { its }, and \\ something after it")
	case globChoices(glob) > maxGlobChoices:
		return fmt.Errorf("has more than %d combinations of {…} choices; write several globs", maxGlobChoices)
	}

	return nil
}

// globChoices counts the combinations of choices in a valid glob: the product
// over groups of their number of choices. Nested groups are counted as if they
// were not nested, which is never too few. It stops over maxGlobChoices.
func globChoices(glob string) int {
	product := 1
	var open []int // choices so far of the groups that are open
	for i := 0; i < len(glob) && product <= maxGlobChoices; i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if len(open) > 0 {
				open[len(open)-1]++
			}
		case '}':
			if len(open) > 0 {
				product *= open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
	}

	return product
}

// glob is one glob, ready to match.
type glob struct {
	pattern  string
	folded   *glob    // its lower case, which counts too for the lower case of a path; nil for none
	suffixes []string // of `**/*suffix` and `**/*suffix{a,b}`, else none
	segment  []string // of `**/segment` and `**/segment/**`: what is between its stars, else none
	folder   bool     // with `/**` behind the segment
	choices  []glob   // of a glob with braces, else none
	class    string   // of `**/segment` and `**/segment/**` with `?` or `[…]`: the segment, else ""
	part     string   // text that is in every path that matches
	end      string   // text with which every path that matches ends
}

// classes are segments of globs that have classes without a `/`: to doublestar `[^a]` is one, too.
var classes = regexp.MustCompile(`^(?:[\w.*?-]|\[[\w-]+\])*[^*]$`)

// globMeta are the characters that stand for something else in a glob, and `/`,
// which `**` can take with it.
const globMeta = "*?[]{}\\/"

func newGlob(pattern string) glob {
	g := glob{pattern: pattern}
	if suffix, found := strings.CutPrefix(pattern, "**/*"); found {
		g.suffixes = literalSuffixes(suffix)
	}
	if before, rest, braces := strings.Cut(pattern, "{"); braces && g.suffixes == nil {
		inner, behind, _ := strings.Cut(rest, "}")
		choices := strings.Split(inner, ",")
		if !strings.ContainsAny(pattern, `[]\`) && !strings.ContainsAny(inner, "{*/") && !slices.Contains(choices, "") {
			for _, choice := range choices {
				g.choices = append(g.choices, newGlob(before+choice+behind))
			}
			return g
		}
	}
	if segment, found := strings.CutPrefix(pattern, "**/"); found && g.suffixes == nil {
		segment, g.folder = strings.CutSuffix(segment, "/**")
		switch {
		case segment == "" || strings.ContainsAny(segment, `{}\/`) || strings.Contains(segment, "**"):
		case !strings.ContainsAny(segment, "?[]"):
			g.segment = strings.Split(segment, "*")
		case classes.MatchString(segment) && !strings.Contains(segment, "--"):
			g.class = segment
		}
	}
	g.end = pattern[strings.LastIndexAny(pattern, globMeta)+1:]
	plain := pattern
	if i := strings.IndexAny(plain, `[]{}\`); i >= 0 { // what follows need not be as it is written
		plain = plain[:i]
	}

	for part := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == '*' || r == '?' || r == '/' }) {
		if len(part) > len(g.part) {
			g.part = part
		}
	}

	return g
}

// literalSuffixes returns what a suffix stands for: itself, or with each of the
// alternatives in braces at its end. It returns nothing for any other.
func literalSuffixes(suffix string) []string {
	fixed, list, braces := strings.Cut(suffix, "{")
	alternatives := []string{""}
	if braces {
		inner, ended := strings.CutSuffix(list, "}")
		if !ended {
			return nil
		}
		alternatives = strings.Split(inner, ",")
	}
	var all []string

	for _, a := range alternatives {
		if fixed+a == "" || strings.ContainsAny(fixed+a, globMeta) {
			return nil
		}
		all = append(all, fixed+a)
	}

	return all
}

func (g glob) match(path string) bool {
	for _, s := range g.suffixes {
		if strings.HasSuffix(path, s) {
			return true
		}
	}

	switch {
	case g.choices != nil:
		return slices.ContainsFunc(g.choices, func(choice glob) bool { return choice.match(path) })
	case g.suffixes != nil || !strings.HasSuffix(path, g.end) || !strings.Contains(path, g.part):
		return false
	case g.segment == nil && g.class == "" || path == "":
		return doublestar.MatchUnvalidated(g.pattern, path)
	case !g.folder:
		return g.matchSegment(path[strings.LastIndexByte(path, '/')+1:])
	}

	if g.segment != nil && g.segment[len(g.segment)-1] == "" {
		path = path[:len(path)-1] // to doublestar `a/**` has "a", and `a*/**` has "ab" only
	}
	for segment := range strings.SplitSeq(path, "/") {
		if g.matchSegment(segment) {
			return true
		}
	}
	return false
}

// matchSegment says whether a segment of a path is what stands between the stars.
func (g glob) matchSegment(segment string) bool {
	if g.class != "" {
		return doublestar.MatchUnvalidated(g.class, segment)
	}
	parts := g.segment // in their order, from its begin to its end
	rest, found := strings.CutPrefix(segment, parts[0])
	if len(parts) == 1 || !found {
		return found && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		if _, rest, found = strings.Cut(rest, part); !found {
			return false
		}
	}

	return strings.HasSuffix(rest, parts[last])
}

// newFolded returns a glob for which case decides nothing. What it matches as it is
// written it matches still, whatever lower case makes of its classes.
func newFolded(pattern string) glob {
	g, lower := newGlob(pattern), newGlob(strings.ToLower(pattern))
	g.folded = &lower

	return g
}

// matchAny says whether the glob matches a path whose lower case is known.
func (g glob) matchAny(path, lower string) bool {
	return g.match(path) || g.folded != nil && g.folded.match(lower)
}

// Globs is a list of globs, ready to match.
type Globs []glob

// NewGlobs prepares globs that are valid by CheckGlob.
func NewGlobs(patterns []string) Globs {
	globs := make(Globs, len(patterns))
	for i, p := range patterns {
		globs[i] = newGlob(p)
	}

	return globs
}

// NewIncludes prepares globs that choose files for rules: case decides nothing, so that
// no name hides a file.
func NewIncludes(patterns []string) Globs {
	globs := make(Globs, len(patterns))
	for i, p := range patterns {
		globs[i] = newFolded(p)
	}

	return globs
}

// Match says whether any of the globs matches path. A path over 4,096 bytes is
// matched by none.
func (gs Globs) Match(path string) bool {
	if len(path) > maxGlobPath {
		return false
	}
	lower := strings.ToLower(path)
	for _, g := range gs {
		if g.matchAny(path, lower) {
			return true
		}
	}

	return false
}
