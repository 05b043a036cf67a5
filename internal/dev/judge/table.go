package main

import (
	"fmt"
	"io"
	"strings"
)

// table is a table in Markdown. Its first row is the header; all columns but the first are numbers.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) print(out io.Writer) {
	for n, row := range t {
		fmt.Fprintln(out, "| "+strings.Join(row, " | ")+" |")
		if n == 0 {
			fmt.Fprintln(out, "|---|"+strings.Repeat("--:|", len(row)-1))
		}
	}
	fmt.Fprintln(out)
}
