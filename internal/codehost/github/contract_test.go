//go:build hostdocuments

package github_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/contract"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
)

// documents is where npm put GitHub's documents.
var documents = os.Getenv("PRWARDEN_HOST_DOCUMENTS")

// undocumented are operations that GitHub has and its document hasn't. go-github has
// them, and the redirects of renamed repositories lead there.
var undocumented = []string{"GET /repositories/{}"}

// documented is GitHub's contract, and what the tests' requests said to it.
var documented struct {
	rest    []*contract.OpenAPI // of github.com first, then of Enterprise Server
	graphql *contract.GraphQL

	mu       sync.Mutex
	seen     map[string]int
	problems []string
}

// checkedFake checks each request before the fake gets it.
type checkedFake struct{ *githubfake.Fake }

// ServeHTTP checks and answers a request.
func (c checkedFake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	operation, err := check(q)
	documented.mu.Lock()
	documented.seen[operation]++
	if err != nil && !slices.Contains(undocumented, operation) {
		documented.problems = append(documented.problems, err.Error())
	}
	documented.mu.Unlock()
	c.Fake.ServeHTTP(w, q)
}

// check checks a request of either kind.
func check(q *http.Request) (operation string, err error) {
	path := strings.TrimPrefix(strings.TrimPrefix(q.URL.Path, "/api"), "/v3")
	switch {
	case path == "/graphql":
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return "", err
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		return "POST /graphql", documented.graphql.Check(body)
	case strings.HasPrefix(path, "/repositories/"):
		return undocumented[0], nil
	}

	for _, rest := range documented.rest {
		if operation, err = rest.Check(q, path); err != nil {
			break
		}
	}

	return operation, err
}

// TestMain runs all tests of the package with requests checked.
func TestMain(m *testing.M) {
	err := load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "GitHub's documents:", err)
		os.Exit(1)
	}

	checked = func(fake *githubfake.Fake) hosttest.Fake { return checkedFake{fake} }
	code := m.Run()
	for _, p := range documented.problems {
		fmt.Fprintln(os.Stderr, "not what GitHub documents:", p)
		code = 1
	}
	requests := 0
	for _, o := range githubfake.New(true).Operations() {
		name := parameters(o)
		requests += documented.seen[name]
		if documented.seen[name] == 0 {
			fmt.Fprintln(os.Stderr, "no test requests", o)
			code = 1
		}
	}
	fmt.Fprintln(os.Stderr, requests, "requests checked")
	os.Exit(code)
}

// parameters is an operation without the names of its parameters.
func parameters(operation string) string {
	parts := strings.Split(operation, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "{}"
		}
	}

	return strings.Join(parts, "/")
}

// load reads the documents.
func load() (err error) {
	documented.seen = map[string]int{}
	operations := githubfake.New(true).Operations()
	for _, name := range []string{"api.github.com", "ghes-3.17", "ghes-3.19"} {
		file := filepath.Join(documents, "@octokit/openapi/generated", name+".json")
		rest, err := contract.LoadOpenAPI(file, operations)
		if err != nil {
			return err
		}
		for _, missing := range rest.Missing() {
			if missing != "POST /graphql" && !slices.Contains(undocumented, missing) {
				return fmt.Errorf("%s has no %s", file, missing)
			}
		}
		documented.rest = append(documented.rest, rest)
	}

	documented.graphql, err = contract.LoadGraphQL(filepath.Join(documents, "@octokit/graphql-schema/schema.graphql"))
	return err
}

// The documents refuse what GitHub refuses: otherwise the tests above would show nothing.
func TestDocumentsRefuse(t *testing.T) {
	t.Parallel()
	request := func(method, path, body string) error {
		q, err := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
		require.NoError(t, err)
		q.Header.Set("Content-Type", "application/json")
		_, err = documented.rest[0].Check(q, path)
		return err
	}
	annotation := `{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"}`
	run := func(annotations int, summary string) string {
		list := strings.TrimSuffix(strings.Repeat(annotation+",", annotations), ",")
		return `{"name":"p","head_sha":"a","output":{"title":"t","summary":"` + summary + `","annotations":[` + list + `]}}`
	}
	const runs, reviews = "/repos/a/b/check-runs", "/repos/a/b/pulls/1/reviews"
	require.NoError(t, request("POST", runs, run(50, strings.Repeat("x", 65_535))))
	require.Error(t, request("POST", runs, run(51, "")))
	require.Error(t, request("POST", runs, run(0, strings.Repeat("x", 65_536))))
	require.Error(t, request("POST", runs, `{"name":"p","head_sha":"a","status":"completed","conclusion":"failed"}`))
	require.Error(t, request("POST", reviews, `{"event":"COMMENTED"}`))
	require.Error(t, request("POST", "/repos/a/b/statuses/abc", `{"state":"cancelled"}`))
	require.Error(t, request("GET", "/repos/a/b/unknown", ""))

	query := func(q string) error {
		b, err := json.Marshal(map[string]any{"query": q, "variables": map[string]any{"id": "x"}})
		require.NoError(t, err)
		return documented.graphql.Check(b)
	}
	const minimize = `mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId } }`
	require.NoError(t, query(minimize))
	require.Error(t, query(strings.Replace(minimize, "OUTDATED", "OLD", 1)))
	require.Error(t, query(strings.Replace(minimize, "subjectId", "commentId", 1)))
	require.Error(t, query(strings.Replace(minimize, "$id: ID!", "$id: Int!", 1)))
}

// example is an event of @octokit/webhooks-examples.
type example struct {
	Name     string
	Examples []json.RawMessage
}

// All examples of deliveries that GitHub's own packages have are verified, each flipped
// bit of their signatures is refused, and all can be read.
func TestExamplesOfDeliveries(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(documents, "@octokit/webhooks-examples/api.github.com/index.json"))
	require.NoError(t, err)
	var events []example
	require.NoError(t, json.Unmarshal(b, &events))

	total, hints := 0, map[codehost.HintKind]int{}
	for _, e := range events {
		for i, body := range e.Examples {
			total++
			name := fmt.Sprintf("%s %d", e.Name, i)
			header, signed := githubfake.Sign(e.Name, name, body, hosttest.Secret)
			h := recipient(t, body)
			hosttest.EachBit(t, h, header, "X-Hub-Signature-256", signed, name)
			got, err := h.Hints(header, signed)
			require.NoError(t, err, name)
			for _, hint := range got {
				hints[hint.Kind]++
				assert.True(t, hint.Repository.ID != "" || hint.Kind == codehost.HintInstallation, name)
			}
		}
	}

	assert.Equal(t, 329, total)
	for _, kind := range []codehost.HintKind{
		codehost.HintPullRequest, codehost.HintRerun, codehost.HintMergeGroup, codehost.HintComment,
		codehost.HintRepository, codehost.HintInstallation,
	} {
		assert.Positive(t, hints[kind], kind)
	}
	t.Log(total, "examples:", hints)
}

// recipient is the host whom an example is for.
func recipient(t *testing.T, body []byte) *github.Host {
	t.Helper()
	type checked struct{ App struct{ ID int64 } }
	var of struct {
		Run          checked `json:"check_run"`
		Suite        checked `json:"check_suite"`
		Installation struct{ ID int64 }
	}
	require.NoError(t, json.Unmarshal(body, &of))
	h, err := github.New(github.Options{
		AppID:        cmp.Or(of.Run.App.ID, of.Suite.App.ID, 1),
		Installation: cmp.Or(of.Installation.ID, 1), PrivateKey: githubfake.PrivateKey(),
	})
	require.NoError(t, err)
	return h
}
