// Command prwarden scans pull requests against rules: as a server, as one of
// its scanners, and as a client of a server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/prwarden/prwarden/internal/cli"
)

func main() {
	st := cli.Streams{Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}
	os.Exit(run(context.Background(), st, os.Args[1:]))
}

// run is main without the process: tests call it too. It returns the exit
// code.
func run(ctx context.Context, st cli.Streams, args []string) int {
	root := newRoot(st)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !errors.Is(err, cli.ErrSilent) {
		fmt.Fprintf(st.Err, "prwarden: %v\n", err)
		if cli.ExitCode(err) == cli.ExitUsage {
			fmt.Fprintf(st.Err, "See `%s --help`.\n", cmd.CommandPath())
		}
	}
	return cli.ExitCode(err)
}
