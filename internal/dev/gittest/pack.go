package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Pack puts many objects, or objects that are stored as differences, into one
// pack file.
type Pack struct {
	t     testing.TB
	data  bytes.Buffer
	zlib  *zlib.Writer // one for all, and without compression: others take 100 µs to set up
	count int          // of objects
}

// The types of pack entries.
const (
	packCommit = 1
	packTree   = 2
	packBlob   = 3
	packDelta  = 7 // against an object that is named
)

// NewPack begins a pack.
func NewPack(t testing.TB) *Pack {
	p := &Pack{t: t}
	var err error
	p.zlib, err = zlib.NewWriterLevel(&p.data, zlib.NoCompression)
	require.NoError(t, err)
	p.data.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	return p
}

// Tree adds a tree and returns its name.
func (p *Pack) Tree(data []byte) string { return p.whole(packTree, "tree", data) }

// Blob adds a blob and returns its name.
func (p *Pack) Blob(data []byte) string { return p.whole(packBlob, "blob", data) }

// Commit adds a commit of a tree and returns its name.
func (p *Pack) Commit(tree string, parents ...string) string {
	return p.whole(packCommit, "commit", CommitData(tree, 1_700_000_000+p.count, parents...))
}

func (p *Pack) whole(kind byte, word string, data []byte) string {
	p.add(kind, nil, data)
	return ObjectName(word, data)
}

// Zeros adds a blob of size zero bytes as a difference: so many copies from
// base, a blob of baseSize zero bytes. It returns the blob's name.
func (p *Pack) Zeros(base string, baseSize, size int64) string {
	var delta []byte
	delta = binary.AppendUvarint(delta, uint64(baseSize)) // git's sizes are the same encoding
	delta = binary.AppendUvarint(delta, uint64(size))
	for left := size; left > 0; {
		n := min(left, baseSize, 0xffffff)
		delta = append(delta, 0x80|0x70, byte(n), byte(n>>8), byte(n>>16)) // copy n bytes from offset 0
		left -= n
	}

	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	chunk := make([]byte, 1<<20)
	for left := size; left > 0; left -= int64(len(chunk)) {
		h.Write(chunk[:min(left, int64(len(chunk)))])
	}
	raw, err := hex.DecodeString(base)
	require.NoError(p.t, err)
	p.add(packDelta, raw, delta)
	return hex.EncodeToString(h.Sum(nil))
}

func (p *Pack) add(kind byte, base, data []byte) {
	size := uint64(len(data))
	first := kind<<4 | byte(size&0x0f)
	size >>= 4
	for size > 0 {
		p.data.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
		size >>= 7
	}

	p.data.WriteByte(first)
	p.data.Write(base)
	p.zlib.Reset(&p.data)
	_, err := p.zlib.Write(data)
	require.NoError(p.t, err)
	require.NoError(p.t, p.zlib.Close())
	p.count++
}

// Bytes is the pack, as a server sends it.
func (p *Pack) Bytes() []byte {
	data := p.data.Bytes()
	binary.BigEndian.PutUint32(data[8:], uint32(p.count))
	sum := sha1.Sum(data)
	return append(data[:len(data):len(data)], sum[:]...)
}

// Store puts the objects into r.
func (p *Pack) Store(r *Repo) {
	path := filepath.Join(p.t.TempDir(), "pack")
	require.NoError(p.t, os.WriteFile(path, p.Bytes(), 0o644))
	r.Git("index-pack", "-o", filepath.Join(r.Dir, "objects", "pack", "pack-1.idx"), path)
	require.NoError(p.t, os.Rename(path, filepath.Join(r.Dir, "objects", "pack", "pack-1.pack")))
}
