package scan_test

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// pull is a pull request in memory, and its own source.
type pull struct {
	sides   map[scan.Side]map[string]string // regular files by path
	files   []scan.File                     // in order
	pairs   []scan.Pair
	openErr error
	fileErr error                     // after all files
	onFile  func(ctx context.Context) // before each file
	closed  bool
}

func (p *pull) Open(context.Context, scan.Target) (scan.Change, error) {
	if p.openErr != nil {
		return nil, p.openErr
	}

	return p, nil
}

func (p *pull) HeadSHA() string                      { return strings.Repeat("a", 40) }
func (p *pull) BaseSHA() string                      { return strings.Repeat("b", 40) }
func (p *pull) HeadCommit() (subject, author string) { return "Add a cart", "Ann" }
func (p *pull) BaseFoundBy() finding.BaseFoundBy {
	return finding.BaseMergeRef
}
func (p *pull) Close() error { p.closed = true; return nil }

func (p *pull) FileCount() int { return len(p.files) }

func (p *pull) ReadFile(_ context.Context, side scan.Side, path string, limit int) ([]byte, bool, error) {
	data, found := p.sides[side][path]
	return []byte(data)[:min(len(data), limit+1)], found, nil
}

// Files yields copies, because a file is its receiver's.
func (p *pull) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		for _, f := range p.files {
			if p.onFile != nil {
				p.onFile(ctx)
			}

			f.Size = max(f.Size, int64(len(f.Content)))
			f.TooLarge = f.Size > scan.MaxFileSize
			f.Content, f.Added = bytes.Clone(f.Content), slices.Clone(f.Added)
			if !yield(&f, nil) {
				return
			}
		}

		if p.fileErr != nil {
			yield(nil, p.fileErr)
		}
	}
}

func (p *pull) Pairs(ctx context.Context, paths []string, _ int64) iter.Seq2[*scan.Pair, error] {
	return func(yield func(*scan.Pair, error) bool) {
		for _, pair := range p.pairs {
			pair.Place = slices.Index(paths, pair.Path)
			if pair.Place >= 0 && !yield(&pair, nil) {
				return
			}
			if p.onFile != nil {
				p.onFile(ctx)
			}
		}
		if p.fileErr != nil {
			yield(nil, p.fileErr)
		}
	}
}

// file is a file of which all lines were added.
func file(path, content string) scan.File {
	return scan.File{
		Path:    path,
		Content: []byte(content),
		Added:   []scan.LineRange{{First: 1, Last: match.SplitLines([]byte(content)).Count()}},
	}
}

// marked is a file whose added lines begin with "+", and the others with " ".
func marked(path, text string) scan.File {
	f := scan.File{Path: path}
	var content strings.Builder

	for i, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			continue
		}

		content.WriteString(line[1:])
		if line[0] != '+' {
			continue
		}

		if k := len(f.Added) - 1; k >= 0 && f.Added[k].Last == i {
			f.Added[k].Last = i + 1
		} else {
			f.Added = append(f.Added, scan.LineRange{First: i + 1, Last: i + 1})
		}
	}

	f.Content = []byte(content.String())
	return f
}

// regex is a rule with defaults for what a test does not care about.
func regex(id, pattern string, change ...func(*rule.Rule)) rule.Rule {
	r := rule.Rule{
		ID: id, Type: rule.TypeRegex, Pattern: pattern, Message: "Do not.", Severity: rule.Warning,
		Scope: rule.ScopeOrg, Origin: rule.OriginCustom,
	}

	for _, c := range change {
		c(&r)
	}

	return r
}

func redact(r *rule.Rule)    { r.Redact = true }
func multiline(r *rule.Rule) { r.Multiline = true }

func origin(o rule.Origin) func(*rule.Rule) { return func(r *rule.Rule) { r.Origin = o } }

func severity(s rule.Severity) func(*rule.Rule) { return func(r *rule.Rule) { r.Severity = s } }

// lenient is a policy that leaves everything to the repository.
var lenient = policy.Policy{
	Suppression: policy.Suppression{Allowed: true, UpTo: rule.Critical.String(), Secrets: true},
}

type setup struct {
	ruleset string
	limit   int // 10,000 when 0
	options scan.Options
	request scan.Request // what else there is
}

func try(t testing.TB, p *pull, rules []rule.Rule, o setup) (*scan.Result, error) {
	t.Helper()
	slices.SortFunc(p.files, func(a, b scan.File) int { return strings.Compare(a.Path, b.Path) })
	s := scan.NewScanner(p, o.options)
	set, err := s.AddRules(t.Context(), "", rule.Digest(rules), rules)
	require.NoError(t, err)
	if o.limit == 0 {
		o.limit = 10_000
	}

	r := o.request
	if r.Policy == nil {
		r.Policy = &lenient
	}
	r.Target = scan.Target{Organization: "acme", Repo: "acme/api", Number: 1}
	r.Ruleset, r.Rules, r.MaxFindings, r.Today = o.ruleset, set, o.limit, "2026-06-15"
	return s.Scan(t.Context(), r, func(scan.Progress) {})
}

func run(t testing.TB, p *pull, rules ...rule.Rule) *scan.Result {
	t.Helper()
	result, err := try(t, p, rules, setup{})
	require.NoError(t, err)
	require.True(t, p.closed)
	return result
}
