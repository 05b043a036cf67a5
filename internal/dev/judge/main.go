// Command judge measures what the default ruleset's findings are worth: it scans merged pull requests of public
// repositories, makes sheets on which two readers judge each hit, and reports. docs/measuring.md says how to use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()

	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// part is a subcommand. It adds its flags and returns what does the work, with the arguments.
type part func(flags *flag.FlagSet) func(ctx context.Context, out io.Writer, args []string) error

func run(ctx context.Context, args []string, out io.Writer) error {
	parts := map[string]part{"hits": hits, "trees": trees, "sheet": sheet, "report": report}
	if len(args) == 0 || parts[args[0]] == nil {
		return errors.New("name what to do: hits, trees, sheet or report")
	}

	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	do := parts[args[0]](flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	return do(ctx, out, flags.Args())
}
