package match

import (
	"fmt"
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
	part     string   // text that is in every path that matches
}

// globMeta are the characters that stand for something else in a glob, and `/`,
// which `**` can take with it.
const globMeta = "*?[]{}\\/"

func newGlob(pattern string) glob {
	g := glob{pattern: pattern}
	if suffix, found := strings.CutPrefix(pattern, "**/*"); found {
		g.suffixes = literalSuffixes(suffix)
	}
	if before, list, braces := strings.Cut(pattern, "{"); braces && g.suffixes == nil {
		choices, behind, _ := strings.Cut(list, "}")
		list := strings.Split(choices, ",")
		if !strings.ContainsAny(pattern, `[]\`) && !strings.ContainsAny(choices, "{*/") && !slices.Contains(list, "") {
			for _, choice := range list {
				g.choices = append(g.choices, newGlob(before+choice+behind))
			}
			return g
		}
	}
	if segment, found := strings.CutPrefix(pattern, "**/"); found && g.suffixes == nil {
		segment, g.folder = strings.CutSuffix(segment, "/**")
		if segment != "" && !strings.ContainsAny(segment, `?[]{}\/`) && !strings.Contains(segment, "**") {
			g.segment = strings.Split(segment, "*")
		}
	}
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
	case g.suffixes != nil || !strings.Contains(path, g.part):
		return false
	case g.segment == nil || path == "":
		return doublestar.MatchUnvalidated(g.pattern, path)
	case !g.folder:
		return matchSegment(g.segment, path[strings.LastIndexByte(path, '/')+1:])
	}

	if g.segment[len(g.segment)-1] == "" && path != "" {
		path = path[:len(path)-1] // to doublestar `a/**` has "a", and `a*/**` has "ab" only
	}
	for segment := range strings.SplitSeq(path, "/") {
		if matchSegment(g.segment, segment) {
			return true
		}
	}
	return false
}

// matchSegment says whether a segment of a path has parts in their order, from its begin to its end.
func matchSegment(parts []string, segment string) bool {
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

// selector decides which rules look at a file. Rules with the same globs and
// languages are one group, which is decided once a file; and so is a glob.
type selector struct {
	globs     Globs
	languages map[string]int32 // index by name
	groups    []globGroup
	group     []uint32 // by rule
	all       []bool   // the answer when there are neither globs nor languages
}

// globGroup is the globs and languages of some rules, as indexes into the selector's.
type globGroup struct{ include, exclude, languages []int32 }

func newSelector(rules []Rule) selector {
	s := selector{group: make([]uint32, len(rules)), languages: map[string]int32{}}
	index := func(known map[string]int32, prepare func(string) glob, patterns []string) []int32 {
		var list []int32
		for _, p := range patterns {
			i, ok := known[p]
			if !ok {
				i = int32(len(s.globs))
				known[p] = i
				s.globs = append(s.globs, prepare(p))
			}
			list = append(list, i)
		}

		return list
	}
	included, excluded := map[string]int32{}, map[string]int32{}
	named := func(names []string) (list []int32) {
		for _, name := range names {
			if _, ok := s.languages[name]; !ok {
				s.languages[name] = int32(len(s.languages))
			}
			list = append(list, s.languages[name])
		}

		return list
	}
	groups := map[string]uint32{}
	for i, r := range rules {
		var parts []string
		for _, list := range [][]string{r.Include, r.Exclude, r.Languages} {
			parts = append(parts, strings.Join(list, "\x00"))
		}
		key := strings.Join(parts, "\x00\x00")
		g, ok := groups[key]
		if !ok {
			g = uint32(len(s.groups))
			groups[key] = g
			s.groups = append(s.groups, globGroup{
				index(included, newFolded, r.Include), index(excluded, newGlob, r.Exclude), named(r.Languages),
			})
		}
		s.group[i] = g
	}
	if len(s.globs)+len(s.languages) == 0 {
		s.all = slices.Repeat([]bool{true}, len(s.groups))
	}

	return s
}

// active says for each group whether its rules look at the file at path that has
// the given languages. Every rule looks at a path over 4,096 bytes: a path must not
// hide a file.
func (s selector) active(path string, languages []string) []bool {
	if s.all != nil {
		return s.all
	}
	active := make([]bool, len(s.groups))
	decided := make([]int8, len(s.globs)) // 0 not yet, 1 yes, -1 no
	lower := strings.ToLower(path)
	anyOf := func(list []int32) bool {
		for _, i := range list {
			if decided[i] == 0 {
				decided[i] = -1
				if s.globs[i].matchAny(path, lower) {
					decided[i] = 1
				}
			}
			if decided[i] == 1 {
				return true
			}
		}

		return false
	}
	spoken := make([]bool, len(s.languages))
	for _, name := range languages {
		if i, ok := s.languages[name]; ok {
			spoken[i] = true
		}
	}
	isSpoken := func(i int32) bool { return spoken[i] }
	for i, g := range s.groups {
		ofLanguage := len(g.languages) == 0 || slices.ContainsFunc(g.languages, isSpoken)
		active[i] = len(path) > maxGlobPath || ofLanguage && (len(g.include) == 0 || anyOf(g.include)) && !anyOf(g.exclude)
	}

	return active
}
