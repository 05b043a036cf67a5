package git

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/scan"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	said := func(network bool, stderr string) error {
		return fmt.Errorf("x: %w", &gitError{verb: "fetch", network: network, code: 128, stderr: stderr})
	}

	wrote := func(errno syscall.Errno) error {
		return fmt.Errorf("git: tree: %w", &os.PathError{Op: "write", Path: "x", Err: errno})
	}

	died := func(signal syscall.Signal) error { return &gitError{verb: "diff-tree", code: -1, signal: signal} }
	for name, test := range map[string]struct {
		err     error
		code    string
		damaged bool
	}{
		"full disk in a fetch": {said(true, "fatal: sha1 file '<stdout>' write error: No space left on device; "+
			"fatal: fetch-pack: invalid index-pack output"), scan.CodeCacheFull, false},
		// What git says first when several of its children fail.
		"full disk in a fetch that dies": {said(true, "fatal: write error: No space left on device; "+
			"error: file too large; fatal: early EOF"), scan.CodeCacheFull, false},
		"full disk in index-pack": {said(true, "fatal: sha1 file 'objects/pack/tmp_idx_x' write error. "+
			"Out of diskspace; fatal: fetch-pack: invalid index-pack output"), scan.CodeCacheFull, false},
		"quota in a fetch": {said(true, "fatal: write error: Disk quota exceeded"), scan.CodeCacheFull, false},
		"full disk in a commit-graph": {said(false, "fatal: unable to create: No space left on device"), scan.CodeCacheFull,
			false},
		"full disk of ourselves": {wrote(syscall.ENOSPC), scan.CodeCacheFull, false},
		"our quota":              {wrote(syscall.EDQUOT), scan.CodeCacheFull, false},

		"over a limit":                 {died(syscall.SIGXCPU), scan.CodeRepositoryTooLarge, false},
		"crashed":                      {died(syscall.SIGSEGV), scan.CodeRepositoryInvalid, true},
		"killed for want of memory":    {died(syscall.SIGKILL), scan.CodeScanFailed, false},
		"unknown words":                {said(false, "fatal: what?"), scan.CodeRepositoryInvalid, true},
		"unknown words about a remote": {said(true, "fatal: what?"), scan.CodeHostUnreachable, true},
		"no connection":                {said(true, "fatal: Failed to connect to x"), scan.CodeHostUnreachable, false},
		"old server": {said(true, "Server does not allow request for unadvertised object"),
			scan.CodeHostMisconfigured, false},
		"our own words":  {errDamaged, scan.CodeRepositoryInvalid, true},
		"something else": {errOutput, scan.CodeScanFailed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, damaged := judge(t.Context(), test.err)
			assert.Equal(t, test.code, f.Code, "%v", f)
			assert.Equal(t, test.damaged, damaged)
			assert.Equal(t, test.err, f.Err)
			passing := []string{scan.CodeCacheFull, scan.CodeScanFailed, scan.CodeHostUnreachable}
			assert.Equal(t, slices.Contains(passing, test.code), !f.Lasting)
		})
	}
}
