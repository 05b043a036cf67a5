package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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

func (o *objects) open(ctx context.Context) error {
	if o.proc != nil {
		return nil
	}
	// The process outlives this call's ctx; batch ends it with a later one.
	p, err := o.git.start(context.WithoutCancel(ctx), o.dir, newCommand("cat-file", "--batch-command"))
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

// batch puts one query about many objects, and hands the answers to use in
// their order. The reader has the content, of which use may leave a part. After
// an error the process is ended, and the next query starts another.
func (o *objects) batch(ctx context.Context, q query, names []string, use func(object, io.Reader) error) error {
	if len(names) == 0 {
		return nil
	}
	if err := o.open(ctx); err != nil {
		return err
	}

	p := o.proc
	stop := context.AfterFunc(ctx, p.cancel)
	go func() { // git stops reading while its answers are not read
		w := bufio.NewWriterSize(p.stdin, 16<<10)
		for _, name := range names {
			_, _ = w.WriteString(string(q) + name + "\n")
		}
		_ = w.Flush() // where it fails, an answer is missing
	}()

	var err error
	for range names {
		if err = o.answer(q, use); err != nil {
			break
		}
	}
	if !stop() {
		o.close()
		return context.Cause(ctx)
	}
	if err == nil {
		return nil
	}

	o.proc = nil
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if died := p.wait(ctx); died != nil { // it says why
			return died
		}
	}
	p.kill()
	return err
}

// answer reads one answer.
func (o *objects) answer(q query, use func(object, io.Reader) error) error {
	obj, err := o.header()
	if err != nil {
		return err
	}
	if q == queryInfo || obj.kind == "" {
		return use(obj, bytes.NewReader(nil))
	}

	content := &io.LimitedReader{R: o.out, N: obj.size}
	if err := use(obj, content); err != nil {
		return err
	}
	if _, err := o.out.Discard(int(content.N) + 1); err != nil { // and the newline
		return fmt.Errorf("git: cat-file: %w", err)
	}
	return nil
}

// header reads the line that begins an answer.
func (o *objects) header() (object, error) {
	line, err := o.out.ReadSlice('\n')
	if err != nil {
		return object{}, fmt.Errorf("git: cat-file: %w", err)
	}

	fields := strings.Fields(string(line))
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

// info returns what is known of an object, or of what a ref of this package
// leads to.
func (o *objects) info(ctx context.Context, name string) (found object, err error) {
	err = o.batch(ctx, queryInfo, []string{name}, func(obj object, _ io.Reader) error {
		found = obj
		return nil
	})
	return found, err
}

// read returns the content of an object of the given kind. Over limit bytes it
// returns the first limit+1; the size is the whole.
func (o *objects) read(ctx context.Context, oid OID, kind string, limit int64) (data []byte, size int64, err error) {
	err = o.batch(ctx, queryContents, []string{string(oid)}, func(obj object, content io.Reader) error {
		size = obj.size
		data = make([]byte, min(obj.size, limit+1))
		return obj.read(kind, content, data)
	})
	return data, size, err
}

// read fills data with the beginning of an object's content, which must be of
// the given kind.
func (obj object) read(kind string, content io.Reader, data []byte) error {
	switch obj.kind {
	case kind:
	case "":
		return fmt.Errorf("%w: a %s is missing", errDamaged, kind)
	default:
		return fmt.Errorf("%w: %s is a %s and should be a %s", errDamaged, obj.oid, obj.kind, kind)
	}
	if _, err := io.ReadFull(content, data); err != nil {
		return fmt.Errorf("git: cat-file: %w", err)
	}
	return nil
}

// maxTree is the largest directory that a file is looked up in, in bytes.
const maxTree = 32 << 20

// lookup finds a path in a tree. The path is taken apart here, because in a
// query to git parts of it could mean something else.
func (o *objects) lookup(ctx context.Context, tree OID, path string) (found entry, ok bool, err error) {
	found = entry{mode: typeTree, oid: tree}
	for part := range strings.SplitSeq(path, "/") {
		if found.mode.kind() != typeTree {
			return entry{}, false, nil
		}
		data, size, err := o.read(ctx, found.oid, "tree", maxTree)
		if err != nil {
			return entry{}, false, err
		}
		if size > maxTree {
			return entry{}, false, tooLarge("A directory of the repository is larger than %d bytes.", maxTree)
		}
		if found, ok, err = findEntry(data, part); err != nil || !ok {
			return entry{}, false, err
		}
	}
	return found, true, nil
}
