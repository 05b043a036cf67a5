package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// TryInput is what `rules try` was asked for.
type TryInput struct {
	Pattern   string
	Paths     []string // files and folders
	Include   []string // globs of files, relative to the folder
	Exclude   []string
	Multiline bool
}

// Try shows where a pattern matches in files, and what it costs.
func Try(ctx context.Context, st cli.Streams, in TryInput) error {
	r := rule.Rule{
		ID: "try", Type: rule.TypeRegex, Pattern: in.Pattern, Message: "matches", Severity: rule.Info,
		Paths: rule.Paths{Include: in.Include, Exclude: in.Exclude}, Multiline: in.Multiline,
	}

	var invalid *errs.Error
	if err := rule.Validate(ctx, r); errors.As(err, &invalid) {
		var parts []string
		for _, v := range invalid.Fields {
			parts = append(parts, v.Field+" "+v.Description)
		}
		return cli.Usagef("%s", strings.Join(parts, "\n"))
	} else if err != nil {
		return err
	}

	loaded := folder.Loaded{File: &rule.File{Rules: []rule.Rule{r}}}
	compiled, err := loaded.Compile("")
	if err != nil {
		return err
	}

	matches, files, stopped := 0, 0, 0
	for _, path := range in.Paths {
		sum, err := tryPath(ctx, st, path, compiled)
		if err != nil {
			return err
		}
		matches += sum.Findings[rule.Info]
		files += sum.Scanned.Count
		stopped += sum.Skipped[finding.SkipRuleTimeout].Count
	}

	word := "matches"
	if matches == 1 {
		word = "match"
	}
	text := fmt.Sprintf("%d %s in %s.\n", matches, word, terminal.Count(files, "file"))
	if stopped > 0 {
		text += fmt.Sprintf("It was stopped in %s, where it took more than 2 seconds.\n", terminal.Count(stopped, "file"))
	}
	if cost, err := r.Cost(); err == nil {
		text += "It costs " + price(cost) + "\n"
	}
	return show(st.Err, text)
}

// tryPath shows the matches in a file or below a folder.
func tryPath(ctx context.Context, st cli.Streams, root string, rules *folder.Rules) (folder.Summary, error) {
	info, err := os.Stat(root)
	if err != nil {
		return folder.Summary{}, cli.Usagef("there is nothing to look at: %w", err)
	}
	if !info.IsDir() {
		root = filepath.Clean(root)
	}

	var unread error
	sum, err := folder.Scan(ctx, root, rules, folder.Options{
		Out: st.Out,
		Format: func(dst []byte, file string, list []finding.Finding) []byte {
			path := root
			if info.IsDir() {
				path = filepath.Join(root, filepath.FromSlash(file))
			}
			var b strings.Builder
			for _, f := range list {
				if f.Severity != rule.Info { // it is about a comment that suppresses findings
					continue
				}
				_ = show(&b, fmt.Sprintf("%s:%d:%d: %s", path, f.Line, f.Column, strings.TrimSpace(f.Snippet)))
			}
			return append(dst, b.String()...)
		},
		Notice: func(n folder.Notice) {
			if n.Err != nil {
				unread = cmp.Or(unread, fmt.Errorf("%s: %w", terminal.Safe(n.Path), n.Err))
			}
		},
	})

	return sum, cmp.Or(err, unread)
}

// price says what a rule costs.
func price(c rule.Cost) string {
	text := fmt.Sprintf("about %v for a MiB of code", c.PerMiB.Round(100*time.Nanosecond))
	if c.By != "" {
		text += fmt.Sprintf(", looked for by %q", c.By)
	}
	return strings.TrimSpace(text + ". " + c.Advice)
}
