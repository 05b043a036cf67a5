// Command prwarden scans pull requests against rules: as a server, as one of
// its scanners, and as a client of a server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/grpc/grpclog"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func main() {
	// gRPC's libraries write text to stderr for answers that clients don't
	// read, as often as clients like. Who asks for their log gets it.
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	}
	st := cli.Streams{Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}
	os.Exit(run(context.Background(), st, os.Args[1:]))
}

// run is main without the process: tests call it too. It returns the exit
// code.
func run(ctx context.Context, st cli.Streams, args []string) int {
	root := newRoot(st)
	root.SetArgs(args)
	help := &cli.Checked{To: st.Out} // whose printing has no way to fail
	root.SetOut(help)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.End()
	}
	if err != nil && !errors.Is(err, cli.ErrSilent) {
		fmt.Fprint(st.Err, terminal.GuardLines(fmt.Sprintf("prwarden: %v\n", err)))
		if cli.ExitCode(err) == cli.ExitUsage {
			fmt.Fprintf(st.Err, "See `%s --help`.\n", cmd.CommandPath())
		}
	}
	return cli.ExitCode(err)
}
