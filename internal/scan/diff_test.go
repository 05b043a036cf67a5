package scan_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// edited is a pair of which each line begins with " ", "-" or "+".
func edited(path, text string) scan.Pair {
	p := scan.Pair{Path: path, OldPath: path, Change: finding.FileModified}
	n := 1
	for line := range strings.Lines(text) {
		kind, line := line[0], line[1:]
		if kind != '+' {
			p.Old = append(p.Old, line...)
		}
		if kind != '-' {
			p.New = append(p.New, line...)
		}
		switch k := len(p.Added) - 1; {
		case kind == '-':
			if k := len(p.Removed) - 1; k >= 0 && p.Removed[k].Line == n {
				p.Removed[k].Text = append(p.Removed[k].Text, line...)
				continue
			}
			p.Removed = append(p.Removed, scan.Removed{Line: n, Text: []byte(line)})
			continue
		case kind == '+' && k >= 0 && p.Added[k].Last == n-1:
			p.Added[k].Last = n
		case kind == '+':
			p.Added = append(p.Added, scan.LineRange{First: n, Last: n})
		}
		n++
	}

	return p
}

// difference makes the diff of pairs in memory.
func difference(t *testing.T, p *pull, change func(*scan.DiffRequest), rules ...rule.Rule) (finding.Diff, error) {
	t.Helper()
	s := scan.NewScanner(p, scan.Options{DiffTime: 10 * time.Second})
	set, err := s.AddRules(t.Context(), "", rule.Digest(rules), rules)
	require.NoError(t, err)
	r := scan.DiffRequest{Request: scan.Request{Rules: set}, Context: 3}
	r.Target = scan.Target{Organization: "acme", Repo: "acme/api", Number: 1}
	for _, pair := range p.pairs {
		r.Paths = append(r.Paths, pair.Path)
	}
	if change != nil {
		change(&r)
	}

	return s.Diff(t.Context(), r)
}

// shown writes the lines of a file as edited reads them.
func shown(f finding.FileDiff) string {
	var out strings.Builder
	for i, h := range f.Hunks {
		if i > 0 {
			out.WriteString("\n")
		}
		for _, l := range h.Lines {
			fmt.Fprintf(&out, "%c%s\n", " +-"[l.Kind-1], l.Text)
			for _, m := range l.Masked {
				if l.Text[m.Start:m.End] != "****" {
					out.WriteString("not masked: " + l.Text)
				}
			}
		}
	}

	return out.String()
}

func TestDiffIsMasked(t *testing.T) {
	t.Parallel()
	token := regex("secrets/token", `tok_[a-z]+`, redact, origin(rule.OriginDefault))
	key := regex("secrets/key", `(?s)BEGIN.*?END`, redact, multiline)
	in := func(path string) func(*rule.Rule) { return func(r *rule.Rule) { r.Paths.Include = []string{path} } }
	moved := edited("new.txt", " a tok_x\n-b tok_y\n+c tok_z\n")
	moved.OldPath = "old.txt"
	long := strings.Repeat("long-secret-", 3000)

	for name, tt := range map[string]struct {
		pairs []scan.Pair
		rules []rule.Rule
		want  []string
	}{
		"added, removed and context lines": {
			[]scan.Pair{edited("a", " a tok_x\n-b tok_y\n+c tok_z, tok_zz\n d\n")}, []rule.Rule{token},
			[]string{" a ****\n-b ****\n+c ****, ****\n d\n"},
		},
		"rules that only observe, and those of another ruleset": {
			[]scan.Pair{edited("a", "+a tok_x\n")},
			[]rule.Rule{regex("o", "tok_[a-z]+", redact, func(r *rule.Rule) { r.Mode = rule.ModeObserve })},
			[]string{"+a ****\n"},
		},
		"rules that do not redact or are disabled": {
			[]scan.Pair{edited("a", "+a tok_x b\n")},
			[]rule.Rule{regex("a", "tok_x"), regex("b", "tok", redact, func(r *rule.Rule) { r.Disabled = true })},
			[]string{"+a tok_x b\n"},
		},
		"a multiline match of the old side": {
			[]scan.Pair{edited("a", " x\n-BEGIN\n context\n-END\n y\n")}, []rule.Rule{key},
			[]string{" x\n-****\n ****\n-****\n y\n"},
		},
		"a multiline match of the new side that begins before the hunk": {
			[]scan.Pair{edited("a", " BEGIN\n 1\n 2\n 3\n 4\n+5\n 6\n END rest\n")}, []rule.Rule{key},
			[]string{" ****\n ****\n ****\n+****\n ****\n **** rest\n"},
		},
		"each side by its own path": {
			[]scan.Pair{moved}, []rule.Rule{regex("s", `tok_[a-z]+`, redact, in("old.txt"))},
			[]string{" a ****\n-b ****\n+c tok_z\n"},
		},
		"an equal text anywhere": {
			[]scan.Pair{
				edited("a.env", "+p=hunter2hunter2\n"),
				edited("b", " use hunter2hunter2 here\n+hunter2hunter2hunter2hunter2\n-unter2hunter2\n"),
				edited("c.env", "+p=x\n"), edited("d", "+p=x\n"),
			},
			[]rule.Rule{regex("s", `hunter2hunter2`, redact, in("a.env")), regex("x", "p=x", redact, in("c.env"))},
			[]string{"+p=****\n", " use **** here\n+****\n-unter2hunter2\n", "+****\n", "+p=x\n"},
		},
		"long lines": {
			[]scan.Pair{
				edited("a", "+"+long+"\n+"+strings.Repeat("x", 16<<10-10)+long+"\n"),
				edited("b", "+"+strings.Repeat("x", 32<<10-4)+long+"\n"),
			},
			[]rule.Rule{regex("s", `long-secret-`, redact, in("a"))},
			[]string{"+****\n+" + strings.Repeat("x", 16<<10-10) + "****\n", "+" + strings.Repeat("x", 16<<10) + "\n"},
		},
		"control characters and what is no UTF-8": {
			[]scan.Pair{edited("a", "+a\x1b[31m\xff\u202e tok_x\r\n")}, []rule.Rule{token},
			[]string{"+a\ufffd[31m\ufffd\ufffd ****\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := difference(t, &pull{pairs: tt.pairs}, nil, tt.rules...)
			require.NoError(t, err)
			var all []string
			for _, f := range got.Files {
				all = append(all, shown(f))
			}
			assert.Equal(t, tt.want, all)
		})
	}
}

// What the rules file of the base adds and excludes decides, and that of the head not.
func TestDiffIsMaskedByTheBase(t *testing.T) {
	t.Parallel()
	file := "version: 1\nexclude: [\"**\"]\nrules: [{id: own, type: regex, pattern: 'own_\\w+', message: m, severity: low, " +
		"redact: true, cases: {match: [own_x]}}]\n"
	p := &pull{
		pairs: []scan.Pair{edited("a", "+own_x tok_x\n")},
		sides: map[scan.Side]map[string]string{
			scan.Base: {rule.FilePath: file},
			scan.Head: {rule.FilePath: "version: 1\ndisable: [{id: secrets/token, reason: none}]\n"},
		},
	}
	got, err := difference(t, p, nil, regex("secrets/token", `tok_\w+`, redact, origin(rule.OriginDefault)))
	require.NoError(t, err)
	assert.Equal(t, "+**** ****\n", shown(got.Files[0]))
	assert.True(t, p.closed)
}

// A rule that had no time left can't say what is secret.
func TestDiffFailsSafe(t *testing.T) {
	t.Parallel()
	slow := regex("secrets/slow", `(?s)a.*z|a`, multiline, redact)
	text := strings.Repeat("+"+strings.Repeat("a", 100)+"\n", 5000) + "+todo a\n"
	got, err := difference(t, &pull{pairs: []scan.Pair{edited("x", text)}}, nil, slow)
	require.NoError(t, err)
	assert.NotContains(t, shown(got.Files[0]), "a")
}

func TestDiffHunks(t *testing.T) {
	t.Parallel()
	text := "+first\n func f() {\n 2\n 3\n 4\n 5\n-6\n 7\n 8\n 9\n 10\n"
	for name, tt := range map[string]struct {
		context int
		lines   scan.LineRange
		want    []finding.Hunk // without lines
		shown   string
	}{
		"apart": {
			1, scan.LineRange{}, []finding.Hunk{{OldStart: 1, NewStart: 1}, {OldStart: 5, NewStart: 6, Section: "func f() {"}},
			"+first\n func f() {\n\n 5\n-6\n 7\n",
		},
		"joined": {
			3, scan.LineRange{}, []finding.Hunk{{OldStart: 1, NewStart: 1}},
			"+first\n func f() {\n 2\n 3\n 4\n 5\n-6\n 7\n 8\n 9\n",
		},
		"without context": {
			0, scan.LineRange{}, []finding.Hunk{{OldStart: 1, NewStart: 1}, {OldStart: 6, NewStart: 7, Section: "func f() {"}},
			"+first\n\n-6\n",
		},
		"unfolded": {
			0, scan.LineRange{First: 3, Last: 5}, []finding.Hunk{{OldStart: 2, NewStart: 3, Section: "func f() {"}},
			" 2\n 3\n 4\n",
		},
		"unfolded to the end": {
			0, scan.LineRange{First: 9, Last: 100}, []finding.Hunk{{OldStart: 9, NewStart: 9, Section: "func f() {"}}, " 9\n 10\n",
		},
		"unfolded around a change": {
			0, scan.LineRange{First: 6, Last: 7}, []finding.Hunk{{OldStart: 5, NewStart: 6, Section: "func f() {"}},
			" 5\n-6\n 7\n",
		},
		"unfolded behind the end": {0, scan.LineRange{First: 12, Last: 13}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := difference(t, &pull{pairs: []scan.Pair{edited("a", text)}}, func(r *scan.DiffRequest) {
				r.Context, r.Lines = tt.context, tt.lines
			})
			require.NoError(t, err)
			f := got.Files[0]
			assert.Equal(t, tt.shown, shown(f))
			for i := range f.Hunks {
				f.Hunks[i].Lines = nil
			}
			assert.Equal(t, tt.want, f.Hunks)
			assert.Equal(t, []int{1, 1}, []int{f.Added, f.Removed})
		})
	}

	part, err := difference(t, &pull{pairs: []scan.Pair{edited("a", "-0\n+1\n+2\n+3\n+4\n 5\n")}},
		func(r *scan.DiffRequest) { r.Lines = scan.LineRange{First: 2, Last: 3} })
	require.NoError(t, err)
	assert.Equal(t, "+2\n+3\n", shown(part.Files[0]))
	assert.Equal(t, finding.Hunk{OldStart: 2, NewStart: 2, Lines: part.Files[0].Hunks[0].Lines}, part.Files[0].Hunks[0])
}

// An answer has as many files as fit, and of one that never does what fits.
func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return strings.Repeat("+line\n", n) }
	p := &pull{pairs: []scan.Pair{edited("a", lines(12_000)), edited("b", lines(9_000)), edited("c", lines(1))}}
	got, err := difference(t, p, nil)
	require.NoError(t, err)
	require.Len(t, got.Files, 1)
	assert.Equal(t, 1, got.Done)
	assert.False(t, got.Files[0].Truncated)

	got, err = difference(t, p, func(r *scan.DiffRequest) { r.Paths = r.Paths[1:] })
	require.NoError(t, err)
	require.Len(t, got.Files, 2)
	assert.Equal(t, 2, got.Done)

	got, err = difference(t, &pull{pairs: []scan.Pair{edited("a", lines(30_000)), edited("b", lines(1))}}, nil)
	require.NoError(t, err)
	require.Len(t, got.Files, 1)
	assert.True(t, got.Files[0].Truncated)
	assert.Equal(t, 30_000, got.Files[0].Added)
	assert.Len(t, got.Files[0].Hunks[0].Lines, 20_000)

	wide := strings.Repeat("+"+strings.Repeat("w", 1000)+"\n", 4000)
	got, err = difference(t, &pull{pairs: []scan.Pair{edited("a", wide), edited("b", wide)}}, nil)
	require.NoError(t, err)
	require.Len(t, got.Files, 1)
	assert.False(t, got.Files[0].Truncated)

	// Masks and what stands for bytes that are no UTF-8 are longer than what they are for.
	odd := strings.Repeat("+"+strings.Repeat("\xff", 1000)+"\n", 3000)
	got, err = difference(t, &pull{pairs: []scan.Pair{edited("a", odd)}}, nil)
	require.NoError(t, err)
	assert.True(t, got.Files[0].Truncated)
	assert.Less(t, got.Size(), int64(5<<20))
}

// What there is no time for comes with the next answer.
func TestDiffIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &pull{pairs: []scan.Pair{edited("a", "+a\n"), edited("b", "+b\n"), edited("c", "+c\n")}}
		p.onFile = func(context.Context) { <-time.After(8 * time.Second) }
		got, err := difference(t, p, nil)
		require.NoError(t, err)
		assert.Len(t, got.Files, 2)
		assert.Equal(t, 2, got.Done)

		p.onFile = nil
		p.pairs = p.pairs[2:]
		got, err = difference(t, p, nil)
		require.NoError(t, err)
		assert.Equal(t, "+c\n", shown(got.Files[0]))
	})
}

func TestDiffOfWhatIsNoText(t *testing.T) {
	t.Parallel()
	utf16 := edited("utf16", "+x\n")
	utf16.New = []byte("\xff\xfet\x00o\x00k\x00_\x00x\x00\n\x00")
	was := edited("was", "-x\n+y\n")
	was.Old = []byte("\x00\x01\x02\x03\x04")
	got, err := difference(t, &pull{pairs: []scan.Pair{utf16, was, {Path: "m", NotShown: finding.SkipSubmodule}}}, nil)
	require.NoError(t, err)
	var reasons []string
	for _, f := range got.Files {
		assert.Empty(t, f.Hunks)
		reasons = append(reasons, f.NotShown)
	}
	assert.Equal(t, []string{finding.SkipBinary, finding.SkipBinary, finding.SkipSubmodule}, reasons)
}

func TestDiffFails(t *testing.T) {
	t.Parallel()
	lasting := &scan.Failure{Code: scan.CodeCommitNotFound, Message: "Gone.", Lasting: true}
	for name, tt := range map[string]struct {
		p    *pull
		code string
	}{
		"open":    {&pull{openErr: lasting}, scan.CodeCommitNotFound},
		"reading": {&pull{fileErr: errors.New("x")}, scan.CodeScanFailed},
	} {
		_, err := difference(t, tt.p, nil)
		f, ok := errors.AsType[*scan.Failure](err)
		require.True(t, ok, name)
		assert.Equal(t, tt.code, f.Code, name)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := scan.NewScanner(&pull{openErr: ctx.Err()}, scan.Options{})
	_, err := s.Diff(ctx, scan.DiffRequest{})
	require.ErrorIs(t, err, context.Canceled)
}
