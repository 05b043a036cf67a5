package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// sizes are what the lists of a result take.
func sizes(r *scan.Result) (findings, suppressed, skips int) {
	for _, f := range r.Findings {
		findings += f.Size()
	}
	for _, f := range r.Suppressed {
		suppressed += f.Size()
	}
	for _, s := range r.Skips {
		skips += s.Size()
	}
	return findings, suppressed, skips
}

// Of findings that take too much the most severe are kept, and all are counted.
func TestSizeOfAllFindings(t *testing.T) {
	t.Parallel()
	const lines, size = 100, 1 << 20
	hostile := strings.Repeat("\x01", 3000)
	p := func() *pull {
		p := &pull{files: []scan.File{file("z", "fix\n")}}
		for i := range 3 {
			p.files = append(p.files, file(fmt.Sprintf("%s%d", hostile, i), strings.Repeat("todo\n", lines)))
		}
		return p
	}
	rules := []rule.Rule{regex("fix", "fix", severity(rule.High)), regex("todo", "todo")}
	all := run(t, p(), rules...)
	require.Len(t, all.Findings, 3*lines+1)
	require.False(t, all.Truncated)
	whole, _, _ := sizes(all)

	got, err := try(t, p(), rules, setup{request: scan.Request{MaxSize: size}})
	require.NoError(t, err)
	assert.True(t, got.Truncated)
	assert.Equal(t, all.Summary, got.Summary, "the summary counts all")
	kept := len(got.Findings) - 1
	assert.Equal(t, all.Findings[:kept], got.Findings[:kept], "the first of those that are as severe as others")
	assert.Equal(t, "z", got.Findings[kept].File, "the most severe one")
	used, _, _ := sizes(got)
	assert.LessOrEqual(t, used, size)
	assert.Greater(t, used+got.Findings[0].Size(), size, "no more than necessary is left out")

	for _, c := range []struct {
		size      int
		truncated bool
	}{{whole, false}, {whole - 1, true}} {
		got, err := try(t, p(), rules, setup{request: scan.Request{MaxSize: c.size}})
		require.NoError(t, err)
		assert.Equal(t, c.truncated, got.Truncated)
		if !c.truncated {
			assert.Equal(t, all.Findings, got.Findings)
		}
	}
}

// Findings go before suppressed ones, and these before skips.
func TestSizeIsShared(t *testing.T) {
	t.Parallel()
	const size, each = 1 << 20, 300
	path := strings.Repeat("\x02", 400)
	p := &pull{files: []scan.File{
		file(path+"1", strings.Repeat("todo\n", each)),
		file(path+"2", strings.Repeat("todo // prwarden:ignore custom/x -- a reason\n", each)),
	}}
	for i := range each {
		p.files = append(p.files, scan.File{Path: fmt.Sprintf("%s3/%d", path, i), Submodule: true})
	}

	got, err := try(t, p, []rule.Rule{regex("x", "todo")}, setup{request: scan.Request{MaxSize: size}})
	require.NoError(t, err)
	assert.True(t, got.Truncated)
	assert.Len(t, got.Findings, each)
	assert.NotEmpty(t, got.Suppressed)
	assert.Less(t, len(got.Suppressed), each)
	assert.Empty(t, got.Skips)
	findings, suppressed, _ := sizes(got)
	assert.LessOrEqual(t, findings+suppressed, size)
}
