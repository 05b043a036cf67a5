// Command sdks tests the SDKs as their users have them: it installs each from
// gen/ into an empty place, builds its example, and runs that against a real
// server with the sample pull request, over TLS and through a proxy that
// refuses the first attempts of every call. It compares what each example
// prints with the review, and with docs/sdks.md.
//
// Usage: sdks [-write] [-only NAME]. Run from the root of the repository, with
// bin/prwarden built. -write puts the outputs into docs/sdks.md instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const document = "docs/sdks.md"

func main() {
	write := flag.Bool("write", false, "write the outputs into "+document)
	only := flag.String("only", "", "test only this SDK, and not the document")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *write, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, write bool, only string) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "prwarden-sdks-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	var mu sync.Mutex
	outputs := map[string]string{}
	group, ctx := errgroup.WithContext(ctx)
	// They wait for downloads more than for a processor.
	for _, language := range languages() {
		if only != "" && only != language.name {
			continue
		}
		group.Go(func() error {
			began := time.Now()
			place := filepath.Join(dir, language.name)
			examples, err := language.install(ctx, builder{root: root, dir: place})
			if err != nil {
				return fmt.Errorf("%s: %w", language.name, err)
			}
			installed := time.Now()
			for _, example := range examples {
				output, err := try(ctx, filepath.Join(root, "bin", "prwarden"), filepath.Join(place, "server-"+example.name), example)
				if err != nil {
					return fmt.Errorf("%s: %w", example.name, err)
				}
				mu.Lock()
				outputs[example.name] = output
				mu.Unlock()
			}
			fmt.Printf("%-10s installed in %.1f s, %d of %d examples ran well in %.1f s\n", language.name,
				installed.Sub(began).Seconds(), len(examples), len(examples), time.Since(installed).Seconds())
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if len(outputs) == 0 {
		return fmt.Errorf("there is no SDK %q; there are %s", only, strings.Join(names(), ", "))
	}
	if only != "" {
		return nil
	}
	return compareDocument(filepath.Join(root, filepath.FromSlash(document)), outputs, write)
}
