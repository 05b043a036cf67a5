//go:build hostdocuments

package gitea_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/contract"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// forgejos is the one operation that only Forgejo has.
const forgejos = "DELETE /repos/{}/{}/pulls/{}/reviews/{}/comments/{}"

// documented is Gitea's document, and what the tests' requests said to it.
var documented struct {
	*contract.OpenAPI

	mu       sync.Mutex
	requests int
	problems []string
}

// checkedFake checks each request before the fake gets it.
type checkedFake struct{ *giteafake.Fake }

// ServeHTTP checks and answers a request.
func (c checkedFake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := strings.TrimPrefix(q.URL.Path, "/api/v1")
	_, err := documented.Check(q, path)
	documented.mu.Lock()
	documented.requests++
	if err != nil && (q.Method != http.MethodDelete || !strings.Contains(path, "/reviews/") || !c.Forgejo) {
		documented.problems = append(documented.problems, err.Error())
	}
	documented.mu.Unlock()
	c.Fake.ServeHTTP(w, q)
}

// TestMain runs all tests of the package with requests checked.
func TestMain(m *testing.M) {
	var err error
	documented.OpenAPI, err = contract.LoadSwagger(os.Getenv("PRWARDEN_GITEA_DOCUMENT"), giteafake.Operations())
	if err != nil {
		fmt.Fprintln(os.Stderr, "Gitea's document:", err)
		os.Exit(1)
	}

	checked = func(fake *giteafake.Fake) hosttest.Fake { return checkedFake{fake} }
	code := m.Run()
	if !slices.Equal(documented.Missing(), []string{forgejos}) {
		fmt.Fprintln(os.Stderr, "Gitea's document hasn't", documented.Missing())
		code = 1
	}
	for _, p := range documented.problems {
		fmt.Fprintln(os.Stderr, "not what Gitea documents:", p)
		code = 1
	}
	fmt.Fprintln(os.Stderr, documented.requests, "requests checked")
	os.Exit(code)
}

// The document refuses what it must: otherwise the tests above would show nothing.
func TestDocumentRefuses(t *testing.T) {
	t.Parallel()
	request := func(method, path, body string) error {
		q, err := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
		require.NoError(t, err)
		q.Header.Set("Content-Type", "application/json")
		_, err = documented.Check(q, path)
		return err
	}
	const reviews = "/repos/o/r/pulls/1/reviews"
	require.NoError(t, request("POST", reviews, `{"comments": [{"path": "a", "body": "b", "new_position": 1}]}`))
	assert.Error(t, request("POST", reviews, `{"comments": [{"path": "a", "body": "b", "new_position": "1"}]}`))
	assert.Error(t, request("POST", reviews, `{"comments": [{"path": "a", "body": "b", "position": 1}]}`))
	assert.Error(t, request("POST", "/repos/o/r/statuses/a", `{"state": "cancelled"}`))
	assert.Error(t, request("POST", "/repos/o/r/issues/1/comments", `{}`))
	assert.Error(t, request("POST", "/repos/o/r/pulls/1/notes", `{}`))
}
