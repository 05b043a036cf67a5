package gitlab_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
)

// checked may look at requests before a fake gets them.
var checked = func(f *gitlabfake.Fake) hosttest.Fake { return f }

func TestHost(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"19": false, "before 18.3": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosttest.Run(t, hosttest.Fixture{
				Traits: hosttest.Traits{Replies: true, Closes: true, ByID: true, Events: gitlabfake.Events},
				New: func(t testing.TB) hosttest.Fake {
					f := gitlabfake.New(t)
					f.Strict = strict
					return checked(f)
				},
				Open: func(_ testing.TB, url string, _ hosttest.Fake) codehost.Host {
					return gitlab.New(gitlab.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token})
				},
			})
		})
	}
}

// open opens a host at a fake.
func open(t *testing.T, f http.Handler) *gitlab.Host {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return gitlab.New(gitlab.Options{Client: server.Client(), URL: server.URL, Token: hosttest.Token, GitToken: "reads"})
}

// pull reads the merge request.
func pull(t *testing.T, h *gitlab.Host) codehost.PullRequest {
	t.Helper()
	p, err := h.PullRequest(t.Context(), codehost.Repository{Name: hosttest.Repo}, hosttest.Number)
	require.NoError(t, err)
	return p
}

func set(verdict codehost.Verdict, title string) codehost.Step {
	return codehost.Step{Action: codehost.SetCheck, Check: codehost.Check{
		SHA: hosttest.Head, Verdict: verdict, Title: title, URL: "https://prwarden.example.com/r/1",
	}}
}

// TestWhereTheStatusGoes checks that a status is in the pipeline that the merge request
// shows.
func TestWhereTheStatusGoes(t *testing.T) {
	t.Parallel()
	const requests = "refs/merge-requests/7/head"
	tests := map[string]struct {
		before func(*gitlabfake.Fake)
		want   []string
	}{
		"no pipeline":               {func(*gitlabfake.Fake) {}, []string{"page"}},
		"that of the merge request": {func(f *gitlabfake.Fake) { f.Run() }, []string{requests}},
		"of a fork":                 {func(f *gitlabfake.Fake) { f.SetDraft(false, true) }, []string{requests}},
		"of a fork, with one here": {
			func(f *gitlabfake.Fake) {
				f.SetDraft(false, true)
				f.Run()
			}, []string{requests},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := gitlabfake.New(t)
			h := open(t, checked(fake))
			test.before(fake)
			p := pull(t, h)
			for _, v := range []codehost.Verdict{codehost.Pending, codehost.Success} {
				require.NoError(t, h.Do(t.Context(), p, set(v, "t")))
				o, err := h.Observe(t.Context(), p)
				require.NoError(t, err)
				require.NotNil(t, o.Check)
				assert.Equal(t, v, o.Check.Verdict)
			}
			assert.Equal(t, test.want, fake.Refs())
		})
	}
}

// TestStatusOfFormerHead checks that a status which waits ends where it is, also when
// the merge request has a pipeline of its own by then.
func TestStatusOfFormerHead(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	h := open(t, checked(fake))
	require.NoError(t, h.Do(t.Context(), pull(t, h), set(codehost.Pending, "waits")))
	fake.Push(hosttest.Base, false)
	fake.Run()
	require.NoError(t, h.Do(t.Context(), pull(t, h), set(codehost.Outdated, "ended")))
	assert.Equal(t, codehost.Outdated, fake.Check(hosttest.Head).Verdict)
	assert.Equal(t, []string{"page"}, fake.Refs())
	assert.Nil(t, fake.Check(hosttest.Base))
}

// TestStatusThatWaits sets one twice. Before GitLab 18.3 the second is refused.
func TestStatusThatWaits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"19": "two", "before 18.3": "one"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := gitlabfake.New(t)
			fake.Strict = want == "one"
			h := open(t, checked(fake))
			require.NoError(t, h.Do(t.Context(), pull(t, h), set(codehost.Pending, "one")))
			require.NoError(t, h.Do(t.Context(), pull(t, h), set(codehost.Pending, "two")))
			assert.Equal(t, want, fake.Check(hosttest.Head).Title)
			require.NoError(t, h.Do(t.Context(), pull(t, h), set(codehost.Failure, "three")))
			assert.Equal(t, "three", fake.Check(hosttest.Head).Title)
		})
	}
}

// TestStatusOfAnother checks that our status counts as missing when people see another.
func TestStatusOfAnother(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	h := open(t, checked(fake))
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, set(codehost.Failure, "3 findings")))
	fake.PostStatus(hosttest.Writer, hosttest.Head, "success")
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Nil(t, o.Check)

	require.NoError(t, h.Do(t.Context(), p, set(codehost.Failure, "3 findings")))
	o, err = h.Observe(t.Context(), p)
	require.NoError(t, err)
	require.NotNil(t, o.Check)
	assert.Equal(t, codehost.Failure, o.Check.Verdict)
}

// TestVerdictThatIsRefused checks that a verdict which GitLab doesn't take is not taken
// for one that is there.
func TestVerdictThatIsRefused(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	h := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fake.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"Cannot transition status via :drop from :canceled"}`)
	}))
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, set(codehost.Pending, "waits")))
	for _, v := range []codehost.Verdict{codehost.Success, codehost.Failure, codehost.Broken} {
		assert.Equal(t, codehost.Passing, codehost.FaultOf(h.Do(t.Context(), p, set(v, "ended"))), v)
	}
}

// TestPosition checks what is sent of a line: an unchanged one has both numbers.
func TestPosition(t *testing.T) {
	t.Parallel()
	var sent []string
	fake := gitlabfake.New(t)
	h := open(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodPost {
			fake.ServeHTTP(w, q)
			return
		}
		data, _ := io.ReadAll(q.Body)
		sent = append(sent, string(data))
		w.WriteHeader(http.StatusCreated)
	}))
	p := pull(t, h)
	for _, old := range []int{0, 8} {
		require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.AddComments, Comments: []codehost.LineComment{{
			Path: "new.go", OldPath: "old.go", Line: 9, OldLine: old, Body: "b",
		}}}))
	}
	const start = `{"body": "b", "position": {"position_type": "text", "base_sha": "` + hosttest.Base +
		`", "start_sha": "` + hosttest.Base + `", "head_sha": "` + hosttest.Head +
		`", "old_path": "old.go", "new_path": "new.go", "new_line": 9`
	require.Len(t, sent, 2)
	assert.JSONEq(t, start+`}}`, sent[0])
	assert.JSONEq(t, start+`, "old_line": 8}}`, sent[1])
}

// TestNames checks that a name in groups is one part of a path, and that a name which
// was given up is not followed.
func TestNames(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	h := open(t, checked(fake))
	fake.Rename("acme/team/web")
	p, err := h.PullRequest(t.Context(), codehost.Repository{Name: "acme/team/web"}, hosttest.Number)
	require.NoError(t, err)
	assert.Equal(t, codehost.Repository{ID: hosttest.RepoID, Name: "acme/team/web", Private: true}, p.Repository)
	_, err = h.PullRequest(t.Context(), codehost.Repository{Name: hosttest.Repo}, hosttest.Number)
	assert.Equal(t, codehost.Moved, codehost.FaultOf(err), "%v", err)
}

// TestNewRequest checks one whose commits GitLab has not looked at.
func TestNewRequest(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	fake.Unprepare()
	_, err := open(t, checked(fake)).PullRequest(t.Context(), codehost.Repository{Name: hosttest.Repo}, hosttest.Number)
	var e *codehost.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, codehost.Passing, e.Fault)
	assert.Positive(t, e.After)
}

func TestAccess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before func(*gitlabfake.Fake)
		want   []string
	}{
		"all":                      {func(*gitlabfake.Fake) {}, nil},
		"token of OAuth":           {func(f *gitlabfake.Fake) { f.OAuth = true }, nil},
		"token that may only read": {func(f *gitlabfake.Fake) { f.Restrict() }, []string{"api"}},
		"reporter":                 {func(f *gitlabfake.Fake) { f.SetRole(20) }, []string{"the role Developer in a project"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := gitlabfake.New(t)
			test.before(fake)
			a, err := open(t, checked(fake)).Access(t.Context())
			require.NoError(t, err)
			assert.Equal(t, codehost.Access{Account: hosttest.Account, ID: "1", Missing: test.want}, a)
		})
	}
}

// TestScopeInWords checks that the host's words name the scope.
func TestScopeInWords(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	h := open(t, checked(fake))
	p := pull(t, h)
	fake.Restrict()
	var e *codehost.Error
	require.ErrorAs(t, h.Do(t.Context(), p, set(codehost.Success, "t")), &e)
	assert.Contains(t, e.Scope, "Scope: api")
}

func TestCredential(t *testing.T) {
	t.Parallel()
	c, err := open(t, gitlabfake.New(t)).Credential(t.Context(), codehost.Repository{Name: hosttest.Repo})
	require.NoError(t, err)
	assert.Equal(t, codehost.Credential{Username: "oauth2", Token: "reads"}, c)
}

// TestLimits holds the limits against those of gitlab.com
// (docs.gitlab.com/user/gitlab_com, docs.gitlab.com/api/commits).
func TestLimits(t *testing.T) {
	t.Parallel()
	l := gitlab.New(gitlab.Options{Client: http.DefaultClient}).Limits()
	assert.LessOrEqual(t, l.CallsPerMinute, 60, "notes of a user")
	assert.LessOrEqual(t, l.Title, 255, "the description of a status")
	assert.LessOrEqual(t, l.Body, 1_000_000, "a note")
	assert.Equal(t, 1, l.CommentsPerCall)
}
