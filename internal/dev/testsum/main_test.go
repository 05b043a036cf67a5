package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                    string
		in                      string
		passed, failed, skipped int
		shown, hidden           string
	}{
		{
			"passed", `{"Action":"output","Package":"p","Test":"A","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Elapsed":0.5}
`, 1, 0, 0, "ok    p", "noise",
		},
		{
			"failed", `{"Action":"output","Package":"p","Test":"A","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"fail","Package":"p"}
`, 0, 1, 0, "why\n", "ok ",
		},
		{
			"skipped", `{"Action":"output","Package":"p","Test":"A","Output":"because\n"}
{"Action":"skip","Package":"p","Test":"A"}
{"Action":"pass","Package":"p"}
`, 0, 0, 1, "SKIP p A", "FAIL",
		},
		{
			"does not build", `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: broken\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`, 0, 1, 0, "p.go:1: broken", "ok ",
		},
		{
			"panic", `{"Action":"output","Package":"p","Test":"A","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}
`, 0, 1, 0, "panic: no", "ok ",
		},
		{"no tests", `{"Action":"skip","Package":"p"}` + "\n", 0, 0, 0, "0 tests passed", "SKIP"},
		{"not JSON", "go: something is wrong\n", 0, 0, 0, "something is wrong", "ok "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			s := newSummary(&out)
			require.NoError(t, s.read(strings.NewReader(tt.in)))
			s.print(0)
			assert.Equal(t, []int{tt.passed, tt.failed, tt.skipped}, []int{s.passed, s.failed, s.skipped})
			assert.Contains(t, out.String(), tt.shown)
			assert.NotContains(t, out.String(), tt.hidden)
		})
	}
}
