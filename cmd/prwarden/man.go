package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/manual"
)

// newMan makes the command for packagers, which help doesn't list.
func newMan(st cli.Streams) *cobra.Command {
	var client bool
	cmd := &cobra.Command{
		Use:   "man DIR",
		Short: "Write man pages",
		Long: `Write the man pages of prwarden and its commands into the folder DIR, which is
made when it is not there. Their date is that of SOURCE_DATE_EPOCH (seconds
since 1970), or today.`,
		Example: `  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) prwarden man man/man1`,
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Now()
			if epoch := st.Lookup("SOURCE_DATE_EPOCH"); epoch != "" {
				seconds, err := strconv.ParseInt(epoch, 10, 64)
				if err != nil {
					return cli.Usagef("SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", epoch)
				}
				date = time.Unix(seconds, 0)
			}
			root := cmd.Root()
			if client {
				for _, c := range root.Commands() {
					if c.GroupID == groupServer {
						root.RemoveCommand(c)
					}
				}
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return manual.WritePages(args[0], root, manual.Edition{Version: build.Read().Version, Date: date})
		},
	}
	cmd.Flags().BoolVar(&client, "client", false, "Leave out the commands that only the build for Linux has.")
	return cmd
}
