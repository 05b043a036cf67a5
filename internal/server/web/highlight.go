package web

import (
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// token is a part of a line with the class of its colour; "" for none.
type token struct{ class, text string }

// classOf maps chroma's kinds to the classes that the style sheet has.
func classOf(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.KeywordType:
		return "t"
	case t.InCategory(chroma.Keyword):
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "n"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameDecorator:
		return "f"
	case t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameBuiltin, t == chroma.NameClass:
		return "t"
	case t.InCategory(chroma.Operator):
		return "o"
	}

	return ""
}

// maxHighlight is up to how many bytes lines are coloured at once: it takes a
// millisecond for some thousand bytes.
const maxHighlight = 128 << 10

// highlight gives lines their tokens. Each side is read by itself, so that removed
// lines can't confuse what is read of those that are there.
func highlight(file string, rows []tableRow) {
	for _, skip := range []prwardenv1.DiffLine_Kind{prwardenv1.DiffLine_added, prwardenv1.DiffLine_removed} {
		var text strings.Builder
		var side []int
		has := false // lines that only this side has
		for i, row := range rows {
			if row.GetKind() == skip {
				continue
			}
			text.WriteString(row.GetText())
			text.WriteByte('\n')
			side = append(side, i)
			has = has || row.GetKind() != prwardenv1.DiffLine_context || skip == prwardenv1.DiffLine_removed
		}
		if !has || text.Len() > maxHighlight {
			continue
		}
		for n, tokens := range coloured.lines(file, text.String()) {
			if n < len(side) {
				rows[side[n]].tokens = tokens
			}
		}
	}
}

// coloured are the tokens of texts that were shown lately.
var coloured = colours{known: map[string][][]token{}}

// colours remembers the tokens of texts, since finding them takes longer than all the
// rest of a page. It forgets all of them when they are too many.
type colours struct {
	mu    sync.Mutex
	known map[string][][]token
	size  int
}

// maxColoured is how many bytes of text are remembered; their tokens take some ten
// times as much.
const maxColoured = 2 << 20

// lines returns the tokens of each line of a text; nil for a language that is not
// known.
func (c *colours) lines(file, text string) [][]token {
	lexer := lexerOf(file)
	if lexer == nil {
		return nil
	}
	key := lexer.Config().Name + "\x00" + text
	c.mu.Lock()
	lines, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return lines
	}

	lines = tokenise(lexer, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(text); c.size > maxColoured {
		c.known, c.size = map[string][][]token{}, len(text)
	}
	c.known[key] = lines

	return lines
}

// lexerOf finds the lexer of a file by its name. Asking chroma takes a millisecond.
func lexerOf(file string) chroma.Lexer {
	name := path.Base(file)
	if l := lexersByName()[name]; l != nil {
		return l
	}

	return lexersByName()["*"+path.Ext(name)]
}

// lexersByName are the lexers by the names that they are for: of files, or `*` and an
// ending.
var lexersByName = sync.OnceValue(func() map[string]chroma.Lexer {
	all := map[string]chroma.Lexer{}
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		for _, name := range l.Config().Filenames {
			if before := all[name]; before == nil || before.Config().Priority < l.Config().Priority {
				all[name] = chroma.Coalesce(l)
			}
		}
	}

	return all
})

// maxTokenise bounds how long a text is read: lexers are slow with some texts, which a
// pull request may bring.
const maxTokenise = 50 * time.Millisecond

// tokenise divides a text into lines of tokens. A text that the lexer can't read, or not
// in time, has none.
func tokenise(lexer chroma.Lexer, text string) (lines [][]token) {
	defer func() {
		if recover() != nil { // a lexer may not be ready for every text
			lines = nil
		}
	}()
	began := time.Now()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var line []token
	for t := next(); t != chroma.EOF; t = next() {
		if time.Since(began) > maxTokenise {
			return nil
		}
		class, value := classOf(t.Type), t.Value
		for {
			part, rest, ended := strings.Cut(value, "\n")
			if part != "" {
				line = append(line, token{class, part})
			}
			if !ended {
				break
			}
			lines, line, value = append(lines, line), nil, rest
		}
	}

	return append(lines, line)
}
