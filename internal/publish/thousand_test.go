package publish_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
	"github.com/prwarden/prwarden/internal/publish"
)

// counted is a fake that counts its calls.
type counted struct {
	hosttest.Fake

	mu            sync.Mutex
	reads, writes int
	refused       []string
}

// ServeHTTP counts a call by what it does: GraphQL reads by POST, too, and tokens are no
// part of a publication.
func (c *counted) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	q.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	c.Fake.ServeHTTP(answer, q)

	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case q.Method == http.MethodGet, bytes.Contains(body, []byte(`"query":"query`)):
		c.reads++
	default:
		c.writes++
	}
	if answer.Code >= http.StatusBadRequest && answer.Code != http.StatusNotFound { // what isn't there yet
		c.refused = append(c.refused, fmt.Sprint(q.Method, " ", q.URL.Path, " ", answer.Code, " ", answer.Body))
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// unhurried is a host that may be called as fast as we like. It is also its connection's
// Hosts.
type unhurried struct {
	codehost.Host
	connection.Hosts
}

func (u unhurried) Limits() codehost.Limits {
	l := u.Host.Limits()
	l.CallsPerMinute, l.CallsPerHour = 0, 0

	return l
}

func (u unhurried) Open(_ context.Context, id string) (connection.Connection, codehost.Host, error) {
	return connection.Connection{ID: id, Organization: "acme", Name: id, State: connection.Active}, u, nil
}

// changesNothing publishes again what is there already. Its calls don't count.
func (s *scene) changesNothing(fake *counted) {
	s.t.Helper()
	fake.mu.Lock()
	reads, writes := fake.reads, fake.writes
	fake.mu.Unlock()
	_, err := s.store.Republish(s.t.Context(), publish.Key{
		Organization: "acme", Repo: "acme/shop", Number: hosttest.Number,
	})
	require.NoError(s.t, err)
	require.Empty(s.t, s.untilDone(hosttest.Number).Problem)

	fake.mu.Lock()
	defer fake.mu.Unlock()
	assert.Equal(s.t, writes, fake.writes, "calls that write")
	fake.reads = reads
}

// TestAThousandFindingsAtEachHost publishes a review with many findings at the fakes,
// which refuse what is beyond the limits of their hosts.
func TestAThousandFindingsAtEachHost(t *testing.T) {
	t.Parallel()
	onGitHub := func(o github.Options) func(string) (codehost.Host, error) {
		return func(url string) (codehost.Host, error) {
			o.URL = url
			return github.New(o)
		}
	}
	onGitea := func(url string) (codehost.Host, error) {
		return gitea.New(gitea.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token}), nil
	}
	onGitLab := func(url string) (codehost.Host, error) {
		return gitlab.New(gitlab.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token}), nil
	}
	onBitbucket := func(url string) (codehost.Host, error) {
		return bitbucket.New(bitbucket.Options{
			Client: http.DefaultClient, APIURL: url, Token: bitbucketfake.Email + ":" + hosttest.Token,
		})
	}
	onBitbucketServer := func(url string) (codehost.Host, error) {
		return bitbucketserver.New(bitbucketserver.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token}), nil
	}
	forgejo := giteafake.New(t)
	forgejo.Forgejo = true

	for name, on := range map[string]struct {
		fake          hosttest.Fake
		open          func(url string) (codehost.Host, error)
		reads, writes int
		annotations   int
	}{
		"github app": {githubfake.New(true), onGitHub(github.Options{
			AppID: githubfake.AppID, Installation: githubfake.Installation, PrivateKey: githubfake.PrivateKey(),
		}), 10, 25, 1000},
		"github token": {githubfake.New(false), onGitHub(github.Options{Token: hosttest.Token}), 10, 4, 0},
		"gitea":        {giteafake.New(t), onGitea, 10, 4, 0},
		"forgejo":      {forgejo, onGitea, 10, 4, 0},
		"gitlab":       {gitlabfake.New(t), onGitLab, 10, 25, 0}, // each comment is a call

		// The head is looked at before each comment, since that can't name the commit.
		"bitbucket":        {bitbucketfake.New(t), onBitbucket, 60, 45, 1000},
		"bitbucket server": {bitbucketserverfake.New(t), onBitbucketServer, 60, 45, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := &counted{Fake: on.fake}
			server := httptest.NewServer(fake)
			t.Cleanup(server.Close)
			host, err := on.open(server.URL)
			require.NoError(t, err)
			_, err = host.Access(t.Context()) // a connection asks once who it is
			require.NoError(t, err)
			fake.reads, fake.writes, fake.refused = 0, 0, nil

			s := newScene(t, codehost.Limits{})
			s.hosts = unhurried{Host: host}
			s.publisher(s.options())
			fake.Rename("acme/shop")
			head := s.push(hosttest.Number, sha(1)).HeadSHA
			fake.Push(head, false)
			s.create(hosttest.Number, head)
			require.Empty(t, s.untilDone(hosttest.Number).Problem)
			require.Equal(t, codehost.Pending, fake.Check(head).Verdict)
			s.changesNothing(fake)

			var many []string
			for i := range 1000 {
				many = append(many, fmt.Sprintf("%032x", i+1))
			}
			s.finish(s.claim(), many...)
			require.Empty(t, s.untilDone(hosttest.Number).Problem)

			assert.Equal(t, codehost.Failure, fake.Check(head).Verdict)
			assert.Equal(t, on.annotations, fake.Annotations(head))
			onLines := 0
			for _, c := range fake.Comments() {
				if c.Path != "" {
					onLines++
				}
			}
			assert.Equal(t, 20, onLines)
			fake.mu.Lock()
			assert.Empty(t, fake.refused)
			assert.LessOrEqual(t, fake.writes, on.writes)
			assert.LessOrEqual(t, fake.reads, on.reads)
			t.Logf("%d calls that read, %d that write", fake.reads, fake.writes)
			fake.mu.Unlock()
			s.changesNothing(fake)
		})
	}
}
