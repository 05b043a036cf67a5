package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNormal(t *testing.T) {
	t.Parallel()
	one := "review rev_1a started\nwatch: queued, 0 files done\nwatch: complete, 6 files done\na.py:1:2: high x/y (new)\n"
	other := "review rev_2b started\nwatch: in_progress, 3 files done\n" +
		"watch: complete, 6 files done\na.py:1:2: high x/y (new)\n"
	assert.Equal(t, normal(one), normal(other))
	assert.NotEqual(t, normal(one),
		normal("review rev_1a started\nwatch: failed, 6 files done\na.py:1:2: high x/y (new)\n"))
}

func TestExpected(t *testing.T) {
	t.Parallel()
	finding := `{"file": "a.py", "line": 1, "column": 2, "severity": "high",
		"rule_id": "x/y", "state": "new", "message": "No."}`
	list := finding
	for range 4 {
		list += ", " + finding
	}
	got, err := expected([]byte(`{"findings": [` + list + `], "suppressed": [{}],
		"verdict": {"outcome": "fail", "threshold": "high"}}`))
	require.NoError(t, err)
	assert.Contains(t, got, "a.py:1:2: high x/y (new)\n    No.\n")
	assert.Contains(t, got, "5 findings, 1 suppressed, 0 fixed: fail at high\n")

	_, err = expected([]byte(`{"findings": [` + finding + `]}`))
	assert.ErrorContains(t, err, "1 findings")
}

func TestPlans(t *testing.T) {
	t.Parallel()
	p := &proxy{}
	p.follow(refuseFirst)
	var got []fault
	for range 3 {
		got = append(got, p.next("CreateReview", "a"))
	}
	assert.Equal(t, []fault{overRate, away, none}, got)
	assert.Equal(t, overRate, p.next("CreateRule", ""))
	assert.Equal(t, none, p.next("CreateRule", ""), "it may be there already")
	assert.Equal(t, 2, p.attemptsOf("CreateRule"))

	p.follow(outageOf("CreateRule"))
	assert.Equal(t, away, p.next("CreateRule", ""))
	assert.Equal(t, none, p.next("CreateReview", ""))
	assert.Equal(t, 1, p.attemptsOf("CreateRule"), "a new plan counts from the start")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{}, {"a", "a"}, {"a", "b", "a"}, {"", "", ""}} {
		assert.ErrorContains(t, (&proxy{keys: keys}).check(), "idempotency keys")
	}
	p := &proxy{keys: []string{"a", "a", "a"}}
	require.ErrorContains(t, p.check(), "opened 0 times")
	p.attempts = map[string]int{"WatchReview": 3}
	require.NoError(t, p.check())
}

func TestCallOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"POST /v1/reviews": "CreateReview", "POST /v1/rules": "CreateRule", "GET /v1/reviews/rev_1a:watch": "WatchReview",
		"GET /v1/reviews/rev_1a": "Get /v1/reviews/rev_…", "DELETE /v1/rules/a": "DELETE /v1/rules/a",
	} {
		method, path, _ := strings.Cut(line, " ")
		assert.Equal(t, want, callOf(httptest.NewRequest(method, path, nil)))
	}
	r := httptest.NewRequest("POST", "/prwarden.v1.ReviewService/CreateReview", nil)
	r.Header.Set("Content-Type", "application/grpc+proto")
	assert.Equal(t, "CreateReview", callOf(r))
}

func TestCompareDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sdks.md")
	document := func(output string) string {
		return fmt.Sprintf("# SDKs\n<!-- output -->\n%s<!-- end -->\nThe end.\n", output)
	}
	require.NoError(t, os.WriteFile(path, []byte(document("")), 0o600))
	outputs := map[string]string{"go": "review rev_1a started\n"}
	assert.ErrorContains(t, compareDocument(path, outputs, false), "make docs-sdks")
	require.NoError(t, compareDocument(path, outputs, true))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, document("```text\nreview rev_… started\n```\n"), string(written))
	require.NoError(t, compareDocument(path, map[string]string{"go": "review rev_2b started\n"}, false))
	require.NoError(t, compareDocument(path, map[string]string{"java": "review rev_2b started\n"}, false))
	assert.ErrorContains(t, compareDocument(path, map[string]string{"java": "another\n"}, false), "make docs-sdks")

	require.NoError(t, os.WriteFile(path, []byte("# SDKs\n"), 0o600))
	assert.ErrorContains(t, compareDocument(path, outputs, true), "<!-- output -->")
}
