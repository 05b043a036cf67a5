package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// repo is a repository that one scan reads. It is not safe for concurrent use.
type repo struct {
	git       *git
	dir       string
	objects   *objects
	comparing *process // compares trees when it is told which
	prefetch  []string // see Options
	target    scan.Target
	remote    Remote
	fetch     func(ctx context.Context, c *command) error // nil for a repository that fetches nothing
	fail      func(ctx context.Context, err error) error  // says what an error met after Open means
	grew      func(bytes int64)                           // hears how much a comparison stores
	release   func() error
}

func newRepo(g *git, dir string) *repo {
	return &repo{git: g, dir: dir, objects: &objects{git: g, dir: dir}, grew: func(int64) {}}
}

// start starts the processes that every scan needs.
func (r *repo) start(ctx context.Context) (err error) {
	if err := r.objects.open(ctx); err != nil {
		return err
	}
	r.comparing, err = r.git.start(ctx, r.dir, listFiles("--no-renames"))
	return err
}

// close frees the processes and the repository. It can be called again.
func (r *repo) close() error {
	r.objects.close()
	if r.comparing != nil {
		r.comparing.kill()
	}
	return r.release()
}

// objects reads objects of one repository through a single
// `git cat-file --batch-command`, which is started when needed. It is not safe
// for concurrent use.
type objects struct {
	git  *git
	dir  string
	proc *process
	out  *bufio.Reader
}

// object is what is known of an object without its content.
type object struct {
	oid  OID
	kind string // commit, tree, blob or tag; "" when the repository does not have it
	size int64
}

// open starts the process. Canceling ctx ends it.
func (o *objects) open(ctx context.Context) error {
	if o.proc != nil {
		return nil
	}
	p, err := o.git.start(ctx, o.dir, newCommand("cat-file", "--batch-command"))
	if err != nil {
		return err
	}
	o.proc, o.out = p, bufio.NewReaderSize(p.stdout, 64<<10)
	return nil
}

// close ends the process.
func (o *objects) close() {
	if o.proc != nil {
		o.proc.kill()
		o.proc = nil
	}
}

// query is what cat-file can be asked about objects.
type query string

const (
	queryInfo     query = "info "
	queryContents query = "contents "
)

// batch is one query about many objects. git works ahead of what is read.
type batch struct {
	objects *objects
	query   query
	left    int // answers to read
}

func (o *objects) batch(ctx context.Context, q query, names []string) (*batch, error) {
	if err := o.open(ctx); err != nil {
		return nil, err
	}

	stdin := o.proc.stdin
	go func() { // git stops reading while its answers are not read
		w := bufio.NewWriterSize(stdin, 16<<10)
		for _, name := range names {
			_, _ = w.WriteString(string(q) + name + "\n")
		}
		_ = w.Flush() // where it fails, an answer is missing
	}()
	return &batch{objects: o, query: q, left: len(names)}, nil
}

// next hands the next answer to use, which may leave a part of the content. After
// an error the process is ended, and the next query starts another.
func (b *batch) next(ctx context.Context, use func(object, io.Reader) error) error {
	b.left--
	err := b.answer(use)
	p := b.objects.proc
	if err == nil || p == nil {
		return err
	}

	b.objects.proc = nil
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if died := p.wait(ctx); died != nil { // it says why
			return died
		}
	}
	p.kill()
	return err
}

// end ends the process when answers are left that nobody reads.
func (b *batch) end() {
	if b.left > 0 {
		b.objects.close()
	}
}

func (b *batch) answer(use func(object, io.Reader) error) error {
	out := b.objects.out
	line, err := out.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("git: cat-file: %w", err)
	}
	obj, err := parseObject(string(line))
	if err != nil {
		return err
	}

	if b.query == queryInfo || obj.kind == "" {
		return use(obj, bytes.NewReader(nil))
	}

	content := &io.LimitedReader{R: out, N: obj.size}
	if err := use(obj, content); err != nil {
		return err
	}
	if _, err := out.Discard(int(content.N) + 1); err != nil { // and the newline
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
	if len(fields) != 3 {
		return object{}, fmt.Errorf("%w: cat-file said %q", errDamaged, line)
	}

	oid, err := parseOID(fields[0])
	if err != nil {
		return object{}, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return object{}, fmt.Errorf("%w: cat-file said %q", errDamaged, line)
	}
	return object{oid: oid, kind: fields[1], size: size}, nil
}

// info returns what is known of an object, or of what a ref leads to.
func (o *objects) info(ctx context.Context, name string) (found object, err error) {
	b, err := o.batch(ctx, queryInfo, []string{name})
	if err != nil {
		return object{}, err
	}
	err = b.next(ctx, func(obj object, _ io.Reader) error {
		found = obj
		return nil
	})

	return found, err
}

// read returns the content of an object of the given kind. Over limit bytes it
// returns the first limit+1.
func (o *objects) read(ctx context.Context, oid OID, kind string, limit int64) (data []byte, err error) {
	b, err := o.batch(ctx, queryContents, []string{string(oid)})
	if err != nil {
		return nil, err
	}
	err = b.next(ctx, func(obj object, content io.Reader) error {
		data, err = obj.read(kind, content, limit+1)
		return err
	})

	return data, err
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

// findEntry finds a name in the content of a tree object: entries of a mode in
// octal digits, a space, a name, a zero and an object's name in binary.
func findEntry(tree []byte, name string) (found entry, ok bool, err error) {
	const rawSize = oidSize / 2
	for len(tree) > 0 {
		header, rest, ended := bytes.Cut(tree, []byte{0})
		digits, entryName, spaced := bytes.Cut(header, []byte{' '})
		if !ended || !spaced || len(rest) < rawSize {
			return entry{}, false, fmt.Errorf("%w: a tree is cut off", errDamaged)
		}

		if string(entryName) == name {
			bits, err := strconv.ParseUint(string(digits), 8, 32)
			if err != nil {
				return entry{}, false, fmt.Errorf("%w: a tree has an invalid mode", errDamaged)
			}
			return entry{name: name, mode: mode(bits), oid: OID(hex.EncodeToString(rest[:rawSize]))}, true, nil
		}
		tree = rest[rawSize:]
	}

	return entry{}, false, nil
}

// maxTree is the largest directory that a file is looked up in, in bytes.
const maxTree = 32 << 20

// file finds the content of a regular file in a tree; "" when there is none. The
// path is taken apart here, because in a query to git parts of it could mean
// something else.
func (o *objects) file(ctx context.Context, tree OID, path string) (OID, error) {
	found := entry{mode: typeTree, oid: tree}
	for part := range strings.SplitSeq(path, "/") {
		if found.mode.kind() != typeTree {
			return "", nil
		}
		data, err := o.read(ctx, found.oid, "tree", maxTree)
		if err != nil {
			return "", err
		}
		if len(data) > maxTree {
			return "", tooLarge("A directory of the repository is larger than %d bytes.", maxTree)
		}
		var ok bool
		if found, ok, err = findEntry(data, part); err != nil || !ok {
			return "", err
		}
	}

	if found.mode.kind() != typeFile {
		return "", nil
	}
	return found.oid, nil
}

// ensure fetches those of blobs that are not here, and returns the sizes of all.
func (r *repo) ensure(ctx context.Context, blobs []OID) (map[OID]int64, error) {
	slices.Sort(blobs)
	blobs = slices.Compact(blobs)
	sizes := make(map[OID]int64, len(blobs))
	missing, err := r.sizes(ctx, blobs, sizes)
	if err != nil || len(missing) == 0 {
		return sizes, err
	}

	if err := r.fetchObjects(ctx, missing); err != nil {
		return nil, err
	}
	missing, err = r.sizes(ctx, missing, sizes)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: the remote did not send %s", errDamaged, missing[0])
	}
	return sizes, err
}

// sizes puts the sizes of those of blobs that are here into into, and returns
// the others.
func (r *repo) sizes(ctx context.Context, blobs []OID, into map[OID]int64) (missing []OID, err error) {
	defer scan.Begin(ctx, scan.PhaseCompare)()
	b, err := r.objects.batch(ctx, queryInfo, names(blobs))
	if err != nil {
		return nil, err
	}

	for _, oid := range blobs {
		err := b.next(ctx, func(obj object, _ io.Reader) error {
			switch obj.kind {
			case "":
				missing = append(missing, oid)
			case "blob":
				into[oid] = obj.size
			default:
				return fmt.Errorf("%w: %s is a %s and should be a blob", errDamaged, oid, obj.kind)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	return missing, nil
}

// names are object names as a query has them.
func names(oids []OID) []string {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = string(oid)
	}
	return list
}

// fetchObjects fetches objects by their names.
func (r *repo) fetchObjects(ctx context.Context, oids []OID) error {
	if r.fetch == nil {
		return lasting(scan.CodeRepositoryInvalid, "The repository lacks %d of the objects to compare, such as %s. "+
			"Of a partial clone, fetch them first: `git diff` of the same does.", len(oids), oids[0])
	}

	c := newFetch(r.remote, "--stdin")
	c.set("fetch.negotiationAlgorithm", "noop")
	c.stdin = strings.NewReader(strings.Join(names(oids), "\n") + "\n")
	return r.fetch(ctx, c)
}
