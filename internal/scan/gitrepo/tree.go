package gitrepo

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
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

// blob tells whether an entry is a file or a symlink.
func (m mode) blob() bool { return m.kind() == typeFile || m.kind() == typeSymlink }

// entry is one name in a directory.
type entry struct {
	name string
	mode mode
	oid  OID
}

// parseTree reads a tree object. Names that git's fsck refuses, wrong order
// and duplicates are errors that wrap errDamaged.
func parseTree(data []byte) ([]entry, error) {
	entries := make([]entry, 0, len(data)/36)
	bad := func(why string) ([]entry, error) {
		return nil, fmt.Errorf("%w: a tree has %s", errDamaged, why)
	}
	files := make(map[string]bool) // names of entries that are no directories
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		if space < 1 || space > 7 {
			return bad("an invalid mode")
		}
		var m mode
		for _, c := range data[:space] {
			if c < '0' || c > '7' {
				return bad("an invalid mode")
			}
			m = m<<3 | mode(c-'0')
		}
		data = data[space+1:]
		end := bytes.IndexByte(data, 0)
		if end < 0 || len(data) < end+1+oidSize/2 {
			return bad("an end too early")
		}
		e := entry{name: string(data[:end]), mode: m, oid: OID(hex.EncodeToString(data[end+1 : end+1+oidSize/2]))}
		data = data[end+1+oidSize/2:]
		switch m.kind() {
		case typeTree, typeFile, typeSymlink, typeGitlink:
		default:
			return bad("an invalid mode")
		}
		if why := badName(e); why != "" {
			return bad(why)
		}
		if n := len(entries); n > 0 && sortKey(entries[n-1]) >= sortKey(e) {
			return bad("entries out of order")
		}
		// `a` and the directory `a` sort apart, with such as `a.b` between.
		if e.mode.kind() == typeTree && files[e.name] {
			return bad("a name twice")
		}
		if e.mode.kind() != typeTree {
			files[e.name] = true
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// sortKey is what git sorts entries by: directories as if they ended in `/`.
func sortKey(e entry) string {
	if e.mode.kind() == typeTree {
		return e.name + "/"
	}
	return e.name
}

func badName(e entry) string {
	switch {
	case e.name == "":
		return "an empty name"
	case e.name == "." || e.name == "..":
		return "the name " + e.name
	case strings.Contains(e.name, "/"):
		return "a name with a slash"
	case strings.EqualFold(e.name, ".git"):
		return "the name .git"
	case strings.EqualFold(e.name, ".gitmodules") && e.mode.kind() == typeSymlink:
		return "a symlink .gitmodules"
	}
	return ""
}
