package ngram

// symbols is the size of the alphabet that bytes are reduced to.
const symbols = 64

// The order is of no meaning, except that it is part of the table's format.
const (
	symControl  = iota // line feed, carriage return and all other ASCII controls but tab
	symTab             //
	symDigit           // 0 to 9
	symTrailing        // 0x80 to 0xbf: the bytes of a UTF-8 character after its first
	symLeading         // 0xc0 to 0xff: the first byte of a UTF-8 character
	symLetter          // and the 25 after it: a to z, and A to Z like them
	symMark     = symLetter + 26
)

// marks are the bytes that have a symbol each, beginning at symMark.
const marks = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// symbolOf returns the symbol of a byte. Upper-case letters have that of their
// lower-case ones.
func symbolOf(b byte) uint8 {
	switch {
	case b == '\t':
		return symTab
	case b < ' ' || b == 0x7f:
		return symControl
	case '0' <= b && b <= '9':
		return symDigit
	case 'a' <= b && b <= 'z':
		return symLetter + b - 'a'
	case 'A' <= b && b <= 'Z':
		return symLetter + b - 'A'
	case b >= 0xc0:
		return symLeading
	case b >= 0x80:
		return symTrailing
	}
	for i := range len(marks) {
		if marks[i] == b {
			return uint8(symMark + i)
		}
	}
	panic("ngram: a byte has no symbol")
}

// inNames says whether the bytes of a symbol are letters, digits or underscores.
func inNames(symbol uint8) bool {
	return symbol == symDigit || symLetter <= symbol && symbol < symMark || symbol == symbolOf('_')
}

// fold returns the lower-case letter of an upper-case one, and any other byte
// as it is.
func fold(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
