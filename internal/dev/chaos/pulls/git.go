package pulls

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// importRepo makes a bare repository of a stream for git fast-import. It
// gives out partial histories and single objects, as code hosts do.
func importRepo(ctx context.Context, dir, stream string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := git(ctx, dir, "", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", dir); err != nil {
		return err
	}
	for _, setting := range []string{"uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"} {
		if err := git(ctx, dir, "", "config", setting, "true"); err != nil {
			return err
		}
	}
	return git(ctx, dir, stream, "fast-import", "--quiet", "--done")
}

func git(ctx context.Context, dir, stdin string, args ...string) error {
	if stdin != "" {
		stdin += "done\n"
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_DIR=" + dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}
