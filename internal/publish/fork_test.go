package publish_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/command"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// forgedComments are what somebody writes below a pull request to be taken for us.
func forgedComments(fingerprint string) map[string]string {
	return map[string]string{
		"marker of a finding":  codehost.Marker(fingerprint),
		"marker of a summary":  codehost.SummaryMarker + "\n### prwarden: Pass: no findings",
		"closed finding":       codehost.Marker(fingerprint) + "\n<!-- prwarden:gone -->\n**No longer found**",
		"marker after a text":  "hello\n" + codehost.SummaryMarker,
		"marker in a quote":    "> " + codehost.Marker(fingerprint),
		"marker of the closed": "<!-- prwarden:1:closed -->",
	}
}

// hostileCode is what somebody writes into code, names and messages that we repeat.
var hostileCode = map[string]string{
	"team":              "@acme/security please approve",
	"user":              "cc @torvalds",
	"everybody":         "@everyone @here @channel",
	"fence":             "```\n@acme/security\n```",
	"long fence":        "``````\n</details>\n``````\n@torvalds",
	"backticks":         "` `` ``` @torvalds ` ``",
	"tildes":            "~~~\n@torvalds\n~~~",
	"HTML comment":      "<!-- prwarden:1:summary --> -->",
	"open HTML comment": "<!-- ",
	"HTML":              "<img src=https://evil.example/x.png><script>alert(1)</script>",
	"details":           "</details></summary><h1>Pass</h1>",
	"link":              "[approve](https://evil.example) ![x](https://evil.example/x.png)",
	"reference link":    "[a]: https://evil.example\n[a]",
	"issue":             "fixes #1, closes acme/web#2, GH-3, !4",
	"heading":           "# Pass",
	"rule":              "---\n***\n===",
	"table":             "| a | b |\n|---|---|",
	"bidi control":      "\u202e\u2066evil\u2069\u202c",
	"escape sequence":   "\x1b[2J\x1b[31m\x00\a",
	"no UTF-8":          "\xff\xfe\xc0",
	"quick action":      "/approve\n/merge",
	"command":           "/prwarden ignore 0f -- mine until 2099-01-01",
	"suggestion":        "```suggestion\nrm -rf /\n```",
}

// strangersCommands are what somebody without write access asks for.
var strangersCommands = []string{
	"/prwarden rescan", "/prwarden ignore 00000000000000000000000000000001 -- mine until 2099-01-01",
	"/prwarden explain security/x", "hello\n\n/prwarden rescan", "/prwarden rescan\n/prwarden rescan",
}

// fake is a connection to a fake of a code host, from a fork of which a pull request comes.
type fake struct {
	connection.Hosts
	codehost.Host
}

func (f fake) Open(context.Context, string) (connection.Connection, codehost.Host, error) {
	return connection.Connection{ID: "con_a", Organization: "acme", Name: "con_a", State: connection.Active}, f.Host, nil
}

// Limits are those of the host, at any pace.
func (f fake) Limits() codehost.Limits {
	l := f.Host.Limits()
	l.CallsPerMinute, l.CallsPerHour = 0, 0

	return l
}

// TestForkSuite holds that whoever opens a pull request from a fork has no effect but the
// findings in it: all that they can write is repeated as text, and read as nothing of ours.
func TestForkSuite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fake hosttest.Fake
		open func(url string) (codehost.Host, error)
	}{
		"GitHub": {githubfake.New(true), func(url string) (codehost.Host, error) {
			return github.New(github.Options{
				URL: url, AppID: githubfake.AppID, Installation: githubfake.Installation, PrivateKey: githubfake.PrivateKey(),
			})
		}},
		"GitLab": {gitlabfake.New(t), func(url string) (codehost.Host, error) {
			return gitlab.New(gitlab.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token}), nil
		}},
		"Gitea": {giteafake.New(t), func(url string) (codehost.Host, error) {
			return gitea.New(gitea.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token}), nil
		}},
		"Bitbucket Cloud": {bitbucketfake.New(t), func(url string) (codehost.Host, error) {
			return bitbucket.New(bitbucket.Options{
				Client: http.DefaultClient, URL: "https://bitbucket.org", APIURL: url,
				Token: bitbucketfake.Email + ":" + hosttest.Token, Workspaces: []string{"acme"},
			})
		}},
		"Bitbucket Data Center": {bitbucketserverfake.New(t), func(url string) (codehost.Host, error) {
			return bitbucketserver.New(bitbucketserver.Options{
				Client: http.DefaultClient, URL: url, Token: hosttest.Token,
			}), nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.fake)
			t.Cleanup(server.Close)
			of, err := c.open(server.URL)
			require.NoError(t, err)
			// The commits of a fork may not be there for Bitbucket Cloud (docs/hosts/bitbucket.md), so it is
			// a stranger with a branch there.
			forkSuite(t, c.fake, fake{Host: of}, name != "Bitbucket Cloud")
		})
	}
}

// forkSuite is TestForkSuite on one code host.
func forkSuite(t *testing.T, host hosttest.Fake, of fake, isFork bool) {
	t.Helper()
	host.SetDraft(false, isFork)
	p, err := of.PullRequest(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, hosttest.Number)
	require.NoError(t, err)
	require.Equal(t, isFork, p.Fork)

	var theirs []hosttest.Comment
	for _, body := range forgedComments(fmt.Sprintf("%032x", 1)) {
		for _, path := range []string{"", hosttest.Path} {
			c := hosttest.Comment{Author: hosttest.Stranger, Path: path, Line: 1, Body: body}
			c.Ref = host.Write(c)
			theirs = append(theirs, c)
		}
	}

	s := newScene(t, codehost.Limits{})
	s.keep(p)
	s.hostile(p)
	publisher := publish.NewPublisher(s.store, of, s.options())
	publisher.Start()
	t.Cleanup(func() { assert.NoError(t, publisher.Stop(context.Background())) })
	var now publish.PullRequest
	require.Eventually(t, func() (done bool) {
		var err error
		now, err = s.store.GetPullRequest(context.Background(), publish.PullRequest{PullRequest: p, Organization: "acme"}.Key())
		return err == nil && !now.Publication.Pending
	}, 60*time.Second, 5*time.Millisecond)
	require.Empty(t, now.Publication.Problem)

	ours := 0
	for _, c := range host.Comments() {
		if c.Author == hosttest.Stranger {
			assert.Contains(t, theirs, hosttest.Comment{
				Ref: c.Ref, Author: c.Author, Path: c.Path, Line: c.Line, Body: c.Body,
			}, "theirs stay as they are")
			continue
		}
		if c.Path != "" {
			ours++
		}
		assertInert(t, c.Body)
	}
	most := 20
	if isFork {
		most = 5
	}
	assert.Equal(t, most, ours, "the most on a pull request")
	check := host.Check(hosttest.Head)
	require.NotNil(t, check)
	assert.Equal(t, codehost.Failure, check.Verdict)

	commands := command.New(forgetful{}, nil, nil, nil, slog.New(slog.DiscardHandler)) // what has an effect panics
	before := len(host.Comments())
	for _, body := range strangersCommands {
		for _, author := range []string{hosttest.Stranger, hosttest.Reader} {
			ref := host.Write(hosttest.Comment{Author: author, Body: body})
			before++
			c := codehost.Comment{ID: string(ref), Author: author, AuthorID: hosttest.People[author], Body: body}
			require.NoError(t, commands.Handle(t.Context(), connection.Connection{Organization: "acme"}, of.Host, p, c))
			assert.Empty(t, host.Reactions(ref), body)
		}
	}
	assert.Len(t, host.Comments(), before, "there is no answer")
}

// hostile completes a review of a pull request whose findings say hostileCode.
func (s *scene) hostile(p codehost.PullRequest) {
	s.t.Helper()
	_, err := s.store.CreateReview(s.t.Context(), review.NewReview{
		ID: "rev_fork", Organization: "acme", Repo: p.Repository.Name, PRNumber: p.Number, Ruleset: p.Repository.Name,
		Commits: finding.Commits{Head: p.HeadSHA, BaseRef: p.BaseRef}, CreatedBy: review.ByConnection + "con_a",
	}, review.MaxQueued)
	require.NoError(s.t, err)
	result := finding.Result{HeadSHA: p.HeadSHA, BaseSHA: p.BaseSHA, Summary: finding.NewSummary()}
	for _, text := range hostileCode {
		n := len(result.Findings) + 1
		f := finding.Finding{
			RuleID: "security/x", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: hosttest.Path, Line: n, EndLine: n, Column: 1, EndColumn: 2,
			Message: text, Snippet: text, Fingerprint: fmt.Sprintf("%032x", n),
		}
		named := f
		named.File, named.Severity, named.Fingerprint = text, rule.Low, fmt.Sprintf("%032x", 1000+n)
		result.Findings = append(result.Findings, f, named)
		result.Summary[rule.High]++
		result.Summary[rule.Low]++
	}
	result.Judge(rule.High, func(string) bool { return false })
	require.NoError(s.t, s.store.Finish(s.t.Context(), s.claim(), result))
}

// active is what a host would do more with than show it, outside of code: mentions,
// references, HTML, links, and bidirectional and other control characters anywhere.
var (
	active  = regexp.MustCompile(`(^|[^\\\pL\d])[@#!]\w|<[a-zA-Z/!]|(^|[^\\])\]\(|(?m)^(/|#{1,2} |---|~~~)`)
	control = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]")
)

// assertInert checks that one of our comments is text, code and one marker.
func assertInert(t *testing.T, body string) {
	t.Helper()
	marker, rest, _ := strings.Cut(body, "\n")
	assert.True(t, codehost.IsSummary(body) || codehost.FingerprintIn(body) != "", marker)
	assert.NotRegexp(t, active, withoutCode(rest), body)
	assert.NotRegexp(t, control, body)
}

// withoutCode leaves blocks and pieces of code out as CommonMark reads them: until a run of
// as many backticks as they begin with.
func withoutCode(text string) string {
	var out strings.Builder
	for text != "" {
		begin := strings.Index(text, "`")
		if begin < 0 || begin > 0 && text[begin-1] == '\\' {
			next := max(begin+1, 0)
			if begin < 0 {
				next = len(text)
			}
			out.WriteString(text[:next])
			text = text[next:]
			continue
		}
		out.WriteString(text[:begin] + "code")
		fence := text[begin : begin+len(text[begin:])-len(strings.TrimLeft(text[begin:], "`"))]
		text = text[begin+len(fence):]
		for {
			at := strings.Index(text, fence)
			if at < 0 {
				return out.String() + text // it never ends, so it is none
			}
			run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
			text = text[at+run:]
			if run == len(fence) {
				break
			}
		}
	}

	return out.String()
}

// forgetful is a command.Store that knows nothing.
type forgetful struct{}

func (forgetful) KeepCommand(context.Context, string, string, string) (bool, error) { return true, nil }
func (forgetful) KnowsCommand(context.Context, string, string, string) (bool, error) {
	return false, nil
}
func (forgetful) ForgetCommand(context.Context, string, string, string) error { return nil }
