package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// pair is a changed file as git pairs it: with what it was before, which may
// have had another name.
type pair struct {
	path             string // at head
	oldMode, newMode mode
	old, now         OID // noOID when there was none
	oldSize, size    int64
}

// readRaw reads the output of `git diff-tree -r -M --raw -z --no-abbrev` and
// calls got for each file that is still there.
func readRaw(r *bufio.Reader, got func(pair)) error {
	for {
		meta, err := readNUL(r)
		if errors.Is(err, io.EOF) && meta == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("gitrepo: raw diff: %w", err)
		}
		p, status, err := parseMeta(meta)
		if err != nil {
			return err
		}
		if p.path, err = readNUL(r); err != nil {
			return fmt.Errorf("gitrepo: raw diff: %w", err)
		}
		if status == 'R' || status == 'C' {
			if p.path, err = readNUL(r); err != nil {
				return fmt.Errorf("gitrepo: raw diff: %w", err)
			}
		}
		if status != 'D' {
			got(p)
		}
	}
}

// parseMeta reads such as `:100644 100644 <oid> <oid> R086`.
func parseMeta(meta string) (p pair, status byte, err error) {
	fields := strings.Split(meta, " ")
	if len(fields) != 5 || len(fields[0]) < 2 || fields[0][0] != ':' || fields[4] == "" {
		return p, 0, fmt.Errorf("gitrepo: raw diff has the line %q", meta)
	}
	oldMode, err1 := strconv.ParseUint(fields[0][1:], 8, 32)
	newMode, err2 := strconv.ParseUint(fields[1], 8, 32)
	var err3, err4 error
	p.old, err3 = parseOID(fields[2])
	p.now, err4 = parseOID(fields[3])
	p.oldMode, p.newMode = mode(oldMode), mode(newMode)
	return p, fields[4][0], errors.Join(err1, err2, err3, err4)
}

func readNUL(r *bufio.Reader) (string, error) {
	data, err := r.ReadBytes(0)
	return string(bytes.TrimSuffix(data, []byte{0})), err
}
