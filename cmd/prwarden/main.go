// Command prwarden scans pull requests against rules: as a server, as one of
// its scanners, and as a client of a server.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/grpclog"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func main() {
	// gRPC's libraries write text to stderr for answers that clients don't
	// read, as often as clients like. The variable turns that log on.
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	}

	// net/http's client writes here what its errors say, too.
	log.SetOutput(io.Discard)

	// The first SIGINT or SIGTERM ends a command in good order. The second one
	// ends the program at once, as if nobody listened.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)

	st := cli.Streams{Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}
	os.Exit(run(ctx, st, os.Args[1:]))
}

// run is main without the process: tests call it too. It returns the exit
// code.
func run(ctx context.Context, st cli.Streams, args []string) int {
	root := newRoot(st)
	root.SetArgs(args)
	help := bufio.NewWriter(st.Out) // keeps its first error: cobra does not look whether its printing fails
	root.SetOut(help)

	// An error before this point is one of the command line.
	parsed := false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		parsed = true
		return refuseEmpty(cmd, args)
	}

	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		err = help.Flush()
	case !parsed:
		err = &cli.UsageError{Err: err}
	}

	if err != nil && !errors.Is(err, cli.ErrSilent) {
		fmt.Fprint(st.Err, terminal.GuardLines(fmt.Sprintf("prwarden: %v\n", err)))
		if cli.ExitCode(err) == cli.ExitUsage {
			fmt.Fprintf(st.Err, "See `%s --help`.\n", cmd.CommandPath())
		}
	}
	return cli.ExitCode(err)
}
