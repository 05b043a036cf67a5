package suppress

import "bytes"

// openers are how comments begin that end with their line.
var openers = [...]string{"//", "--", "#", ";", "%", "!"}

// Bare returns a line without the comment that is beside something else on it,
// so that what the comment accepts is recognised as what it was without. Space
// that was between them may stay. One with a mistake accepts nothing and may be
// code, so it stays.
func Bare(line []byte) []byte {
	d, ok := Parse(line)
	if !ok || d.Alone || d.Mistake != "" {
		return line
	}
	before, after := bytes.TrimRight(line[:d.Start], " \t"), bytes.TrimLeft(line[d.End:], " \t")
	for _, p := range pairs {
		opened, isOpen := bytes.CutSuffix(before, []byte(p[0]))
		closed, isClosed := bytes.CutPrefix(after, []byte(p[1]))
		if isOpen && isClosed {
			return bytes.Join([][]byte{opened, closed}, nil)
		}
	}
	for _, opener := range openers {
		if bytes.HasSuffix(before, []byte(opener)) {
			before = bytes.TrimRight(before, opener) // all of `;;` and `///`
			break
		}
	}
	return bytes.Join([][]byte{before, after}, nil)
}
