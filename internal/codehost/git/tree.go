package git

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
)

// mode is the mode of a tree entry.
type mode uint32

// The types of entries, mode&typeMask.
const (
	typeMask    mode = 0o170000
	typeTree    mode = 0o040000
	typeFile    mode = 0o100000
	typeSymlink mode = 0o120000
	typeGitlink mode = 0o160000
)

func (m mode) kind() mode { return m & typeMask }

// canonical is the mode as git sees it: of a file's permissions only whether
// its owner may execute it.
func (m mode) canonical() mode {
	switch {
	case m.kind() != typeFile:
		return m.kind()
	case m&0o100 != 0:
		return typeFile | 0o755
	}
	return typeFile | 0o644
}

// blob tells whether an entry is a file or a symlink.
func (m mode) blob() bool { return m.kind() == typeFile || m.kind() == typeSymlink }

// entry is one name in a directory.
type entry struct {
	name string
	mode mode
	oid  OID
}

// line is an entry as a tree object has it: name and oid are parts of the
// object, which may be large.
type line struct {
	name []byte
	mode mode
	oid  []byte
}

// object is the name of what l leads to, or "" when l is no line.
func (l line) object() OID { return OID(hex.EncodeToString(l.oid)) }

// treeReader reads a tree object entry by entry, so that a tree takes no more
// memory than its object.
type treeReader struct {
	data  []byte
	last  line
	files [][]byte // names of files that a directory yet to come may have again
}

// next returns the next entry; ok is false at the end. Names that git's fsck
// refuses, wrong order and duplicates are errors that wrap errDamaged.
func (t *treeReader) next() (l line, ok bool, err error) {
	if len(t.data) == 0 {
		return line{}, false, nil
	}
	bad := func(why string) (line, bool, error) {
		return line{}, false, fmt.Errorf("%w: a tree has %s", errDamaged, why)
	}
	space := bytes.IndexByte(t.data, ' ')
	if space < 1 || space > 7 {
		return bad("an invalid mode")
	}
	for _, c := range t.data[:space] {
		if c < '0' || c > '7' {
			return bad("an invalid mode")
		}
		l.mode = l.mode<<3 | mode(c-'0')
	}
	rest := t.data[space+1:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 || len(rest) < end+1+oidSize/2 {
		return bad("an end too early")
	}
	l.name, l.oid = rest[:end], rest[end+1:end+1+oidSize/2]
	t.data = rest[end+1+oidSize/2:]
	switch l.mode.kind() {
	case typeTree, typeFile, typeSymlink, typeGitlink:
	default:
		return bad("an invalid mode")
	}
	if why := badName(l); why != "" {
		return bad(why)
	}
	if t.last.name != nil && compareNames(t.last, l) >= 0 {
		return bad("entries out of order")
	}
	if t.twice(l) {
		return bad("a name twice")
	}
	t.last = l
	return l, true, nil
}

// twice tells whether the directory l has the name of a file before it. `a`
// and the directory `a` sort apart, but only names that begin with `a` come
// between: so files holds names of which each begins with the one before.
func (t *treeReader) twice(l line) bool {
	for n := len(t.files); n > 0 && !bytes.HasPrefix(l.name, t.files[n-1]); n-- {
		t.files = t.files[:n-1]
	}
	if l.mode.kind() != typeTree {
		t.files = append(t.files, l.name)
		return false
	}
	n := len(t.files)
	return n > 0 && len(t.files[n-1]) == len(l.name)
}

// compareNames is the order of entries in a tree: directories sort as if their
// names ended in `/`.
func compareNames(a, b line) int {
	n := min(len(a.name), len(b.name))
	if c := bytes.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(a.after(n), b.after(n))
}

// after is the byte of the name at n, its length or less: 0 past the end, and
// `/` past a directory's.
func (l line) after(n int) byte {
	switch {
	case n < len(l.name):
		return l.name[n]
	case l.mode.kind() == typeTree:
		return '/'
	}
	return 0
}

func badName(l line) string {
	switch {
	case len(l.name) == 0:
		return "an empty name"
	case string(l.name) == "." || string(l.name) == "..":
		return "the name " + string(l.name)
	case bytes.IndexByte(l.name, '/') >= 0:
		return "a name with a slash"
	case bytes.EqualFold(l.name, []byte(".git")):
		return "the name .git"
	case bytes.EqualFold(l.name, []byte(".gitmodules")) && l.mode.kind() == typeSymlink:
		return "a symlink .gitmodules"
	}
	return ""
}
