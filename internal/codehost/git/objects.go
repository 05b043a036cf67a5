package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/scan"
)

// repo is a repository that one scan reads. It is not safe for concurrent use.
type repo struct {
	git       *git
	reading   *process // git cat-file
	answers   *bufio.Reader
	asked     string   // what the answers are to
	comparing *process // compares trees when it is told which
	target    scan.Target
	remote    Remote
	fetch     func(ctx context.Context, c *command) error // nil for a repository that fetches nothing
	fail      func(ctx context.Context, err error) error  // says what an error met after Open means
	release   func() error
}

// start starts the processes that every scan needs. Canceling ctx ends them.
func (r *repo) start(ctx context.Context) (err error) {
	if r.reading, err = r.git.start(ctx, newCommand("cat-file", "--batch-command")); err != nil {
		return err
	}
	r.answers = bufio.NewReaderSize(r.reading.stdout, 64<<10)
	r.comparing, err = r.git.start(ctx, listFiles("--no-renames"))
	return err
}

// close frees the processes and the repository. It can be called again.
func (r *repo) close() error {
	for _, p := range []*process{r.reading, r.comparing} {
		if p != nil {
			p.kill()
		}
	}
	return r.release()
}

// object is what is known of an object without its content.
type object struct {
	oid  OID
	kind string // commit, tree, blob or tag; "" when the repository does not have it
	size int64
}

// What cat-file can be asked about objects.
const (
	queryInfo     = "info "
	queryContents = "contents "
)

// ask asks one query about many objects. git works ahead of what is read. next
// has to be called for each of them before anything else is asked.
func (r *repo) ask(query string, names ...OID) {
	r.asked = query
	go func() { // git stops reading while its answers are not read
		w := bufio.NewWriterSize(r.reading.stdin, 16<<10)
		for _, name := range names {
			_, _ = w.WriteString(query + string(name) + "\n")
		}
		_ = w.Flush() // where it fails, an answer is missing
	}()
}

// next hands the next answer to use, which may leave a part of the content.
func (r *repo) next(ctx context.Context, use func(object, io.Reader) error) error {
	err := r.answer(use)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if died := r.reading.wait(ctx); died != nil { // it says why
			return died
		}
	}
	return err
}

func (r *repo) answer(use func(object, io.Reader) error) error {
	line, err := r.answers.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("git: cat-file: %w", err)
	}
	obj, err := parseObject(string(line))
	if err != nil {
		return err
	}

	if r.asked == queryInfo || obj.kind == "" {
		return use(obj, bytes.NewReader(nil))
	}

	content := &io.LimitedReader{R: r.answers, N: obj.size}
	if err := use(obj, content); err != nil {
		return err
	}
	if _, err := r.answers.Discard(int(content.N) + 1); err != nil { // and the newline
		return fmt.Errorf("git: cat-file: %w", err)
	}
	return nil
}

// parseObject reads the line that begins an answer.
func parseObject(line string) (object, error) {
	fields := strings.Fields(line)
	if len(fields) == 2 && (fields[1] == "missing" || fields[1] == "ambiguous") {
		return object{}, nil
	}
	if len(fields) == 3 {
		oid, err := parseOID(fields[0])
		size, sizeErr := strconv.ParseInt(fields[2], 10, 64)
		if err == nil && sizeErr == nil && size >= 0 {
			return object{oid: oid, kind: fields[1], size: size}, nil
		}
	}
	return object{}, fmt.Errorf("%w: cat-file said %q", errDamaged, line)
}

// read returns the first bytes of an object's content, most at most. The object
// must be of the given kind.
func (obj object) read(kind string, content io.Reader, most int64) ([]byte, error) {
	if obj.kind != kind {
		return nil, fmt.Errorf("%w: %q is a %q and should be a %s", errDamaged, obj.oid, obj.kind, kind)
	}

	data := make([]byte, min(obj.size, most))
	if _, err := io.ReadFull(content, data); err != nil {
		return nil, fmt.Errorf("git: cat-file: %w", err)
	}
	return data, nil
}

// mode is the mode of a tree entry.
type mode uint32

// The types of entries.
const (
	typeMask    mode = 0o170000
	typeFile    mode = 0o100000
	typeSymlink mode = 0o120000
	typeGitlink mode = 0o160000
)

func (m mode) kind() mode { return m & typeMask }

// blob tells whether an entry is a file or a symlink.
func (m mode) blob() bool { return m.kind() == typeFile || m.kind() == typeSymlink }

// maxTree is the largest directory that a file is looked up in, in bytes.
const maxTree = 32 << 20

// file finds the content of a regular file in a tree; "" when there is none. Its
// directories are read one by one, because git has one word for what is not in a tree
// and for what is lost.
func (r *repo) file(ctx context.Context, tree OID, name string) (found OID, err error) {
	found, mode := tree, "40000"
	for part := range strings.SplitSeq(name, "/") {
		if mode != "40000" {
			return "", nil
		}
		var entry dirEntry
		entries, err := r.tree(ctx, found)
		if err == nil {
			entry, err = entryIn(entries, part)
		}
		if err != nil {
			return "", err
		}
		found, mode = entry.oid(), entry.mode
	}

	if !strings.HasPrefix(mode, "100") {
		return "", nil
	}
	return found, nil
}

// tree reads a directory.
func (r *repo) tree(ctx context.Context, oid OID) (entries string, err error) {
	r.ask(queryContents, oid)
	err = r.next(ctx, func(obj object, content io.Reader) error {
		if obj.size > maxTree {
			return tooLarge("A directory of the repository is larger than %d bytes.", maxTree)
		}
		data, err := obj.read("tree", content, maxTree)
		entries = string(data)
		return err
	})

	return entries, err
}

// dirEntry is an entry of a directory; the zero value is none.
type dirEntry struct {
	mode string // octal digits, without zeros before them
	raw  string // the object's name in binary
}

func (e dirEntry) oid() OID { return OID(hex.EncodeToString([]byte(e.raw))) }

// eachEntry hands over the entries of a tree object until use returns false: each is a
// mode, a space, a name, a zero and an object's name in binary.
func eachEntry(tree string, use func(name string, e dirEntry) bool) error {
	const rawSize = oidSize / 2
	for tree != "" {
		header, rest, ended := strings.Cut(tree, "\x00")
		if !ended || len(rest) < rawSize {
			return fmt.Errorf("%w: a tree is cut off", errDamaged)
		}
		mode, name, _ := strings.Cut(header, " ")
		if !use(name, dirEntry{strings.TrimLeft(mode, "0"), rest[:rawSize]}) {
			return nil
		}
		tree = rest[rawSize:]
	}

	return nil
}

// entryIn finds a name in a tree object.
func entryIn(tree, name string) (found dirEntry, err error) {
	err = eachEntry(tree, func(entry string, e dirEntry) bool {
		if entry == name {
			found = e
		}
		return entry != name
	})

	return found, err
}

// OID is the name of an object: 40 lower-case hexadecimal digits.
type OID string

// oidSize is the length of an OID.
const oidSize = 40

const (
	// noOID stands for "no object" in git's lists.
	noOID OID = "0000000000000000000000000000000000000000"
	// emptyTree is the tree without files, which git knows without storing it.
	emptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// parseOID checks that s names an object.
func parseOID(s string) (OID, error) {
	if len(s) != oidSize || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("git: %q is no object name", s)
	}
	return OID(s), nil
}

// raw is its binary form, as trees have it.
func (o OID) raw() []byte {
	raw, _ := hex.DecodeString(string(o)) // parseOID has checked it
	return raw
}

// Commit is a commit and what it leads to.
type Commit struct {
	OID     OID
	Tree    OID
	Parents []OID
	Author  string // the name
	Subject string // the first paragraph of the message
}

// maxCommit is the largest commit object that is read, in bytes.
const maxCommit = 1 << 20

// ref returns the commit that a ref leads to; found is false when there is no
// such ref.
func (r *repo) ref(ctx context.Context, name string) (c Commit, found bool, err error) {
	c, found, err = r.find(ctx, OID(name+"^{commit}"))
	if err == nil && !found && has(r.git.dir, name) {
		err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, name)
	}
	return c, found, err
}

// commit reads a commit that has to be there.
func (r *repo) commit(ctx context.Context, oid OID) (Commit, error) {
	c, found, err := r.find(ctx, oid)
	if err == nil && !found {
		err = fmt.Errorf("%w: %s should be a commit", errDamaged, oid)
	}
	return c, err
}

// find reads a commit; found is false when there is none of that name.
func (r *repo) find(ctx context.Context, name OID) (c Commit, found bool, err error) {
	r.ask(queryContents, name)
	err = r.next(ctx, func(obj object, content io.Reader) error {
		if obj.kind != "commit" {
			return nil
		}
		if obj.size > maxCommit {
			return fmt.Errorf("%w: commit %s is too large", errDamaged, obj.oid)
		}
		data, err := obj.read("commit", content, maxCommit)
		if err == nil {
			c, err = parseCommit(obj.oid, data)
		}
		found = err == nil
		return err
	})

	return c, found, err
}

// writeTree stores a tree of this content.
func (r *repo) writeTree(content []byte) (OID, error) {
	data := append(fmt.Appendf(nil, "tree %d\x00", len(content)), content...)
	sum := sha1.Sum(data) // what git calls objects by
	oid := hex.EncodeToString(sum[:])
	path := filepath.Join(r.git.dir, "objects", oid[:2], oid[2:])
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil { // it is there, and stays for another day
		return OID(oid), nil
	}

	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.NoCompression) // object names don't get smaller
	if err == nil {
		_, err = z.Write(data)
		err = errors.Join(err, z.Close())
	}
	if err == nil {
		err = writeFile(path, packed.Bytes())
	}

	if err != nil {
		return "", fmt.Errorf("git: tree: %w", err)
	}
	return OID(oid), nil
}

// writeFile makes a file appear at once and whole: others may read it now. Nothing
// is written where it is so already, because the disk may be full.
func writeFile(path string, data []byte) error {
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}

	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
