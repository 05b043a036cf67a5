package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
)

func TestActor(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "system", audit.FromContext(t.Context()).String(), "unless somebody says who it is")
	a := audit.Actor{Kind: audit.CLI, ID: "ann@desk", Address: "192.0.2.1"}
	assert.Equal(t, a, audit.FromContext(audit.NewContext(t.Context(), a)))
	assert.Equal(t, "cli:ann@desk", a.String())
}

func TestBounded(t *testing.T) {
	t.Parallel()
	c := audit.Change{Fields: []audit.Field{{
		Name: "a", Before: "\xff" + strings.Repeat("é", 2000), After: strings.Repeat("x", 2049),
	}}}
	c.Fields = append(c.Fields, audit.Field{Name: "b", After: "short"})
	got := c.Bounded().Fields
	assert.Len(t, got, 2)
	assert.Equal(t, audit.Field{
		Name: "a", Before: "\uFFFD" + strings.Repeat("é", 1022) + "…", After: strings.Repeat("x", 2048) + "…",
	}, got[0])
	assert.Equal(t, audit.Field{Name: "b", After: "short"}, got[1])
}

func TestBoundedTogether(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"long": strings.Repeat("x", 9000), "escaped": strings.Repeat("<", 9000), "short": "y", "none": "",
	} {
		var c audit.Change
		for range 5_000 {
			c.Fields = append(c.Fields, audit.Field{Name: "child", Before: value, After: value})
		}
		got := c.Bounded().Fields
		stored, err := json.Marshal(got)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(stored), 16<<10+100, name)
		assert.LessOrEqual(t, len(got), 100, name)
		assert.Greater(t, len(got), 1, name)
		last := got[len(got)-1]
		assert.Equal(t, "…", last.Name)
		assert.Equal(t, fmt.Sprintf("%d more fields were cut off", 5001-len(got)), last.After)
	}
	assert.Len(t, audit.Change{Fields: make([]audit.Field, 100)}.Bounded().Fields, 100, "what fits stays")
}

func TestDiff(t *testing.T) {
	t.Parallel()
	type inner struct {
		URL string `json:"url"`
		Max int    `json:"max"`
	}
	type outer struct {
		Inner  inner    `json:"inner"`
		List   []string `json:"list"`
		On     bool     `json:"on"`
		Hidden string   `json:"-"`
	}
	a := outer{Inner: inner{URL: "u", Max: 3}, List: []string{"x", "y"}, On: true, Hidden: "h"}
	b := outer{Inner: inner{URL: "v", Max: 3}, Hidden: "i"}
	assert.Empty(t, audit.Diff(a, a))
	assert.Empty(t, audit.Diff(nil, outer{Hidden: "h"}), "zero values are no fields")
	assert.Equal(t, []audit.Field{
		{Name: "inner.url", Before: "u", After: "v"}, {Name: "list", Before: "x, y"}, {Name: "on", Before: "true"},
	}, audit.Diff(a, b))
	assert.Equal(t, []audit.Field{
		{Name: "inner.max", After: "3"}, {Name: "inner.url", After: "v"},
	}, audit.Diff(nil, b))
}
