package git

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/scan"
)

func TestFullDiskIsNotTheRepositorysFault(t *testing.T) {
	t.Parallel()
	said := func(network bool, stderr string) error {
		return fmt.Errorf("x: %w", &gitError{verb: "fetch", network: network, code: 128, stderr: stderr})
	}
	wrote := func(errno syscall.Errno) error {
		return fmt.Errorf("git: tree: %w", &os.PathError{Op: "write", Path: "x", Err: errno})
	}
	tests := map[string]error{
		"of a fetch": said(
			true,
			"fatal: sha1 file '<stdout>' write error: No space left on device; fatal: fetch-pack: invalid index-pack output",
		),
		// What git says first when several of its children fail.
		"of a fetch that dies": said(
			true, "error: file too large; fatal: write error: No space left on device; fatal: early EOF",
		),
		"of index-pack": said(
			true,
			"fatal: sha1 file 'objects/pack/tmp_idx_x' write error. Out of diskspace; "+
				"fatal: fetch-pack: invalid index-pack output",
		),
		"quota of a fetch":  said(true, "fatal: write error: Disk quota exceeded"),
		"of a commit-graph": said(false, "fatal: unable to create 'graph': No space left on device"),
		"of ourselves":      wrote(syscall.ENOSPC),
		"our quota":         wrote(syscall.EDQUOT),
	}
	for name, err := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fresh := range []bool{false, true} {
				f := asFailure(t.Context(), err, fresh)
				assert.Equal(t, scan.CodeCacheFull, f.Code, "%v", f)
				assert.False(t, f.Lasting)
				assert.Error(t, f.Err)
				assert.False(t, suspectsCache(t.Context(), f), "fetching again needs more room still")
			}
		})
	}
}
