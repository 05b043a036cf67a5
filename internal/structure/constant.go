package structure

import (
	"strings"

	"github.com/prwarden/prwarden/internal/syntax"
)

// variables is, for each token, how many before it can't be a part of a constant.
func (f *File) variables() []int32 {
	if f.vary != nil {
		return f.vary
	}
	c := &constants{File: f, names: map[string]*binding{}}
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
	names  map[string]*binding
	work   []*binding // that vary, and whose users were not told
	frames []frame
}

// binding is what is known of a name.
type binding struct {
	assigned, varies bool
	users            []*binding // those that it is assigned to
}

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
	changesBefore = wordSet("++ -- & |")
	changesBehind = wordSet("++ -- => -> in of |")
	comparisons   = wordSet("== != === !== <= >=")
)

func wordSet(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}

	return all
}

func (c *constants) of(i int) *binding {
	name := string(c.Of(i))
	b := c.names[name]
	if b == nil {
		b = &binding{}
		c.names[name] = b
	}

	return b
}

func (c *constants) vary(b *binding) {
	if !b.varies {
		b.varies = true
		c.work = append(c.work, b)
	}
}

// spread has names vary that are assigned what varies.
func (c *constants) spread() {
	for _, b := range c.names {
		if !b.assigned {
			c.vary(b)
		}
	}
	for len(c.work) > 0 {
		b := c.work[len(c.work)-1]
		c.work = c.work[:len(c.work)-1]
		for _, user := range b.users {
			c.vary(user)
		}
	}
}

// word is the text of a token, "" for none.
func (c *constants) word(i int) string {
	if i < 0 || i >= len(c.Tokens) {
		return ""
	}

	return string(c.Of(i))
}

func (c *constants) isName(i int) bool {
	return i >= 0 && i < len(c.Tokens) && c.Tokens[i].Kind == syntax.Name && !c.Language.IsKeyword(c.Of(i)) &&
		!literalWords[c.word(i)] && !joiningWords[c.word(i)] && !c.Language.IsUnary(c.Of(i))
}

// isConstant says whether a token may be a part of a constant.
func (c *constants) isConstant(i int) bool {
	t, word := c.Tokens[i], c.word(i)
	switch t.Kind {
	case syntax.Name:
		if !c.isName(i) {
			return literalWords[word] || joiningWords[word]
		}
		b := c.names[word]
		return b != nil && !b.varies && !c.Language.Joins(c.word(i-1)) && !c.Language.Joins(c.word(i+1)) && c.word(i+1) != "("
	case syntax.Operator:
		return !c.Language.Joins(word) && !c.isAssignment(i) && word != "=>" && word != "->" && word != "<-"
	case syntax.Open:
		return t.Pair >= 0 && t.Bracket != syntax.Tag && t.Bracket != syntax.Indent
	}

	return true
}

func (c *constants) isAssignment(i int) bool {
	word := c.word(i)
	return c.Tokens[i].Kind == syntax.Operator && strings.HasSuffix(word, "=") && !comparisons[word]
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
		case t.Kind == syntax.LineEnd, c.word(i) == ";":
			*f = frame{start: i + 1, typed: -1, declares: f.declares && f.inCall, inCall: f.inCall}
		case c.word(i) == ",":
			f.several = true
		case c.word(i) == ":" && f.typed < 0 && c.isName(i-1):
			f.typed = i - 1
		case c.isAssignment(i) && !(f.inCall && !f.declares && c.namesArguments()):
			c.assign(f, i)
			*f = frame{start: i + 1, typed: -1, declares: f.declares, inCall: f.inCall}
		case t.Kind == syntax.Name:
			if bindingWords[c.word(i)] {
				f.declares = true
			}
			if c.isName(i) && (f.declares || c.isChanged(i)) {
				c.vary(c.of(i))
			} else if c.isName(i) {
				c.of(i)
			}
		}
	}
}

// namesArguments says whether `name =` in a call names an argument.
func (c *constants) namesArguments() bool {
	return c.Language == syntax.Named("python") || c.Language == syntax.Named("kotlin")
}

// bareParameters says whether functions may have no word before their names.
func (c *constants) bareParameters() bool {
	for _, name := range []string{"java", "c", "c#", "javascript", "typescript"} {
		if c.Language == syntax.Named(name) {
			return true
		}
	}

	return false
}

// enter is the frame of the brackets that a token opens.
func (c *constants) enter(around frame, i int) frame {
	t := c.Tokens[i]
	f := frame{start: i + 1, typed: -1}
	if t.Bracket != '(' && t.Bracket != '[' {
		f.declares = t.Bracket == '{' && around.several && around.declares && c.word(i-1) == "("
		return f
	}
	f.inCall = true
	before := c.word(i - 1)
	behind := c.word(int(t.Pair) + 1)
	isCall := c.isName(i - 1)
	f.declares = around.declares || behind == "=>" || behind == "->" || bindingWords[before] ||
		isCall && c.bareParameters() && (behind == "{" || behind == "throws" || behind == ":")

	return f
}

// isChanged says whether a name is bound or changed where it stands, beside assignments.
func (c *constants) isChanged(i int) bool {
	before, behind := c.word(i-1), c.word(i+1)
	return changesBefore[before] || changesBehind[behind] ||
		behind == "<<" && c.Language == syntax.Named("ruby") ||
		c.Language.Joins(behind) && strings.HasSuffix(c.word(i+2), "!")
}

// assign notes what the statement assigns whose operator is a token.
func (c *constants) assign(f *frame, i int) {
	target := i - 1
	if f.typed >= 0 {
		target = f.typed
	} else if declared := c.word(f.start); c.Language == syntax.Named("go") &&
		(declared == "var" || declared == "const") && c.isName(f.start+1) {
		target = f.start + 1
	}
	if f.several || !c.isName(target) {
		for k := f.start; k < i; k++ {
			if c.isName(k) {
				c.vary(c.of(k))
			}
		}
		return
	}

	b := c.of(target)
	b.assigned = true
	if f.declares {
		c.vary(b)
	}
	k := i + 1
	for ; k < len(c.Tokens) && !c.endsValue(k, i); k++ {
		t := c.Tokens[k]
		isGroup := t.Kind == syntax.Open && t.Bracket != '(' && t.Bracket != syntax.Quote && t.Bracket != syntax.Hole
		isUse := c.isName(k) && !c.Language.Joins(c.word(k-1)) && !c.Language.Joins(c.word(k+1)) && c.word(k+1) != "("
		switch {
		case isUse:
			used := c.of(k)
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
		t.Kind == syntax.Operator && (c.word(k) == ";" || c.word(k) == ",")
}
