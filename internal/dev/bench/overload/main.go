// Command overload measures what a server does when it is asked for more than
// it can do, and what several servers let one key do together.
//
//	overload -prwarden bin/prwarden                 ten times the peak
//	overload -prwarden bin/prwarden -mode limit     two servers, one key
//
// It starts Postgres, which syncs its commits, and the servers by itself, on
// the same machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// options are those of the command line.
type options struct {
	prwarden string
	mode     string
	database string
	duration time.Duration
	factor   float64
	conns    int
	rounds   int
	mix      mix
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o := options{mix: mix{get: 70, list: 10, create: 20}}
	flags := flag.NewFlagSet("overload", flag.ContinueOnError)
	flags.StringVar(&o.prwarden, "prwarden", "bin/prwarden", "the `program` that is measured")
	flags.StringVar(&o.mode, "mode", "load", "load or limit")
	flags.StringVar(&o.database, "database", "postgres", "postgres or sqlite; limit needs postgres")
	flags.DurationVar(&o.duration, "duration", 30*time.Second, "of the overload, or of the requests for the limit")
	flags.Float64Var(&o.factor, "factor", 10, "arrivals, as a multiple of the peak")
	flags.IntVar(&o.conns, "connections", 1_800, "connections that arrivals share")
	flags.IntVar(&o.rounds, "rounds", 0, "`times` that peak and overload are measured by turns, for a machine that others use too")
	flags.Var(&o.mix, "mix", "shares of get, list and create, in percent")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "overload-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	url := "sqlite:" + filepath.Join(dir, "prwarden.db")
	if o.database == "postgres" {
		c, err := pgtest.NewCluster(ctx, pgtest.Options{Durable: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		if err := errors.Join(c.Start(ctx), c.CreateDatabase(ctx, "overload")); err != nil {
			return err
		}
		url = c.DSN("overload")
	}
	e := &environment{options: o, dir: dir, url: url, out: out}
	defer e.stop()
	switch {
	case o.mode == "load":
		return e.overload(ctx)
	case o.mode == "limit" && o.database == "postgres":
		return e.limit(ctx)
	}
	return fmt.Errorf("there is no mode %q on %s", o.mode, o.database)
}

// mix are shares of kinds of requests, in percent.
type mix struct{ get, list, create int }

// String implements flag.Value.
func (m *mix) String() string { return fmt.Sprintf("%d,%d,%d", m.get, m.list, m.create) }

// Set implements flag.Value.
func (m *mix) Set(text string) error {
	if _, err := fmt.Sscanf(strings.ReplaceAll(text, ",", " "), "%d %d %d", &m.get, &m.list, &m.create); err != nil {
		return err
	}
	if m.get < 0 || m.list < 0 || m.create < 0 || m.get+m.list+m.create != 100 {
		return errors.New("three numbers that add up to 100")
	}
	return nil
}
