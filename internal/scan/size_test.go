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

// Findings, suppressed ones and skips share a size, and none of them can take it
// all from the others.
func TestSizeIsShared(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, c := range map[string]struct {
		findings, suppressed, skips int
		cut                         [3]bool
		least                       [3]int // of size, in percent
	}{
		"all fit":             {50, 50, 50, [3]bool{}, [3]int{}},
		"too many findings":   {1000, 5, 5, [3]bool{true, false, false}, [3]int{90, 0, 0}},
		"too many suppressed": {5, 1000, 5, [3]bool{false, true, false}, [3]int{0, 90, 0}},
		"too many skips":      {5, 5, 1000, [3]bool{false, false, true}, [3]int{0, 0, 90}},
		"too many of two":     {1000, 5, 1000, [3]bool{true, false, true}, [3]int{45, 0, 40}},
		"too many of all":     {1000, 1000, 1000, [3]bool{true, true, true}, [3]int{49, 24, 24}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := strings.Repeat("\x02", 400)
			p := &pull{files: []scan.File{
				file(path+"1", strings.Repeat("todo\n", c.findings)),
				file(path+"2", strings.Repeat("todo // prwarden:ignore custom/x -- a reason\n", c.suppressed)),
			}}
			for i := range c.skips {
				p.files = append(p.files, scan.File{Path: fmt.Sprintf("%s3/%d", path, i), Submodule: true})
			}
			got, err := try(t, p, []rule.Rule{regex("x", "todo")}, setup{request: scan.Request{MaxSize: size}})
			require.NoError(t, err)
			assert.Equal(
				t,
				c.cut,
				[3]bool{len(got.Findings) < c.findings, len(got.Suppressed) < c.suppressed, len(got.Skips) < c.skips},
			)
			assert.Equal(t, c.cut != [3]bool{}, got.Truncated)
			findings, suppressed, skips := sizes(got)
			assert.LessOrEqual(t, findings+suppressed+skips, size)
			for i, used := range []int{findings, suppressed, skips} {
				assert.GreaterOrEqual(t, used, size/100*c.least[i])
			}
			assert.Equal(t, c.findings, got.Summary[rule.Warning])
		})
	}
}
