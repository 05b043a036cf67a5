package structure

import (
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/syntax"
)

// variables is, for each token, how many before it can't be a part of a constant.
func (f *File) variables() []int32 {
	if f.vary != nil {
		return f.vary
	}
	c := &constants{
		File: f, words: make([]*word, len(f.Tokens)),
		namesArguments: isOneOf(f.Language, "python", "kotlin"),
		bareParameters: isOneOf(f.Language, "java", "c", "c#", "javascript", "typescript"),
	}
	c.read()
	c.collect()
	c.spread()
	f.vary = make([]int32, len(f.Tokens)+1)
	for i := range f.Tokens {
		f.vary[i+1] = f.vary[i]
		if !c.isConstant(i) {
			f.vary[i+1]++
		}
	}

	return f.vary
}

// constants finds the names that a file assigns only constants. Where it is not sure, a
// name is none: as a parameter, in a loop, or with something else on the left side.
type constants struct {
	*File
	words  []*word // by token
	all    []*word
	work   []*word // that vary, and whose users were not told
	frames []frame

	namesArguments bool // `name =` in a call names an argument
	bareParameters bool // functions may have no word before their names
}

func isOneOf(l *syntax.Language, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l == syntax.Named(name) })
}

// word is a text that tokens have, and what is known of it as a name.
type word struct {
	text string

	isName, isConstant bool // a name token with this text names a value; is a part of constants
	binds              bool // names that follow in the statement are parameters, variables of loops or the like
	changesPrevious    bool // the name before it gets another value, as by ++
	changesNext        bool // the name behind it does
	joins              bool // it joins two names to one, as the dot does
	compares           bool // it ends with = and is no assignment

	assigned, varies bool    // as a name: it gets a value, and one that may not be constant
	users            []*word // names that it is assigned to
}

// noWord is that of strings and numbers, and of what is beside the text. Nothing changes it.
var noWord = &word{}

// frame is what is known of the statement in a pair of brackets.
type frame struct {
	start    int  // of the statement
	typed    int  // a name before a colon, or -1
	several  bool // it has commas or brackets
	declares bool // all names are bound to something else: parameters, loops
	inCall   bool // `name =` names an argument
}

// Words of all languages. One that a language doesn't have is a name there, which is then
// not constant for nothing.
var (
	literalWords = wordSet("true false null none nil True False None NULL nullptr undefined")
	joiningWords = wordSet("not and or if else is in")
	bindingWords = wordSet("function func fn def fun lambda catch except for foreach using import from use require " +
		"with class record struct constructor as global mut operator enum")
	changesNext     = wordSet("++ -- & |")
	changesPrevious = wordSet("++ -- => -> in of |")
	comparisons     = wordSet("== != === !== <= >=")
)

func wordSet(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}

	return all
}

// read finds the words of the tokens, so that each is looked up once.
func (c *constants) read() {
	known := map[string]*word{}
	for i, t := range c.Tokens {
		if t.Kind == syntax.String || t.Kind == syntax.Number {
			c.words[i] = noWord
			continue
		}
		text := c.Of(i)
		w := known[string(text)]
		if w == nil {
			w = c.wordOf(string(text))
			known[w.text] = w
			c.all = append(c.all, w)
		}
		c.words[i] = w
	}
}

func (c *constants) wordOf(text string) *word {
	w := &word{
		text: text, isConstant: literalWords[text] || joiningWords[text], binds: bindingWords[text],
		changesNext: changesNext[text], changesPrevious: changesPrevious[text],
		joins: c.Language.Joins(text), compares: comparisons[text],
	}
	w.isName = !w.isConstant && !c.Language.IsKeyword([]byte(text)) && !c.Language.IsUnary([]byte(text))

	return w
}

func (c *constants) vary(w *word) {
	if !w.varies {
		w.varies = true
		c.work = append(c.work, w)
	}
}

// spread has names vary that are assigned what varies.
func (c *constants) spread() {
	for _, w := range c.all {
		if !w.assigned {
			c.vary(w)
		}
	}
	for len(c.work) > 0 {
		w := c.work[len(c.work)-1]
		c.work = c.work[:len(c.work)-1]
		for _, user := range w.users {
			c.vary(user)
		}
	}
}

// at is the word of a token, an empty one for none.
func (c *constants) at(i int) *word {
	if i < 0 || i >= len(c.words) {
		return noWord
	}

	return c.words[i]
}

func (c *constants) isName(i int) bool {
	return i >= 0 && i < len(c.Tokens) && c.Tokens[i].Kind == syntax.Name && c.words[i].isName
}

// isConstant says whether a token may be a part of a constant.
func (c *constants) isConstant(i int) bool {
	t, w := c.Tokens[i], c.words[i]
	switch t.Kind {
	case syntax.Name:
		return w.isConstant || w.isName && !w.varies && c.isUse(i)
	case syntax.Operator:
		return !w.joins && !c.isAssignment(i) && w.text != "=>" && w.text != "->" && w.text != "<-"
	case syntax.Open:
		return t.Pair >= 0 && t.Bracket != syntax.Tag && t.Bracket != syntax.Indent
	}

	return true
}

// isUse says whether a name stands alone: it is no part of a longer one and isn't called.
func (c *constants) isUse(i int) bool {
	return !c.at(i-1).joins && !c.at(i+1).joins && c.at(i+1).text != "("
}

func (c *constants) isAssignment(i int) bool {
	w := c.words[i]
	return c.Tokens[i].Kind == syntax.Operator && strings.HasSuffix(w.text, "=") && !w.compares
}

// collect reads which names are assigned what.
func (c *constants) collect() {
	c.frames = []frame{{typed: -1}}
	for i, t := range c.Tokens {
		f := &c.frames[len(c.frames)-1]
		switch {
		case t.Kind == syntax.Open && t.Pair >= 0:
			f.several = f.several || t.Bracket != syntax.Indent
			c.frames = append(c.frames, c.enter(*f, i))
		case t.Kind == syntax.Close && t.Pair >= 0 && len(c.frames) > 1:
			c.frames = c.frames[:len(c.frames)-1]
			if f = &c.frames[len(c.frames)-1]; t.Bracket == '{' || t.Bracket == syntax.Indent {
				*f = frame{start: i + 1, typed: -1, declares: f.declares && f.start == 0, inCall: f.inCall}
			}
		case t.Kind == syntax.LineEnd, c.at(i).text == ";":
			*f = frame{start: i + 1, typed: -1, declares: f.declares && f.inCall, inCall: f.inCall}
		case c.at(i).text == ",":
			f.several = true
		case c.at(i).text == ":" && f.typed < 0 && c.isName(i-1):
			f.typed = i - 1
		case c.isAssignment(i) && !(f.inCall && !f.declares && c.namesArguments):
			c.assign(f, i)
			*f = frame{start: i + 1, typed: -1, declares: f.declares, inCall: f.inCall}
		case t.Kind == syntax.Name:
			f.declares = f.declares || c.words[i].binds
			if c.isName(i) && (f.declares || c.isChanged(i)) {
				c.vary(c.words[i])
			}
		}
	}
}

// enter is the frame of the brackets that a token opens.
func (c *constants) enter(around frame, i int) frame {
	t := c.Tokens[i]
	f := frame{start: i + 1, typed: -1}
	if t.Bracket != '(' && t.Bracket != '[' {
		f.declares = t.Bracket == '{' && around.several && around.declares && c.at(i-1).text == "("
		return f
	}
	f.inCall = true
	before := c.at(i - 1)
	behind := c.at(int(t.Pair) + 1).text
	isCall := c.isName(i - 1)
	f.declares = around.declares || behind == "=>" || behind == "->" || before.binds ||
		isCall && c.bareParameters && (behind == "{" || behind == "throws" || behind == ":")

	return f
}

// isChanged says whether a name is bound or changed where it stands, beside assignments.
func (c *constants) isChanged(i int) bool {
	next := c.at(i + 1)
	return c.at(i-1).changesNext || next.changesPrevious ||
		next.text == "<<" && c.Language == syntax.Named("ruby") ||
		next.joins && strings.HasSuffix(c.at(i+2).text, "!")
}

// assign notes what the statement assigns whose operator is a token.
func (c *constants) assign(f *frame, i int) {
	target := i - 1
	if f.typed >= 0 {
		target = f.typed
	} else if declared := c.at(f.start).text; c.Language == syntax.Named("go") &&
		(declared == "var" || declared == "const") && c.isName(f.start+1) {
		target = f.start + 1
	}
	if f.several || !c.isName(target) {
		for k := f.start; k < i; k++ {
			if c.isName(k) {
				c.vary(c.words[k])
			}
		}
		return
	}

	b := c.words[target]
	b.assigned = true
	if f.declares {
		c.vary(b)
	}
	k := i + 1
	for ; k < len(c.Tokens) && !c.endsValue(k, i); k++ {
		t := c.Tokens[k]
		isGroup := t.Kind == syntax.Open && t.Bracket != '(' && t.Bracket != syntax.Quote && t.Bracket != syntax.Hole
		switch {
		case c.isName(k) && c.isUse(k):
			used := c.words[k]
			used.users = append(used.users, b)
			if used.varies {
				c.vary(b)
			}
		case isGroup || c.isAssignment(k) || !c.isConstant(k):
			c.vary(b)
			return
		}
	}
	if k == i+1 {
		c.vary(b)
	}
}

// endsValue says whether the value that is assigned ends before a token.
func (c *constants) endsValue(k, operator int) bool {
	t := c.Tokens[k]
	return t.Kind == syntax.Close && int(t.Pair) < operator || t.Kind == syntax.LineEnd ||
		t.Kind == syntax.Operator && (c.at(k).text == ";" || c.at(k).text == ",")
}
