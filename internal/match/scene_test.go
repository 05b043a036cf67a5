package match_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/prwarden/prwarden/internal/match"
)

// scene is rules and the files that one session of them looks at.
type scene struct {
	rules    []match.Rule
	off      []bool
	limit    int
	files    []file
	parallel bool // look at the files from several goroutines too
	guarded  bool // put the files next to memory that must not be read
}

type file struct {
	path    string
	content []byte
	added   []match.LineRange
}

// newScene makes a scene from three streams of decisions: about patterns,
// about texts, and about all else.
func newScene(patterns, texts, shape []byte) scene {
	c := &choices{shape}
	s := scene{limit: pick(c, []int{1 << 20, 1 << 20, 0, 1, 2, 10, c.below(200)}), parallel: c.one(8), guarded: c.one(4)}

	g := &grammar{choices: &choices{patterns}}
	g.words = g.vocabulary()
	for range 1 + pick(c, []int{0, 1, 3, c.below(8), c.below(60)}) {
		rule := match.Rule{Pattern: g.pattern(), Multiline: c.one(4)}
		if c.one(6) {
			rule.Include = []string{pick(c, globs)}
		}
		if c.one(8) {
			rule.Exclude = []string{pick(c, globs), pick(c, globs)}
		}
		s.rules = append(s.rules, rule)
	}
	if c.one(8) {
		s.off = make([]bool, len(s.rules))
		s.off[c.below(len(s.off))] = true
	}

	w := newWriter(&choices{texts}, s.rules, g.words)
	for range 1 + pick(c, []int{0, 0, 1, 2}) {
		content := w.text()
		s.files = append(s.files, file{
			path: pick(c, paths), content: content, added: ranges(c, bytes.Count(content, []byte{'\n'})+1),
		})
	}
	s.cheapen()
	s.judge(c)

	return s
}

// judge gives some rules conditions, and has some supersede others.
func (s *scene) judge(c *choices) {
	if c.one(2) {
		return
	}
	for i := range s.rules {
		r := &s.rules[i]
		if c.one(3) {
			groups := regexp.MustCompile(r.Pattern).NumSubexp()
			r.Conditions.Entropy = &match.Entropy{Min: float64(c.below(4)), Group: c.below(groups + 1)}
		}
		if c.one(8) {
			r.Conditions.Checksum = pick(c, match.Checksums())
		}
		if c.one(4) {
			r.Conditions.Stopwords = []string{pick(c, []string{"a", "E", "abc", "\u017f", "0"})}
		}
		if c.one(4) {
			r.Conditions.Allow = []string{pick(c, []string{"^a", `[0-9]$`, "(?i)b", `\bx`})}
		}
		if behind := len(s.rules) - i - 1; behind > 0 && c.one(4) && !r.Multiline && s.off == nil {
			r.Supersedes = []int{i + 1 + c.below(behind)} // in no circle
		}
	}
}

var (
	globs = []string{"**", "**/*.go", "*.go", "cmd/**", "{a,b}.go", "**/*_test.*", "[a-c]*", "x/?.py", "**/y/**"}
	paths = []string{
		"a.go", "cmd/main.go", "x/y_test.py", "README", "x/y/z.go", "", "é\xff.go", strings.Repeat("a", 4097),
	}
)

// ranges chooses runs of added lines in a file of n lines: ascending, apart
// from each other, some of them empty or beyond the file's ends.
func ranges(c *choices, n int) []match.LineRange {
	if !c.one(2) {
		return []match.LineRange{{First: 1, Last: 1 << 30}}
	}
	var list []match.LineRange
	next := c.below(4) - 1

	for range c.below(6) {
		first := next + c.below(n/2+1)
		last := first + c.below(6) - 1
		list = append(list, match.LineRange{First: first, Last: last})
		next = max(first, last) + 1
	}

	return list
}

// cheapen cuts files short, or drops rules where these are few already or a line
// is very long, until the reference can tell in a fraction of a second what the
// scene's hits are.
func (s *scene) cheapen() {
	sizes := make([]int, len(s.rules))
	for i, r := range s.rules {
		sizes[i] = programSize(r.Pattern)
	}

	for {
		longest := 0
		for _, f := range s.files {
			longest = max(longest, len(f.content))
		}
		cost := 0
		for i, r := range s.rules {
			c := sizes[i] * longest
			if r.Multiline {
				c *= 1 + longest/128 // each match may look at all that follows
			}
			cost += c
		}
		switch n := len(s.rules); {
		case cost <= maxCost, n == 1 && !s.rules[0].Multiline && cost <= 4*maxCost:
			return
		case n > 1 && (n <= 4 || longest < 1<<10 || longest >= 16<<10):
			s.rules, s.off = s.rules[:n-1], s.off[:min(n-1, len(s.off))]
		default:
			for k, f := range s.files {
				s.files[k].content = f.content[:min(longest*3/4, len(f.content))]
			}
		}
	}
}

// expected is what the reference says of a file.
type expected struct {
	hits   []match.Hit
	counts map[int]int
}

func (s scene) expect(f file) expected {
	e := expected{counts: map[int]int{}}
	for _, h := range matchtest.Reference(s.rules, f.path, f.content, f.added) {
		if s.off == nil || !s.off[h.Rule] {
			e.hits = append(e.hits, h)
			e.counts[h.Rule]++
		}
	}

	return e
}

// splitLines divides a text into lines without their endings, in its own way,
// so that it can't share a mistake with match.SplitLines.
func splitLines(text []byte) [][]byte {
	lines := bytes.Split(text, []byte{'\n'})
	last := len(lines) - 1
	for i, line := range lines[:last] {
		lines[i] = bytes.TrimSuffix(line, []byte{'\r'})
	}
	if len(lines[last]) == 0 {
		lines = lines[:last]
	}

	return lines
}

// engineDiffers says how the engine differs from the reference, or nothing. It
// looks at each file twice with one session, whose second look must not depend
// on the first, then maybe from several goroutines at once.
func (s scene) engineDiffers(ctx context.Context) string {
	m, err := match.Compile(s.rules)
	if err != nil {
		return "Compile: " + err.Error()
	}
	session := m.NewSession(forever, s.off)
	want := make([]expected, len(s.files))
	contents := make([][]byte, len(s.files))

	for i, f := range s.files {
		want[i] = s.expect(f)
		contents[i] = f.content
		if s.guarded {
			content, free := guard(f.content, i%2 == 0)
			defer free()
			contents[i] = content
		}
	}
	look := func(i int) string {
		f := s.files[i]
		got, err := session.File(f.path).Match(ctx, match.SplitLines(contents[i]), f.added, s.limit)
		if err != nil {
			return "Match: " + err.Error()
		}

		return want[i].differs(got, s.limit)
	}
	for round := range 2 {
		for i := range s.files {
			if d := look(i); d != "" {
				return fmt.Sprintf("file %d, look %d: %s", i, round+1, d)
			}
		}
	}
	if !s.parallel {
		return ""
	}
	found := make([]string, 4)
	var wg sync.WaitGroup

	for k := range found {
		wg.Go(func() {
			for i := range s.files {
				found[k] += look((i + k) % len(s.files))
			}
		})
	}
	wg.Wait()
	if d := strings.Join(found, ""); d != "" {
		return "from several goroutines: " + d
	}

	return ""
}

func (e expected) differs(got match.Result, limit int) string {
	switch hits := e.hits[:min(limit, len(e.hits))]; {
	case !slices.Equal(got.Hits, hits):
		return fmt.Sprintf("hits (rule, line, column, end line, end column):\n got %v\nwant %v\n", got.Hits, hits)
	case !maps.Equal(got.Counts, e.counts):
		return fmt.Sprintf("counts: got %v, want %v", got.Counts, e.counts)
	case len(got.Stopped) > 0:
		return fmt.Sprintf("rules were stopped: %v", got.Stopped)
	}

	return ""
}

// spansDiffer says how Session.Spans differs from regexp, or nothing. It asks
// for all rules on each text: on whole files if they are multiline, else on
// their lines, however long.
func (s scene) spansDiffer(ctx context.Context) string {
	m, err := match.Compile(s.rules)
	if err != nil {
		return "Compile: " + err.Error()
	}
	session := m.NewSession(forever, nil)

	for i, r := range s.rules {
		re, size := regexp.MustCompile(r.Pattern), programSize(r.Pattern)
		for text := range s.texts(r.Multiline) {
			for size*len(text)*(1+len(text)/128) > maxCost { // each match may look at all that follows
				text = text[:len(text)/2]
			}
			var want []match.Span
			for _, loc := range re.FindAllSubmatchIndex(text, -1) {
				if matchtest.Meets(r.Conditions, text, loc) {
					want = append(want, match.Span{Start: loc[0], End: loc[1]})
				}
			}
			got, ok, err := session.File("").Spans(ctx, text, len(text), i)
			if err != nil {
				return "Spans: " + err.Error()
			}
			if !slices.Equal(got, want) || !ok {
				return fmt.Sprintf("rule %d on %q:\n got %v (all: %v)\nwant %v", i, text, got, ok, want)
			}
		}
	}

	return ""
}

// candidatesDiffer says which rule matches and is no candidate, or which
// candidate is none, or nothing.
func (s scene) candidatesDiffer(context.Context) string {
	m, err := match.Compile(s.rules)
	if err != nil {
		return "Compile: " + err.Error()
	}
	session := m.NewSession(forever, s.off)
	compiled := make([]*regexp.Regexp, len(s.rules))

	for i, r := range s.rules {
		compiled[i] = regexp.MustCompile(r.Pattern)
	}
	for _, f := range s.files {
		active := make([]bool, len(s.rules))
		for i, r := range s.rules {
			active[i] = (s.off == nil || !s.off[i]) && looksAt(r, f.path)
		}
		looking := session.File(f.path)
		for _, multiline := range []bool{false, true} {
			for text := range s.texts(multiline) {
				got := looking.Candidates(text, multiline)
				if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
					return fmt.Sprintf("candidates not in order: %v", got)
				}
				for i, r := range s.rules {
					looks := r.Multiline == multiline && active[i]
					candidate := slices.Contains(got, i)
					switch {
					case candidate && !looks:
						return fmt.Sprintf("rule %d is a candidate on %q, though it doesn't look at it", i, text)
					case looks && !candidate && compiled[i].Match(text):
						return fmt.Sprintf("rule %d matches and is no candidate on %q", i, text)
					}
				}
			}
		}
	}

	return ""
}

// looksAt says whether a rule looks at a path: whether it hits a text in it that
// it would hit elsewhere.
func looksAt(r match.Rule, path string) bool {
	r.Conditions, r.Supersedes = match.Conditions{}, nil
	r.Pattern, r.Multiline = "x", false
	return len(matchtest.Reference([]match.Rule{r}, path, []byte("x"), all)) > 0
}

// texts yields the files, or all their lines, each once.
func (s scene) texts(multiline bool) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		seen := map[string]bool{}
		for _, f := range s.files {
			list := [][]byte{f.content}
			if !multiline {
				list = splitLines(f.content)
			}
			for _, text := range list {
				if seen[string(text)] {
					continue
				}
				if seen[string(text)] = true; !yield(text) {
					return
				}
			}
		}
	}
}
