// Command ngramtrain makes the frequency table of package ngram from the text
// files of source trees.
//
//	ngramtrain -o table.bin DIR...
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/prwarden/prwarden/internal/match/ngram"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "ngramtrain: %v\n", err)
		os.Exit(1)
	}
}

// run is main without the process.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ngramtrain", flag.ContinueOnError)
	table := flags.String("o", "", "write the table to this `file`")
	kind := flags.Int64("kind", 6, "the files of one extension count for at most this many `MiB`")
	rarest := flags.Float64("rarest", 2, "store three symbols that occur at this many `places` per MiB")
	corrections := flags.Int("corrections", 24000, "store this many corrections of four symbols")
	skip := flags.String("skip", ".svg,.map,.po,.lock,.sum,.csv,.snap,.xsd,.syso",
		"leave out files of these `extensions`: they are text but no code")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var trees []fs.FS
	for _, dir := range flags.Args() {
		trees = append(trees, os.DirFS(dir))
	}
	if len(trees) == 0 || *table == "" {
		return errors.New("give -o FILE and the source trees")
	}
	c, err := gather(trees, strings.Split(*skip, ","))
	if err != nil {
		return err
	}
	encoded, err := train(c, *kind<<20, ngram.Size{Rarest: *rarest, Corrections: *corrections})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d files, table of %d bytes\n", len(c.files), len(encoded))
	return os.WriteFile(*table, encoded, 0o644)
}

// train returns the table of a corpus. limit is the bytes that one kind of
// files counts for at most.
func train(c *corpus, limit int64, size ngram.Size) ([]byte, error) {
	var counter ngram.Counter
	for _, f := range c.files {
		text, err := f.read()
		if err != nil {
			return nil, err
		}
		counter.Add(text, c.weight(f, limit))
	}
	var table bytes.Buffer
	if err := counter.Encode(&table, size); err != nil {
		return nil, err
	}
	return table.Bytes(), nil
}
