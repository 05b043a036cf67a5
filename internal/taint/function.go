package taint

import (
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// header is the begin of a function.
type header struct {
	params structure.Range
	body   int // the token that opens its body, or the first one of an expression
	isExpr bool
	word   bool // the body ends with a word
	named  bool
}

// maxHeader bounds how many tokens are looked at for the begin of a body.
const maxHeader = 64

// header returns the function that begins with a token.
func (w *walker) header(i int) (h header, ok bool) {
	t := w.tokens[i]
	if t.Kind == syntax.Name {
		text := w.of(i)
		switch {
		case i > 0 && w.isJoin(i-1):
			return h, false
		case w.begins.has(text):
			return w.worded(i)
		case w.arrow != "" && i+1 < len(w.tokens) && w.is(i+1, w.arrow) && !w.language.IsKeyword(text) && w.mayBeParam(i):
			return w.bodyOf(structure.Range{From: i, To: i + 1}, i+2)
		case w.methods && !w.language.IsKeyword(text):
			return w.method(i)
		}
		return h, false
	}
	switch {
	case w.arrow != "" && t.Kind == syntax.Open && t.Bracket == '(' && t.Pair >= 0:
		return w.arrowed(i)
	case w.bars && w.is(i, "|") && i > 0 && (w.tokens[i-1].Kind != syntax.Name || w.is(i-1, "move")) &&
		(w.tokens[i-1].Kind == syntax.Open || w.tokens[i-1].Kind == syntax.Operator || w.is(i-1, "move")):
		for k := i + 1; k < min(i+maxHeader, len(w.tokens)) && w.step(1); k++ {
			if w.is(k, "|") {
				return w.bodyOf(structure.Range{From: i + 1, To: k}, k+1)
			}
		}
	}

	return h, false
}

// mayBeParam says whether a name before an arrow is a parameter: not the case of a switch.
func (w *walker) mayBeParam(i int) bool {
	if w.language.Name == "Kotlin" {
		return i > 0 && w.tokens[i-1].Kind == syntax.Open && w.tokens[i-1].Bracket == '{' && !w.top().isSwitch
	}

	return i == 0 || !w.is(i-1, "case")
}

// bodyOf is a function with these parameters whose body begins with a token.
func (w *walker) bodyOf(params structure.Range, at int) (h header, ok bool) {
	if at >= len(w.tokens) {
		return h, false
	}
	t := w.tokens[at]

	return header{params: params, body: at, isExpr: t.Kind != syntax.Open || t.Bracket != '{' || t.Pair < 0}, true
}

// worded is the function that begins with a word, as `func`.
func (w *walker) worded(i int) (h header, ok bool) {
	word := string(w.of(i))
	k := i + 1
	end := min(i+maxHeader, len(w.tokens))
	if word == "lambda" {
		for ; k < end && w.step(1); k = w.after(k) {
			if w.is(k, ":") {
				return header{params: structure.Range{From: i + 1, To: k}, body: k + 1, isExpr: true}, k+1 < len(w.tokens)
			}
		}
		return h, false
	}
	h.params = structure.Range{From: -1}
	for ; k < end && w.step(1); k = w.after(k) {
		t := w.tokens[k]
		switch {
		case t.Kind == syntax.Open && t.Pair < 0:
			return h, false
		case t.Kind == syntax.Open && t.Bracket == '(':
			isReceiver := word == "func" && k == i+1 && int(t.Pair)+1 < end && w.tokens[t.Pair+1].Kind == syntax.Name &&
				int(t.Pair)+2 < end && w.tokens[t.Pair+2].Kind == syntax.Open && w.tokens[t.Pair+2].Bracket != '{'
			if h.params.From < 0 && !isReceiver {
				h.params = structure.Range{From: k + 1, To: int(t.Pair)}
			}
			if word == "def" && w.words {
				return w.wordBody(h, w.after(k))
			}
		case t.Kind == syntax.Name && h.params.From < 0:
			h.named = true
		case t.Kind == syntax.Open && (t.Bracket == '{' || t.Bracket == syntax.Indent):
			if w.is(k-1, "interface") || w.is(k-1, "struct") {
				continue // a type
			}
			h.body = k
			return h, h.params.From >= 0
		case t.Kind == syntax.LineEnd && word == "def" && w.words:
			h.params = structure.Range{From: i + 2, To: k}
			return w.wordBody(h, k)
		case t.Kind == syntax.LineEnd, t.Kind == syntax.Close, w.is(k, ";"), w.is(k, ",") && h.params.From >= 0:
			return h, false
		case (w.is(k, "=") || w.is(k, "=>")) && h.params.From >= 0, w.is(k, ":") && word == "def" && !w.isOpen(k+1):
			h.body, h.isExpr = k+1, true
			return h, k+1 < len(w.tokens)
		}
	}

	return h, false
}

// wordBody is a function of Ruby whose parameters have ended.
func (w *walker) wordBody(h header, at int) (header, bool) {
	h.body, h.named = at, true
	if at < len(w.tokens) && w.is(at, "=") {
		h.body, h.isExpr = at+1, true
	} else {
		h.word = true
	}

	return h, h.body < len(w.tokens)
}

// isOpen says whether a token opens a block of indented lines.
func (w *walker) isOpen(i int) bool {
	return i < len(w.tokens) && w.tokens[i].Kind == syntax.Open && w.tokens[i].Bracket == syntax.Indent
}

// method is a function without a word: `name(…) {`.
func (w *walker) method(i int) (h header, ok bool) {
	if i+1 >= len(w.tokens) || i > 0 && w.is(i-1, "new") {
		return h, false
	}
	t := w.tokens[i+1]
	if t.Kind != syntax.Open || t.Bracket != '(' || t.Pair < 0 {
		return h, false
	}
	k := int(t.Pair) + 1
	h = header{params: structure.Range{From: i + 2, To: int(t.Pair)}, named: true}
	for end := min(k+maxHeader/2, len(w.tokens)); k < end && w.step(1); k = w.after(k) {
		t := w.tokens[k]
		switch {
		case t.Kind == syntax.Open && t.Bracket == '{' && t.Pair >= 0 && !w.is(k-1, ":"):
			h.body = k
			return h, true
		case t.Kind == syntax.Open && t.Pair >= 0 && (t.Bracket == '(' || t.Bracket == '[' || t.Bracket == '{'):
		case t.Kind == syntax.Name && !branching.has(w.of(k)):
		case w.is(k, "=>") && w.language.Name == "C#" && k == int(w.tokens[i+1].Pair)+1:
			return w.bodyOf(h.params, k+1)
		case t.Kind == syntax.Operator && inHeaders.has(w.of(k)) && k+1 < end:
		default:
			return h, false
		}
	}

	return h, false
}

// arrowed is a lambda with its parameters in brackets.
func (w *walker) arrowed(i int) (h header, ok bool) {
	k := int(w.tokens[i].Pair) + 1
	params := structure.Range{From: i + 1, To: k - 1}
	if k < len(w.tokens) && w.is(k, w.arrow) {
		return w.bodyOf(params, k+1)
	}
	if w.language.Name != "TypeScript" || k >= len(w.tokens) || !w.is(k, ":") || i > 0 && w.is(i-1, "?") {
		return h, false
	}
	for end := min(k+maxHeader/4, len(w.tokens)); k < end && w.step(1); k = w.after(k) {
		switch t := w.tokens[k]; {
		case w.is(k, "=>"):
			return w.bodyOf(params, k+1)
		case t.Kind == syntax.Close, t.Kind == syntax.LineEnd, w.is(k, ","), w.is(k, ";"), w.is(k, "?"):
			return h, false
		}
	}

	return h, false
}

// enter begins a function.
func (w *walker) enter(h header) {
	if !w.push(frame{isFunc: true, hits: w.function().hits, barrier: w.barrier, locals: map[path]bool{}}) {
		w.scopes[len(w.scopes)-1].frame = noFrame
		return
	}
	f := &w.frames[len(w.frames)-1]
	isInner := false
	for _, x := range w.frames[1 : len(w.frames)-1] {
		isInner = isInner || x.isFunc
	}
	if h.named && !isInner {
		w.barrier = w.now
	}
	if !h.isExpr {
		f.hits = len(w.hits)
	}

	from := w.callee(h)
	for k := h.params.From; k < min(h.params.To, h.params.From+maxHeader) && w.step(1); k++ {
		if w.tokens[k].Kind != syntax.Name || k > 0 && w.isJoin(k-1) {
			continue
		}
		p := w.makePath(0, w.name(k))
		f.locals[p] = true
		node := int32(0)
		if from != 0 {
			node = w.addNode(structure.Range{From: k, To: k + 1}, from)
		}
		w.set(p, node, false)
	}
	for _, x := range w.params {
		p := w.makePath(0, w.name(x.From))
		w.set(p, w.addNode(x, 0), false)
	}
	w.params = w.params[:0]
}

// callee is the value on which a method is called that gets a lambda, as in
// `tainted.map(x => …)`; 0 when it is clean.
func (w *walker) callee(h header) int32 {
	if h.named {
		return 0
	}
	for k := len(w.scopes) - 1; k >= max(0, len(w.scopes)-2); k-- {
		if n := w.called[w.scopes[k].open]; n != 0 {
			return n
		}
	}

	return 0
}
