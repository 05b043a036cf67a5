package taint

import (
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// block looks at words that begin and end blocks, in Ruby and in shells, and says
// whether nothing else is to be done.
func (w *walker) block(i int, text []byte) bool {
	s := w.top()
	if w.sigil {
		return w.shellBlock(i, text)
	}
	isOperand := i == int(s.start)
	if i > 0 {
		before := w.tokens[i-1].Kind
		isOperand = isOperand || before == syntax.Operator || before == syntax.Open || before == syntax.LineEnd ||
			beforeOperand.has(w.of(i-1))
	}
	switch word := string(text); word {
	case "if", "unless", "while", "until", "for", "case":
		if !isOperand {
			w.flush(i, int(s.pending), true)
			s.exits = s.exits && s.frame != ofBranch
			return true // behind a statement
		}
		loops := looping.has(text)
		isFor := word == "for"
		w.begin(i, controlOf(text) == choosing || word == "case")
		w.top().isFor = isFor
		if loops {
			w.top().control = sometimes // until `do`
		}
	case "do":
		if s.kind == byWords && s.control == sometimes {
			w.nextStatement(i)
			return true
		}
		w.begin(i, false)
	case "begin", "class", "module":
		if isOperand {
			w.pushScope(i, byWords)
		}
	case "then":
		w.nextStatement(i)
	case "else", "elsif", "when", "rescue":
		w.nextStatement(i)
		w.split(word == "else")
		w.top().exits = false
	case "end":
		if k := len(w.scopes); k > 1 && s.kind == byWords {
			w.pop(i)
			w.nextStatement(i)
		}
	case "return", "raise":
		if i == int(s.start) {
			w.noteExit(i)
		}
	default:
		return false
	}

	return true
}

// begin begins a block of words that may be executed.
func (w *walker) begin(i int, isSwitch bool) {
	w.pushScope(i, byWords)
	c := sometimes
	if isSwitch {
		c = choosing
	}
	w.branch(c, -1)
}

// nextStatement has a statement begin behind a word.
func (w *walker) nextStatement(i int) {
	s := w.top()
	w.flush(i, int(s.pending), false)
	s.start, s.left, s.control, s.isFor = int32(i+1), int32(i+1), always, false
}

// shellBlock is block for shells.
func (w *walker) shellBlock(i int, text []byte) bool {
	s := w.top()
	isCommand := i == int(s.start) || i > 0 && beforeCommand.has(w.of(i-1))
	word := string(text)
	if !isCommand && word != "in" {
		return false
	}
	switch word {
	case "if", "case":
		w.begin(i, word == "case")
	case "for", "while", "until", "select":
		s.isFor = word == "for"
	case "then":
		w.nextStatement(i)
	case "do":
		w.begin(i, false)
	case "else", "elif":
		w.nextStatement(i)
		w.split(word == "else")
	case "fi", "esac", "done":
		if len(w.scopes) > 1 && s.kind == byWords {
			w.pop(i)
			w.nextStatement(i)
		}
	default:
		return false
	}

	return true
}

// blockParams looks at the parameters of a block of Ruby.
func (w *walker) blockParams(i int) {
	from := w.called[w.top().open]
	for k := i + 1; k < min(i+maxHeader, len(w.tokens)) && !w.is(k, "|") && w.step(1); k++ {
		if w.tokens[k].Kind != syntax.Name {
			continue
		}
		node := int32(0)
		if from != 0 {
			node = w.addNode(structure.Range{From: k, To: k + 1}, from)
		}
		w.set(w.makePath(0, w.name(k)), node, w.isDeep())
	}
	w.top().left = int32(i + 1)
}
