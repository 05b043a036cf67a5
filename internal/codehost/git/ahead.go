package git

import (
	"context"
	"math/bits"
	"sync"

	"github.com/prwarden/prwarden/internal/scan"
)

// filesAhead is how many files' contents are read before git has said which of
// their lines were added. Each has at most scan.MaxFileSize.
const filesAhead = 8

// contents are the files of a change at head, read while git compares them.
type contents struct {
	read   chan content
	cancel context.CancelFunc
}

type content struct {
	data []byte
	err  error
}

// readAhead begins to read the contents of all pairs that are compared. Until
// stop nothing else may use the repository's objects.
func (c *change) readAhead(ctx context.Context) *contents {
	var oids []OID
	for i := range c.pairs {
		if p := &c.pairs[i]; p.compared() {
			oids = append(oids, p.now)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &contents{read: make(chan content, filesAhead), cancel: cancel}
	go func() {
		defer close(r.read)
		err := c.repo.objects.askAll(ctx, askContents, oids, func(a *answers) error {
			for range oids {
				data, _, err := a.content("blob", scan.MaxFileSize, c.repo.store.buffers.get)
				if err != nil {
					return err
				}
				if !r.send(ctx, content{data: data}) {
					return context.Cause(ctx)
				}
			}
			return nil
		})
		if err != nil {
			r.send(ctx, content{err: err})
		}
	}()
	return r
}

func (r *contents) send(ctx context.Context, c content) bool {
	select {
	case r.read <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// next returns the content of the next file that is compared.
func (r *contents) next(ctx context.Context) ([]byte, error) {
	c, ok := <-r.read
	if !ok { // only after the end of ctx
		return nil, context.Cause(ctx)
	}
	return c.data, c.err
}

// stop ends the reading and waits for its end.
func (r *contents) stop() {
	r.cancel()
	for range r.read {
	}
}

// buffers are bytes of files that were scanned, kept for other files.
type buffers struct{ pool sync.Pool }

// get returns n bytes with anything in them.
func (b *buffers) get(n int64) []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok && int64(cap(*kept)) >= n {
		return (*kept)[:n]
	}
	// Powers of two, so that one that was kept mostly suffices.
	return make([]byte, n, max(16<<10, int64(1)<<bits.Len64(uint64(n))))
}

// put keeps bytes that get gave.
func (b *buffers) put(data []byte) { b.pool.Put(&data) }
