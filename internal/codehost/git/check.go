package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Check tells whether repositories can be fetched and kept: git is there and
// the cache directory can be written. A full disk is no reason against it: the
// scan that meets it makes room.
func (s *Store) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := exec.LookPath(s.git.path); err != nil {
		return fmt.Errorf("gitrepo: git: %w", err)
	}
	if _, err := os.Stat(s.git.config); err != nil {
		return fmt.Errorf("gitrepo: configuration: %w", err)
	}
	f, err := os.CreateTemp(s.dir, ".writable-*")
	switch {
	case err == nil:
		closeFile(f)
		err = os.Remove(f.Name())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nil
	}
	if err != nil {
		return fmt.Errorf("gitrepo: cache directory: %w", err)
	}
	return nil
}
