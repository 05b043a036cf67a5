package git

import (
	"bufio"
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
	git *git
	dir string
	// chdir is where the process runs, see command.
	chdir string
	proc  *process
	out   *bufio.Reader
}

// object is what is known of an object without its content.
type object struct {
	oid  OID
	kind string // commit, tree, blob or tag
	size int64
}

func (o *objects) open(ctx context.Context) error {
	if o.proc != nil {
		return nil
	}
	// The process outlives this call's ctx; guarded ends it with a later one.
	c := newCommand("cat-file", "--batch-command")
	c.chdir = o.chdir
	p, err := o.git.start(context.WithoutCancel(ctx), o.dir, c)
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

// guarded runs use, which talks to the process. When it fails or ctx ends the
// process is ended and the next use starts another.
func (o *objects) guarded(ctx context.Context, use func() error) error {
	if err := o.open(ctx); err != nil {
		return err
	}
	p := o.proc
	stop := context.AfterFunc(ctx, p.cancel)
	err := use()
	if !stop() {
		o.close()
		return context.Cause(ctx)
	}
	if err == nil || errors.Is(err, errMissing) || o.proc == nil {
		return err
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

// errMissing is for an object that the repository does not have.
var errMissing = fmt.Errorf("%w: missing", errDamaged)

// header reads the line that answers a question.
func (o *objects) header() (object, error) {
	line, err := o.out.ReadSlice('\n')
	if err != nil {
		return object{}, fmt.Errorf("gitrepo: cat-file: %w", err)
	}
	fields := strings.Fields(string(line))
	if len(fields) == 2 && (fields[1] == "missing" || fields[1] == "ambiguous") {
		return object{}, errMissing
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

// resolve returns what a ref of this package leads to, as a commit.
func (o *objects) resolve(ctx context.Context, ref string) (oid OID, found bool, err error) {
	err = o.guarded(ctx, func() error {
		if _, err := fmt.Fprintf(o.proc.stdin, "info %s^{commit}\n", ref); err != nil {
			return eof(err)
		}
		obj, err := o.header()
		oid = obj.oid
		return err
	})
	if errors.Is(err, errMissing) {
		return "", false, nil
	}
	return oid, err == nil, err
}

// read returns the content of an object of the given kind. Over limit bytes it
// returns the first limit+1; the size is the whole.
func (o *objects) read(ctx context.Context, oid OID, kind string, limit int64) (data []byte, size int64, err error) {
	err = o.guarded(ctx, func() error {
		if _, err := fmt.Fprintf(o.proc.stdin, "contents %s\n", oid); err != nil {
			return eof(err)
		}
		data, size, err = o.content(oid, kind, limit, newBuffer)
		return err
	})
	return data, size, err
}

// newBuffer makes n bytes.
func newBuffer(n int64) []byte { return make([]byte, n) }

// content reads the answer to `contents`, into bytes that buffer gives.
func (o *objects) content(oid OID, kind string, limit int64, buffer func(n int64) []byte) (data []byte, size int64, err error) {
	obj, err := o.header()
	if err != nil {
		return nil, 0, err
	}
	if obj.kind != kind {
		return nil, 0, fmt.Errorf("%w: %s is a %s and should be a %s", errDamaged, oid, obj.kind, kind)
	}
	data = buffer(min(obj.size, limit+1))
	if _, err := io.ReadFull(o.out, data); err != nil {
		return nil, 0, fmt.Errorf("gitrepo: cat-file: %w", err)
	}
	rest := obj.size - int64(len(data)) + 1 // and the newline
	if rest <= int64(o.out.Buffered()) {
		_, err = o.out.Discard(int(rest))
	} else {
		_, err = io.CopyN(io.Discard, o.out, rest)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("gitrepo: cat-file: %w", err)
	}
	return data, obj.size, nil
}

// answers are what git says to many questions that were asked at once. It says
// it in their order and, when it is not read, not much ahead.
type answers struct {
	o    *objects
	oids []OID
	at   int // of the next
}

// content returns the next object, see objects.read.
func (a *answers) content(kind string, limit int64, buffer func(n int64) []byte) (data []byte, size int64, err error) {
	oid := a.oids[a.at]
	a.at++
	return a.o.content(oid, kind, limit, buffer)
}

// info returns what is known of the next object; found is false for one that
// is missing.
func (a *answers) info() (obj object, found bool, err error) {
	a.at++
	obj, err = a.o.header()
	if errors.Is(err, errMissing) {
		return object{}, false, nil
	}
	return obj, err == nil, err
}

// questions that can be asked of many objects.
const (
	askInfo     word = "info "
	askContents word = "contents "
)

// askAll asks one question about many objects, and calls use to read the
// answers. One that use leaves unread ends the process.
func (o *objects) askAll(ctx context.Context, question word, oids []OID, use func(a *answers) error) error {
	if len(oids) == 0 {
		return use(&answers{o: o})
	}
	return o.guarded(ctx, func() error {
		asked := make(chan error, 1)
		go func() { // git stops reading while its answers are not read
			w := bufio.NewWriterSize(o.proc.stdin, 16<<10)
			for _, oid := range oids {
				_, _ = w.WriteString(string(question) + string(oid) + "\n") // Flush returns its error
			}
			asked <- w.Flush()
		}()
		a := &answers{o: o, oids: oids}
		err := use(a)
		if err != nil || a.at < len(oids) {
			ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if !ended { // else it says why it ended
				o.proc.cancel() // so that the questions end too
			}
			unasked := <-asked
			if ended {
				return errors.Join(err, unasked)
			}
			o.close()
			return err
		}
		return eof(<-asked)
	})
}

// eof turns a broken pipe into the end of the answers, so that the reason is
// asked of the process.
func eof(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gitrepo: cat-file: %w (%w)", io.ErrUnexpectedEOF, err)
}
