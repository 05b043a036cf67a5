package taint

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// walker goes over the tokens of a text once.
type walker struct {
	state
	dialect
	text     *syntax.Text
	tokens   []syntax.Token
	language *syntax.Language
	spend    structure.Spend
	stopped  bool

	sources, sinks, sanitizers []Place // that are ahead: by their begins, the sinks by their ends
	named                      []naming
	cleaners                   []structure.Range // sanitizers around the token

	nodes    []node
	hits     []hit
	flows    []Flow
	scopes   []scope
	pending  []pending
	bodies   map[int]header // by where they begin
	lastBody int
	params   []structure.Range // parameters that are sources
	until    int               // where parameters end
	called   map[int32]int32   // by the bracket of a call: the value that it is a method of
	builds   map[int32]path    // by the bracket of a call: what its arguments are added to
}

// naming is a name that gets a value, or loses it, where a place says so.
type naming struct {
	structure.Range
	isClean bool
}

// scope is what is between brackets, or between words such as `do` and `end`.
type scope struct {
	open     int32 // -1 for the text
	start    int32 // where the statement begins
	left     int32 // where what is assigned to may begin
	pending  int32 // how many there were at its begin
	waiting  int32 // index in walker.waits of branches that `else` goes on with; -1 for none
	kind     byte  // a bracket, or byWords
	frame    byte
	control  control // of the statement
	isSwitch bool
	isFor    bool // `in` is that of a loop
	exits    bool // the statement leaves the branch
}

const byWords = 'w'

// What a scope is a frame of.
const (
	noFrame byte = iota
	ofBranch
	ofFunction
)

// control says what the statement decides.
type control byte

const (
	always    control = iota
	sometimes         // what follows may be executed
	otherwise         // or this
	choosing          // one of several
)

func newWalker(text *syntax.Text, places Places, spend structure.Spend) *walker {
	d, l := dialectOf(text.Language)
	byBegin := func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.counts().From, b.counts().From), cmp.Compare(b.counts().To, a.counts().To))
	}
	w := &walker{
		state: newState(), dialect: d, language: l, text: text, tokens: text.Tokens, spend: spend,
		sources: sorted(places.Sources, byBegin),
		sinks: sorted(places.Sinks, func(a, b Place) int {
			return cmp.Or(cmp.Compare(a.counts().To, b.counts().To), cmp.Compare(a.counts().From, b.counts().From))
		}),
		sanitizers: sorted(places.Sanitizers, byBegin),
		nodes:      make([]node, 1, 64), bodies: map[int]header{}, called: map[int32]int32{}, builds: map[int32]path{},
	}
	for _, list := range []struct {
		places  []Place
		isClean bool
	}{{places.Sources, false}, {places.Sanitizers, true}} {
		for _, p := range list.places {
			if p.Focus.From >= 0 {
				w.named = append(w.named, naming{p.Focus, list.isClean})
			}
		}
	}
	slices.SortStableFunc(w.named, func(a, b naming) int { return cmp.Compare(a.To, b.To) })
	w.scopes = []scope{{open: -1, waiting: -1}}

	return w
}

// sorted is a sorted copy; slices.SortedFunc would copy it each time that it grows.
func sorted(places []Place, compare func(a, b Place) int) []Place {
	places = slices.Clone(places)
	slices.SortFunc(places, compare)

	return places
}

// step counts steps.
func (w *walker) step(n int) bool {
	w.stopped = w.stopped || !w.spend(n)
	return !w.stopped
}

func (w *walker) of(i int) []byte { return w.text.Of(i) }

// is says whether a token has a text.
func (w *walker) is(i int, text string) bool { return string(w.text.Of(i)) == text }

// after is the token behind a token, or behind the brackets that it opens.
func (w *walker) after(i int) int {
	if t := w.tokens[i]; t.Kind == syntax.Open && t.Pair > int32(i) {
		return int(t.Pair) + 1
	}

	return i + 1
}

func (w *walker) top() *scope { return &w.scopes[len(w.scopes)-1] }

// function is the innermost function's frame.
func (w *walker) function() *frame {
	for k := len(w.frames) - 1; ; k-- {
		if w.frames[k].isFunc {
			return &w.frames[k]
		}
	}
}

// name is the name of a variable.
func (w *walker) name(i int) []byte {
	text := w.of(i)
	if (w.sigil || w.language.Name == "Kotlin") && len(text) > 1 && text[0] == '$' {
		return text[1:]
	}

	return text
}

// walk goes over all tokens.
func (w *walker) walk() {
	for i := range w.tokens {
		if !w.step(1) {
			return
		}
		w.arrive(i)
		if h, ok := w.header(i); ok {
			w.bodies[h.body] = h
			w.lastBody = max(w.lastBody, h.body)
			w.until = max(w.until, h.params.To)
		}
		if w.lastBody >= i {
			if h, ok := w.bodies[i]; ok {
				w.beginBody(i, h)
			}
		}

		switch t := w.tokens[i]; t.Kind {
		case syntax.Open:
			if t.Pair >= 0 {
				w.open(i)
			}
		case syntax.Close:
			if t.Pair >= 0 {
				w.close(i)
			}
		case syntax.LineEnd:
			w.endStatement(i)
		case syntax.Name:
			w.word(i)
		case syntax.Operator:
			w.operator(i)
		case syntax.String:
			w.inline(i)
		}
	}
	w.arrive(len(w.tokens))
}

// arrive looks at the places that begin or end at a token.
func (w *walker) arrive(i int) {
	for len(w.sinks) > 0 && w.sinks[0].counts().To <= i && w.step(1) {
		at := w.sinks[0].counts()
		w.sinks = w.sinks[1:]
		if from := w.tainted(at.From); from != 0 {
			w.flows = append(w.flows, Flow{w.nodes[w.nodes[from].source].Range, at, from})
		}
	}
	for len(w.named) > 0 && w.named[0].To <= i && w.step(1) {
		w.rename(w.named[0])
		w.named = w.named[1:]
	}
	for len(w.sanitizers) > 0 && w.sanitizers[0].counts().From <= i && w.step(1) {
		if at := w.sanitizers[0].counts(); at.From == i {
			w.sanitizer(i)
			w.cleaners = append(w.cleaners, at)
		}
		w.sanitizers = w.sanitizers[1:]
	}
	for len(w.sources) > 0 && w.sources[0].counts().From <= i && w.step(1) {
		if at := w.sources[0].counts(); at.From == i && at.To > i {
			w.read(i, at.To, w.addNode(at, 0))
		}
		w.sources = w.sources[1:]
	}
}

// rename has a name have a tainted or a clean value from here on.
func (w *walker) rename(n naming) {
	from := n.From
	for from < n.To && w.tokens[from].Kind == syntax.Operator && (w.is(from, "&") || w.is(from, "*")) && w.step(1) {
		from++
	}
	if from >= n.To || w.tokens[from].Kind != syntax.Name || w.language.IsKeyword(w.of(from)) {
		return
	}
	p, end := w.path(from, true)
	switch {
	case end != n.To:
	case from < w.until && !n.isClean:
		w.params = append(w.params, structure.Range{From: from, To: end})
	case n.isClean:
		w.set(p, 0, w.isDeep())
	default:
		w.set(p, w.addNode(n.Range, 0), false)
	}
}

// inline looks for names in strings of Rust, as in `format!("{x}")`.
func (w *walker) inline(i int) {
	if !w.bars || !w.step(int(w.tokens[i].End-w.tokens[i].Start)/16) {
		return
	}
	text := w.of(i)
	for k := 0; k+1 < len(text); k++ {
		if text[k] != '{' {
			continue
		}
		end := k + 1
		for end < len(text) && (text[end] == '_' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' ||
			text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if node := w.get(w.pathOf(0, text[k+1:end])); node != 0 {
			w.hit(i, node)
		}
		k = end - 1
	}
}
