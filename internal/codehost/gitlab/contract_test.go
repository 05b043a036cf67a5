//go:build hostdocuments

package gitlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	client "gitlab.com/gitlab-org/api/client-go"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
)

// options are the types of GitLab's client for what a call sends: as JSON where it
// writes, else in the address.
var options = map[string]any{
	"GET /projects":                                                   client.ListProjectsOptions{},
	"GET /projects/{id}/merge_requests":                               client.ListProjectMergeRequestsOptions{},
	"GET /projects/{id}/repository/commits/{sha}/statuses":            client.GetCommitStatusesOptions{},
	"GET /projects/{id}/merge_requests/{n}/discussions":               client.ListMergeRequestDiscussionsOptions{},
	"POST /projects/{id}/statuses/{sha}":                              client.SetCommitStatusOptions{},
	"POST /projects/{id}/merge_requests/{n}/discussions":              client.CreateMergeRequestDiscussionOptions{},
	"PUT /projects/{id}/merge_requests/{n}/discussions/{discussion}":  client.ResolveMergeRequestDiscussionOptions{},
	"POST /projects/{id}/merge_requests/{n}/notes":                    client.CreateMergeRequestNoteOptions{},
	"PUT /projects/{id}/merge_requests/{n}/notes/{note}":              client.UpdateMergeRequestNoteOptions{},
	"POST /projects/{id}/merge_requests/{n}/notes/{note}/award_emoji": client.CreateAwardEmojiOptions{},
}

// seen is what the tests' requests said to the client's types.
var seen struct {
	sync.Mutex

	requests int
	problems []string
}

// operation is the pattern of the fake that a request is for.
func operation(q *http.Request) string {
	mux := http.NewServeMux()
	for _, pattern := range gitlabfake.Operations() {
		mux.HandleFunc(strings.Replace(pattern, " ", " /api/v4", 1), func(http.ResponseWriter, *http.Request) {})
	}
	_, pattern := mux.Handler(q)

	return strings.Replace(pattern, "/api/v4", "", 1)
}

// unknown says what of a request the client doesn't know; "" for nothing.
func unknown(q *http.Request, body []byte) string {
	name := operation(q)
	into := options[name]
	if len(body) > 0 {
		if into == nil {
			return name + " has a body"
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(reflect.TypeOf(into)).Interface()); err != nil {
			return fmt.Sprintf("%s: %v", name, err)
		}

		return ""
	}
	for parameter := range q.URL.Query() {
		if into == nil || !hasParameter(reflect.TypeOf(into), parameter) {
			return fmt.Sprintf("%s: there is no parameter %s", name, parameter)
		}
	}

	return ""
}

// hasParameter tells whether a type of options has a parameter.
func hasParameter(t reflect.Type, name string) bool {
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("url"), ",")
		if tag == name || field.Anonymous && hasParameter(field.Type, name) {
			return true
		}
	}

	return false
}

// checkedFake checks each request before the fake gets it.
type checkedFake struct{ *gitlabfake.Fake }

// ServeHTTP checks and answers a request.
func (c checkedFake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	q.Body = io.NopCloser(bytes.NewReader(body))
	problem := unknown(q, body)
	seen.Lock()
	seen.requests++
	if problem != "" {
		seen.problems = append(seen.problems, problem)
	}
	seen.Unlock()
	c.Fake.ServeHTTP(w, q)
}

// TestMain runs all tests of the package with requests checked.
func TestMain(m *testing.M) {
	checked = func(fake *gitlabfake.Fake) hosttest.Fake { return checkedFake{fake} }
	code := m.Run()
	for _, p := range seen.problems {
		fmt.Fprintln(os.Stderr, "not what GitLab's client sends:", p)
		code = 1
	}
	fmt.Fprintln(os.Stderr, seen.requests, "requests checked")
	os.Exit(code)
}

// The types refuse what they must: otherwise the tests above would show nothing.
func TestClientRefuses(t *testing.T) {
	t.Parallel()
	problem := func(method, path, body string) string {
		q := httptest.NewRequest(method, "/api/v4"+path, strings.NewReader(body))
		return unknown(q, []byte(body))
	}
	const discussions = "/projects/42/merge_requests/7/discussions"
	assert.Empty(t, problem("POST", discussions, `{"body": "b", "position": {"new_line": 1}}`))
	assert.NotEmpty(t, problem("POST", discussions, `{"body": "b", "position": {"new_line": "1"}}`))
	assert.NotEmpty(t, problem("POST", discussions, `{"body": "b", "position": {"line": 1}}`))
	assert.NotEmpty(t, problem("GET", discussions+"?size=1", ""))
	assert.NotEmpty(t, problem("POST", "/projects/42/issues", `{}`))
}

// bearer sends the token as prwarden does.
type bearer struct{}

func (bearer) Init(context.Context, *client.Client) error { return nil }

func (bearer) Header(context.Context) (key, value string, err error) {
	return "Authorization", "Bearer " + hosttest.Token, nil
}

// TestClientCallsFake has GitLab's client make every call that the fake answers, and
// read the answer.
func TestClientCallsFake(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	called := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		called[operation(q)] = true
		fake.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	c, err := client.NewAuthSourceClient(bearer{}, client.WithBaseURL(server.URL), client.WithoutRetries())
	require.NoError(t, err)
	ok := func(_ any, _ *client.Response, err error) { t.Helper(); require.NoError(t, err) }

	user, _, err := c.Users.CurrentUser()
	ok(nil, nil, err)
	assert.Equal(t, hosttest.Account, user.Username)
	token, _, err := c.PersonalAccessTokens.GetSinglePersonalAccessToken()
	ok(nil, nil, err)
	assert.Equal(t, []string{"api"}, token.Scopes)
	projects, _, err := c.Projects.ListProjects(&client.ListProjectsOptions{Membership: client.Ptr(true)})
	ok(nil, nil, err)
	require.Len(t, projects, 1)
	assert.Equal(t, hosttest.Repo, projects[0].PathWithNamespace)
	project, _, err := c.Projects.GetProject(hosttest.Repo, nil)
	ok(nil, nil, err)
	assert.Equal(t, client.PrivateVisibility, project.Visibility)
	member, _, err := c.ProjectMembers.GetInheritedProjectMember(42, 11)
	ok(nil, nil, err)
	assert.Equal(t, client.DeveloperPermissions, member.AccessLevel)

	list, _, err := c.MergeRequests.ListProjectMergeRequests(42, nil)
	ok(nil, nil, err)
	assert.Len(t, list, 1)
	status, _, err := c.Commits.SetCommitStatus(42, hosttest.Head, &client.SetCommitStatusOptions{
		State: client.Pending, Name: client.Ptr("prwarden"), Description: client.Ptr("waits"),
	})
	ok(nil, nil, err)
	statuses, _, err := c.Commits.GetCommitStatuses(42, hosttest.Head, nil)
	ok(nil, nil, err)
	require.Len(t, statuses, 1)
	assert.Equal(t, status, statuses[0])
	assert.Equal(t, "pending", status.Status)
	request, _, err := c.MergeRequests.GetMergeRequest(42, 7, nil)
	ok(nil, nil, err)
	assert.Equal(t, []string{hosttest.Base, hosttest.Base, hosttest.Head},
		[]string{request.DiffRefs.BaseSha, request.DiffRefs.StartSha, request.DiffRefs.HeadSha})
	assert.Equal(t, status.PipelineID, request.HeadPipeline.ID)

	note, _, err := c.Notes.CreateMergeRequestNote(42, 7, &client.CreateMergeRequestNoteOptions{Body: client.Ptr("a")})
	ok(nil, nil, err)
	note, _, err = c.Notes.UpdateMergeRequestNote(42, 7, note.ID,
		&client.UpdateMergeRequestNoteOptions{Body: client.Ptr("b")})
	ok(nil, nil, err)
	assert.Equal(t, "b", note.Body)
	ok(c.AwardEmoji.CreateMergeRequestAwardEmojiOnNote(42, 7, note.ID, &client.CreateAwardEmojiOptions{Name: "eyes"}))
	_, err = c.Notes.DeleteMergeRequestNote(42, 7, note.ID)
	require.NoError(t, err)
	thread, _, err := c.Discussions.CreateMergeRequestDiscussion(42, 7, &client.CreateMergeRequestDiscussionOptions{
		Body: client.Ptr("c"), Position: &client.PositionOptions{
			BaseSHA: client.Ptr(hosttest.Base), StartSHA: client.Ptr(hosttest.Base), HeadSHA: client.Ptr(hosttest.Head),
			PositionType: client.Ptr("text"), NewPath: client.Ptr(hosttest.Path), OldPath: client.Ptr(hosttest.Path),
			NewLine: client.Ptr(int64(3)),
		},
	})
	ok(nil, nil, err)
	ok(c.Discussions.ResolveMergeRequestDiscussion(42, 7, thread.ID,
		&client.ResolveMergeRequestDiscussionOptions{Resolved: client.Ptr(true)}))
	threads, _, err := c.Discussions.ListMergeRequestDiscussions(42, 7, nil)
	ok(nil, nil, err)
	require.Len(t, threads, 1)
	require.Len(t, threads[0].Notes, 1)
	n := threads[0].Notes[0]
	assert.Equal(t, client.NoteTypeValue("DiffNote"), n.Type)
	assert.True(t, n.Resolved)
	assert.Equal(t, hosttest.Account, n.ResolvedBy.Username)
	assert.Equal(t, int64(3), n.Position.NewLine)

	for _, name := range gitlabfake.Operations() {
		assert.True(t, called[name], name)
	}
}

// TestClientReadsDeliveries has the client read the fake's deliveries as what they are.
func TestClientReadsDeliveries(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	for _, event := range gitlabfake.Events {
		header, body := fake.Deliver(event, hosttest.Secret)
		var read any
		var err error
		if header.Get("X-Gitlab-Event") == "System Hook" {
			read, err = client.ParseSystemhook(body)
		} else {
			read, err = client.ParseWebhook(client.EventType(header.Get("X-Gitlab-Event")), body)
		}
		require.NoError(t, err, event)
		switch e := read.(type) {
		case *client.MergeEvent:
			assert.Equal(t, int64(hosttest.Number), e.ObjectAttributes.IID)
		case *client.MergeCommentEvent:
			assert.Equal(t, int64(hosttest.Number), e.MergeRequest.IID)
		case *client.ProjectSystemEvent:
			assert.Equal(t, "acme/site", e.PathWithNamespace)
		default:
			t.Errorf("%s is %T", event, read)
		}
	}
}

// TestExampleDeliveries verifies the example deliveries of GitLab's client, and reads them.
func TestExampleDeliveries(t *testing.T) {
	t.Parallel()
	hints := map[string]codehost.HintKind{
		"webhooks/merge_request.json":         codehost.HintPullRequest,
		"webhooks/service_merge_request.json": codehost.HintPullRequest,
		"webhooks/note_merge_request.json":    codehost.HintComment,
		"systemhooks/project_rename.json":     codehost.HintRepository,
		"systemhooks/project_transfer.json":   codehost.HintRepository,
	}
	examples := os.Getenv("PRWARDEN_GITLAB_EXAMPLES")
	files, err := filepath.Glob(filepath.Join(examples, "*hooks", "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 50)
	found := []string{}
	for _, file := range files {
		name, err := filepath.Rel(examples, file)
		require.NoError(t, err)
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		now := time.Now()
		header := http.Header{}
		gitlabfake.Sign(header, name, now, body, hosttest.Secret)
		id, err := anywhere().Verify(header, body, [][]byte{[]byte(hosttest.Secret)}, now)
		require.NoError(t, err, name)
		assert.Equal(t, name, id)
		for i := range len(body) * 8 {
			body[i/8] ^= 1 << (i % 8)
			_, err := anywhere().Verify(header, body, [][]byte{[]byte(hosttest.Secret)}, now)
			require.ErrorIs(t, err, codehost.ErrSignature, "%s, bit %d", name, i)
			body[i/8] ^= 1 << (i % 8)
		}
		got, err := anywhere().Hints(nil, body)
		if name == "webhooks/group_merge_request.json" { // its project has no number
			require.ErrorContains(t, err, "names no project")
			continue
		}
		require.NoError(t, err, name)
		if want := hints[name]; want == "" {
			assert.Empty(t, got, name)
		} else if assert.Len(t, got, 1, name) {
			found = append(found, name)
			assert.Equal(t, want, got[0].Kind, name)
		}
	}
	assert.Len(t, found, len(hints), "%v", slices.Sorted(slices.Values(found)))
}
