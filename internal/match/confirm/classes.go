package confirm

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// endClass is the class of the end of the text.
	endClass = 0
	// wide stands in the table of bytes for those that do not tell the class by
	// themselves: "\r" of a line, and the bytes of characters beyond ASCII.
	wide = 0xFF
	// minCopied is the length of a class from which on its copies are looked for.
	minCopied = 8
	// maxClasses bounds the classes of a pattern; few have more than 30.
	maxClasses = 200
)

// classes divides the characters into those that a program can't tell apart.
type classes struct {
	bytes  [256]uint8 // class of an ASCII character, or wide
	cr     uint8      // class of "\r", which may be of the line's ending instead
	bounds []rune     // first characters of the ranges beyond ASCII, ascending
	of     []uint8    // class of each of these ranges
	runes  []rune     // by class: one of its characters
	text   bool       // it is for texts of several lines
}

// readers returns the instructions of a program that read characters, the places
// between characters at which one may change its mind, and whether there are \b or \B.
func readers(prog *syntax.Prog) (consuming []*syntax.Inst, bounds []rune, words bool) {
	copies := map[*rune]bool{} // a repetition has many instructions with one class
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		if len(inst.Rune) >= minCopied {
			if copies[&inst.Rune[0]] {
				continue
			}
			copies[&inst.Rune[0]] = true
		}
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			consuming = append(consuming, inst)
			bounds = appendBounds(bounds, inst)
		case syntax.InstRuneAny:
			consuming = append(consuming, inst)
		case syntax.InstRuneAnyNotNL:
			consuming = append(consuming, inst)
			bounds = append(bounds, '\n', '\n'+1)
		case syntax.InstEmptyWidth:
			words = words || syntax.EmptyOp(inst.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	if words {
		bounds = append(bounds, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}

	return consuming, bounds, words
}

// newClasses finds the classes of a program for lines, or for texts of several; ok
// is false when they are too many.
func newClasses(prog *syntax.Prog, text bool) (c *classes, ok bool) {
	consuming, bounds, words := readers(prog)
	bounds = append(bounds, 0, utf8.RuneSelf)
	if text {
		bounds = append(bounds, '\n', '\n'+1)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)

	c = &classes{runes: []rune{-1}, text: text}
	known := map[string]uint8{}
	signature := make([]byte, len(consuming)/8+2)
	for i, r := range bounds {
		if r > unicode.MaxRune {
			break
		}
		clear(signature)
		for k, inst := range consuming {
			if inst.MatchRune(r) {
				signature[k/8] |= 1 << (k % 8)
			}
		}
		if words && syntax.IsWordChar(r) {
			signature[len(consuming)/8] |= 1 << (len(consuming) % 8)
		}
		if text && r == '\n' { // it ends a line, whatever instructions say of it
			signature[len(signature)-1] = 1
		}
		class, found := known[string(signature)]
		if !found {
			if len(c.runes) == maxClasses {
				return nil, false
			}
			class = uint8(len(c.runes))
			known[string(signature)] = class
			c.runes = append(c.runes, r)
		}
		if r >= utf8.RuneSelf {
			c.bounds, c.of = append(c.bounds, r), append(c.of, class)
			continue
		}
		end := rune(utf8.RuneSelf)
		if i+1 < len(bounds) {
			end = min(end, bounds[i+1])
		}
		for ; r < end; r++ {
			c.bytes[r] = class
		}
	}

	for b := utf8.RuneSelf; b < 256; b++ {
		c.bytes[b] = wide
	}
	if !text {
		c.bytes['\n'] = endClass
		c.cr, c.bytes['\r'] = c.bytes['\r'], wide
	}

	return c, true
}

// appendBounds adds the places between characters at which an instruction may
// change its mind.
func appendBounds(bounds []rune, inst *syntax.Inst) []rune {
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		bounds = append(bounds, r, r+1)
		if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				bounds = append(bounds, f, f+1)
			}
		}

		return bounds
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		bounds = append(bounds, inst.Rune[i], inst.Rune[i+1]+1)
	}

	return bounds
}

// at is the class of what is at text[i], where the class of the byte is
// wide, and the number of its bytes.
func (c *classes) at(text []byte, i int) (class uint8, width int) {
	if text[i] == '\r' {
		if i+1 < len(text) && text[i+1] == '\n' {
			return endClass, 0
		}

		return c.cr, 1
	}
	r, width := utf8.DecodeRune(text[i:])

	return c.beyond(r), width
}

// beyond is the class of a character beyond ASCII.
func (c *classes) beyond(r rune) uint8 {
	i, found := slices.BinarySearch(c.bounds, r)
	if !found {
		i--
	}

	return c.of[i]
}
