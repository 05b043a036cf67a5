package structure

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/syntax"
)

// Finder finds the code that a condition means in texts of a language. It is immutable.
type Finder struct {
	language *syntax.Language
	root     *node
	needs    []uint32 // see File.mayHave
	names    []string // of metavariables, by slot
	bound    vars     // by every match
	patterns int
	lists    int
}

// node is a condition that was read.
type node struct {
	pattern                     *pattern // nil for none
	any, all                    []*node
	not, inside, notInside, has *node
	direct                      bool
	where                       []*test // each of its own metavariable
	focus                       int     // slot, -1 for none
	list                        int     // index of the list of its places, when it is within another one
	shared                      []int   // slots that are bound around it, likewise
	alone                       string  // its pattern, when it has nothing else and no shared slots
}

// test is a Test that was read.
type test struct {
	slot    int
	regex   *regexp.Regexp
	any     []*test
	not     *test
	has     *node
	direct  bool
	is      string
	entropy *Entropy
}

// Error says what is wrong with a condition.
type Error struct {
	Field string // such as `inside.pattern`; "" for the condition as a whole
	Text  string // a phrase that follows the name of the field
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Text
	}

	return e.Field + ": " + e.Text
}

// Compile reads a condition in a language. It fails with an *Error.
func Compile(l *syntax.Language, c Condition) (*Finder, error) {
	r := &conditionReader{Finder: &Finder{language: l}}
	n, bound, err := r.condition(c, place{focus: true})
	if err != nil {
		return nil, err
	}
	if !n.finds() {
		return nil, &Error{Text: "finds nothing by itself: it needs a `pattern`, or one in each of `any` or in one of `all`"}
	}
	r.root, r.bound, r.needs = n, bound, n.allHashes()
	if !n.hasWord() {
		field := ""
		if n.pattern != nil {
			field = "pattern"
		}
		return nil, &Error{Field: field, Text: errNoWord.Error()}
	}

	return r.Finder, nil
}

// conditionReader reads conditions.
type conditionReader struct {
	*Finder
	count     int
	mentioned []int // slots in patterns, in their order
}

// place is where a condition stands.
type place struct {
	field   string
	nesting int
	focus   bool // a focus is of use
	known   vars // bound at the same place, or around it
}

func (p place) in(field string) place {
	if p.field != "" {
		field = p.field + "." + field
	}

	return place{field: field, nesting: p.nesting + 1, known: p.known}
}

func (p place) fail(field, format string, args ...any) error {
	return &Error{Field: strings.TrimPrefix(p.in(field).field, "."), Text: fmt.Sprintf(format, args...)}
}

// vars are metavariables, by slot: true when a match always binds it.
type vars map[int]bool

// finds says whether a condition finds places.
func (n *node) finds() bool {
	return n.pattern != nil || slices.ContainsFunc(n.all, (*node).finds) ||
		len(n.any) > 0 && !slices.ContainsFunc(n.any, func(n *node) bool { return !n.finds() })
}

// enter counts a condition or a test.
func (r *conditionReader) enter(p place) error {
	if r.count++; r.count > MaxConditions {
		return &Error{Text: fmt.Sprintf("has more than %d conditions in all", MaxConditions)}
	}
	if p.nesting > MaxNesting {
		return &Error{Field: p.field, Text: fmt.Sprintf("is nested too deeply; at most %d levels are allowed", MaxNesting)}
	}

	return nil
}

func (r *conditionReader) condition(c Condition, p place) (*node, vars, error) {
	if err := r.enter(p); err != nil {
		return nil, nil, err
	}
	if c.Pattern == "" && len(c.Fields()) == 0 {
		return nil, nil, &Error{Field: p.field, Text: "is required: a pattern, or an object with `pattern`, `any` or `all`"}
	}

	n := &node{focus: -1}
	own := vars{}
	if err := r.base(n, c, p, own); err != nil {
		return nil, nil, err
	}
	inner := p
	inner.known = union(p.known, own)
	if err := r.around(n, c, inner); err != nil {
		return nil, nil, err
	}
	if c.Not != nil {
		not, _, err := r.condition(*c.Not, inner.in("not"))
		if err != nil {
			return nil, nil, err
		}
		n.not = not
	}
	for _, name := range slices.Sorted(maps.Keys(c.Where)) {
		field := inner.in("where." + name)
		slot, err := r.slot(name, own, field)
		if err != nil {
			return nil, nil, err
		}
		t, err := r.test(c.Where[name], field)
		if err != nil {
			return nil, nil, err
		}
		t.slot = slot
		n.where = append(n.where, t)
	}

	return n, own, r.focus(n, c, p, own)
}

// base reads what finds or looks at a place, and adds the metavariables that it binds.
func (r *conditionReader) base(n *node, c Condition, p place, own vars) error {
	if c.Pattern != "" {
		pattern, err := compilePattern(r.language, c.Pattern, &r.names)
		if err != nil {
			return p.fail("pattern", "%v", err)
		}
		pattern.index = r.patterns
		r.patterns++
		n.pattern = pattern
		r.mentioned = append(r.mentioned, pattern.slots...)
		for _, slot := range pattern.slots {
			own[slot] = true
		}
	}

	for i, item := range c.All {
		x := p.in(fmt.Sprintf("all[%d]", i))
		x.known = union(p.known, own)
		sub, bound, err := r.condition(item, x)
		if err != nil {
			return err
		}
		n.all = append(n.all, sub)
		maps.Copy(own, union(own, bound))
	}
	if n.pattern == nil { // what finds the places comes first, since it binds what the others look at
		if i := slices.IndexFunc(n.all, (*node).finds); i > 0 {
			return p.fail(fmt.Sprintf("all[%d]", 0), "finds nothing by itself; put what has a pattern first")
		}
	}

	var either []vars
	for i, item := range c.Any {
		x := p.in(fmt.Sprintf("any[%d]", i))
		x.known = union(p.known, own)
		x.focus = p.focus && c.Focus == "" && n.pattern == nil && len(c.All) == 0
		sub, bound, err := r.condition(item, x)
		if err != nil {
			return err
		}
		n.any = append(n.any, sub)
		either = append(either, bound)
	}
	maps.Copy(own, union(own, intersection(either)))

	return nil
}

// around reads what is said of the code around and within a place.
func (r *conditionReader) around(n *node, c Condition, p place) error {
	for _, x := range []struct {
		field string
		given *Condition
		into  **node
	}{{"inside", c.Inside, &n.inside}, {"not_inside", c.NotInside, &n.notInside}, {"has", c.Has, &n.has}} {
		if x.given == nil {
			continue
		}
		sub, err := r.within(*x.given, p.in(x.field))
		if err != nil {
			return err
		}
		*x.into = sub
	}

	var err error
	n.direct, err = depth(c.Depth, c.Has != nil, p)

	return err
}

// within reads a condition for other code than that of a place. A metavariable that is
// bound at the place stands for the same code there.
func (r *conditionReader) within(c Condition, p place) (*node, error) {
	known, before := p.known, len(r.mentioned)
	p.known = nil
	n, bound, err := r.condition(c, p)
	if err != nil {
		return nil, err
	}
	if !n.finds() {
		return nil, &Error{Field: p.field, Text: "finds nothing by itself: it needs a `pattern`"}
	}
	n.list = r.lists
	r.lists++
	for _, slot := range r.mentioned[before:] {
		always, isKnown := known[slot]
		switch {
		case !isKnown && !slices.Contains(r.mentioned[:before], slot):
		case !isKnown:
			return nil, &Error{Field: p.field, Text: fmt.Sprintf("has $%s, which is elsewhere too, but not in the "+
				"pattern that both are beside; give it another name", r.names[slot])}
		case !always || !bound[slot]:
			return nil, &Error{Field: p.field, Text: fmt.Sprintf("has $%s where it can't be held equal to that of the "+
				"pattern around it: it must be in the patterns of both, and in each alternative of `any`", r.names[slot])}
		case !slices.Contains(n.shared, slot):
			n.shared = append(n.shared, slot)
		}
	}
	if len(c.Fields()) == 0 && len(n.shared) == 0 {
		n.alone = c.Pattern
	}

	return n, nil
}

func depth(word string, has bool, p place) (direct bool, err error) {
	switch {
	case word == "":
		return false, nil
	case !has:
		return false, p.fail("depth", "is for `has`, and there is none")
	case word != DepthDirect && word != DepthAnywhere:
		return false, p.fail("depth", "must be %s or %s", DepthDirect, DepthAnywhere)
	}

	return word == DepthDirect, nil
}

// slot is that of a metavariable that must be bound.
func (r *conditionReader) slot(name string, own vars, p place) (int, error) {
	slot := slices.Index(r.names, name)
	always, ok := own[slot]
	switch {
	case ok && always:
		return slot, nil
	case ok:
		return 0, &Error{Field: p.field, Text: "is not in each of the alternatives of `any`; put it into them"}
	case strings.HasPrefix(name, "$"):
		return 0, &Error{Field: p.field, Text: "must be without the dollar sign"}
	}

	return 0, &Error{Field: p.field, Text: "is no metavariable of the patterns beside it"}
}

func (r *conditionReader) focus(n *node, c Condition, p place, own vars) (err error) {
	if c.Focus == "" {
		return nil
	}
	if !p.focus {
		return p.fail("focus", "is of no use here; it belongs beside the pattern that finds the code")
	}
	n.focus, err = r.slot(c.Focus, own, p.in("focus"))

	return err
}

func (r *conditionReader) test(t Test, p place) (*test, error) {
	if err := r.enter(p); err != nil {
		return nil, err
	}
	out := &test{is: t.Is, entropy: t.Entropy}
	if t.Regex == "" && len(t.Any) == 0 && t.Not == nil && t.Has == nil && t.Is == "" && t.Entropy == nil {
		return nil, &Error{Field: p.field, Text: "needs one of regex, any, not, has, is, entropy"}
	}
	if t.Regex != "" {
		if err := match.CheckPattern(t.Regex); err != nil {
			return nil, p.fail("regex", "%v", err)
		}
		out.regex = regexp.MustCompile(t.Regex)
	}
	switch t.Is {
	case "", IsString, IsInterpolated, IsConstant:
	default:
		return nil, p.fail("is", "must be %s, %s or %s", IsString, IsInterpolated, IsConstant)
	}
	if e := t.Entropy; e != nil && !(e.Min >= 0 && e.Min <= 8) {
		return nil, p.fail("entropy.min", "must be from 0 to 8 bits for each byte; 0 is for what is usual")
	}

	var err error
	if out.direct, err = depth(t.Depth, t.Has != nil, p); err != nil {
		return nil, err
	}
	if t.Has != nil {
		if out.has, err = r.within(*t.Has, p.in("has")); err != nil {
			return nil, err
		}
	}
	for i, item := range t.Any {
		sub, err := r.test(item, p.in(fmt.Sprintf("any[%d]", i)))
		if err != nil {
			return nil, err
		}
		out.any = append(out.any, sub)
	}
	if t.Not != nil {
		out.not, err = r.test(*t.Not, p.in("not"))
	}

	return out, err
}

// union is metavariables of two conditions that both hold. It may be one of them.
func union(a, b vars) vars {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	all := vars{}
	for _, x := range []vars{a, b} {
		for slot, always := range x {
			all[slot] = all[slot] || always
		}
	}

	return all
}

// intersection is metavariables of conditions of which one holds.
func intersection(either []vars) vars {
	all := vars{}
	for _, x := range either {
		for slot := range x {
			all[slot] = !slices.ContainsFunc(either, func(other vars) bool { return !other[slot] })
		}
	}

	return all
}
