// Command sdks tests the SDKs as their users have them: it installs each from
// gen/ into an empty place, builds its examples, and runs them against a real
// server with the sample pull request, over TLS and through a proxy that refuses
// the first attempts of every call. It compares what each example prints with the
// review, and with docs/sdks.md.
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
	"os/exec"
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
	only := flag.String("only", "", "test only this SDK: go, python, typescript or java")
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
	dir, err := os.MkdirTemp("", "prwarden-sdks-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	languages := []string{"go", "python", "typescript", "java"}
	if only != "" {
		languages = []string{only}
	}

	var mu sync.Mutex
	outputs := map[string]string{}
	group, ctx := errgroup.WithContext(ctx)
	for _, language := range languages { // they wait for downloads more than for a processor
		group.Go(func() error {
			found, err := test(ctx, language, filepath.Join(dir, language))
			mu.Lock()
			defer mu.Unlock()
			for name, output := range found {
				outputs[name] = output
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return compareDocument(document, outputs, write)
}

// test installs the SDK of a language into dir and returns what its examples
// print.
func test(ctx context.Context, language, dir string) (map[string]string, error) {
	began := time.Now()
	install := exec.CommandContext(ctx, "internal/dev/demo/sdks/install.sh", language, dir)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("installing %s: %w\n%s", language, err, out)
	}
	installed := time.Now()
	programs, err := filepath.Glob(filepath.Join(dir, "examples", "*"))
	if err != nil || len(programs) == 0 {
		return nil, errors.Join(err, fmt.Errorf("there is no SDK %q", language))
	}

	outputs := map[string]string{}
	for _, program := range programs {
		name := filepath.Base(program)
		output, err := try(ctx, program, filepath.Join(dir, "server-"+name), strings.HasSuffix(name, "-rest"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		outputs[name] = output
	}
	fmt.Printf("%-10s installed in %.1f s, %d examples ran well in %.1f s\n", language,
		installed.Sub(began).Seconds(), len(programs), time.Since(installed).Seconds())
	return outputs, nil
}
