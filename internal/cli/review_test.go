package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/sariftest"
)

const (
	complete = `{"review_id":"rev_1","status":"complete","pr_number":17,"repo":"acme/web",
"findings":[{"rule_id":"security/no-eval","severity":"high","file":"a\u001b[2J.js","line":3,"column":5,"message":"Parse the value instead of running it."}],
"summary":{"high":1},"skipped":[]}`
	failed = `{"review_id":"rev_1","status":"failed","pr_number":17,"repo":"acme/web","findings":[],"summary":{},
"error":{"code":"host_unreachable","message":"The code host can't be reached."}}`
	updates = `{"result":{"review_id":"rev_1","status":"queued","files_done":0}}
{"result":{"review_id":"rev_1","status":"in_progress","files_done":0}}
{"result":{"review_id":"rev_1","status":"in_progress","files_done":1,"files_total":3}}
{"result":{"review_id":"rev_1","status":"%s"}}
`
)

// fakeServer answers like a server that has one review.
type fakeServer struct {
	review  string       // what GET answers, once the stream was asked for
	watch   string       // what the stream holds
	watched *atomic.Bool // nil when the review has ended from the beginning
	status  int          // of the creation; 202 when 0
	body    string       // of the creation's refusal
}

// ending is a server whose review ends while it is watched.
func ending(review, status string) fakeServer {
	return fakeServer{review: review, watch: fmt.Sprintf(updates, status), watched: &atomic.Bool{}}
}

func (f fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch watch := strings.HasSuffix(r.URL.Path, ":watch"); {
	case r.Header.Get("Authorization") != "Bearer prw_key":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost && f.status != 0:
		w.WriteHeader(f.status)
		io.WriteString(w, f.body)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"review_id":"rev_1","status":"queued","estimated_ms":2400}`)
	case watch:
		f.watched.Store(true)

		if f.watch == "" {
			w.WriteHeader(http.StatusBadGateway)
		}

		io.WriteString(w, f.watch)
	case f.watched != nil && !f.watched.Load():
		io.WriteString(w, `{"review_id":"rev_1","status":"queued"}`)
	default:
		io.WriteString(w, f.review)
	}
}

type result struct {
	err         error
	out, errOut string
}

// asked is what the command line has without flags.
func asked() cli.ReviewInput {
	return cli.ReviewInput{
		Repo: "acme/web", Number: "17", Timeout: 10 * time.Minute,
		Output: cli.Output{FailOn: "high", Suppressed: cli.SuppressedOmit, Color: "auto"},
	}
}

func review(t *testing.T, f http.Handler, in cli.ReviewInput, env ...string) result {
	t.Helper()
	return reviewWithin(t.Context(), t, f, in, env...)
}

func reviewWithin(ctx context.Context, t *testing.T, f http.Handler, in cli.ReviewInput, env ...string) result {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	var out, errOut strings.Builder
	err := cli.Review(ctx,
		cli.Streams{Out: &out, Err: &errOut, Env: append([]string{"PRWARDEN_API_KEY=prw_key", "COLUMNS=80"}, env...)},
		config.Client{Server: server.URL}, in)
	return result{err, out.String(), errOut.String()}
}

func TestReviewWithoutWaiting(t *testing.T) {
	t.Parallel()
	in := asked()
	in.NoWait = true
	r := review(t, fakeServer{}, in)
	require.NoError(t, r.err)
	assert.Equal(t, "rev_1\n", r.out)
	assert.Equal(t, "review rev_1 queued, done in about 2s\n", r.errOut)

	in.Output.Formats = []string{"json"}
	r = review(t, fakeServer{}, in)
	require.NoError(t, r.err)
	assert.JSONEq(t, `{"review_id":"rev_1","status":"queued","estimated_ms":2400}`, r.out)
}

func TestReviewWaits(t *testing.T) {
	t.Parallel()
	r := review(t, ending(complete, "complete"), asked())
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Equal(t, cli.ExitFound, cli.ExitCode(r.err))
	assert.Equal(t, `a\x1b[2J.js:3:5  high      security/no-eval
    Parse the value instead of running it.

1 finding in acme/web#17: 1 high.
Failed: 1 finding is high or worse.
`, r.out)
	assert.Equal(t, `review rev_1 queued, done in about 2s
waiting for a worker
scanning: fetching the pull request
`, strings.TrimSuffix(r.errOut, "scanning: 1 of 3 files\n"), "which is not told, unless 5 seconds have gone by")
}

// The threshold decides, and of findings that were there before it can be told
// not to.
func TestReviewThreshold(t *testing.T) {
	t.Parallel()
	compared := strings.Replace(complete, `"line":3`, `"line":3,"state":"existing"`, 1)
	compared = strings.Replace(compared, `"skipped"`, `"previous_review_id":"rev_0","skipped"`, 1)

	incomplete := `{"review_id":"rev_1","status":"complete","pr_number":17,"repo":"acme/web","findings":[],"summary":{},
"skipped":[{"file":"a","reason":"file_too_large","tolerated":false}],
"verdict":{"outcome":"incomplete","threshold":"high","not_looked_at":1}}`
	stopped := strings.NewReplacer(`"reason":"file_too_large","tolerated":false`,
		`"rule_id":"a/slow","severity":"medium","reason":"rule_stopped","tolerated":true`,
		`"incomplete"`, `"pass"`, `"not_looked_at":1`, `"not_looked_at":0`).Replace(incomplete)
	never := func(o *cli.Output) { o.FailOn = cli.FailNever }
	newOnly := func(o *cli.Output) { o.NewOnly = true }
	allowed := func(o *cli.Output) { o.AllowIncomplete = true }

	for name, tt := range map[string]struct {
		review string
		change func(*cli.Output)
		exit   int
	}{
		"reached":              {complete, nil, cli.ExitFound},
		"none":                 {complete, never, cli.ExitOK},
		"existing":             {compared, nil, cli.ExitFound},
		"existing, only new":   {compared, newOnly, cli.ExitOK},
		"incomplete":           {incomplete, nil, cli.ExitFound},
		"incomplete, only new": {incomplete, newOnly, cli.ExitFound},
		"incomplete, allowed":  {incomplete, allowed, cli.ExitOK},
		"incomplete, none":     {incomplete, never, cli.ExitOK},
		"a stopped rule below the review's threshold": {stopped, func(o *cli.Output) { o.FailOn = "high" }, cli.ExitOK},
		"and a stricter one":                          {stopped, func(o *cli.Output) { o.FailOn = "low" }, cli.ExitFound},
		"the policy's is stricter": {
			strings.NewReplacer(`"high"`, `"medium"`, `"skipped"`, `"verdict":{"outcome":"fail","threshold":"medium"},"skipped"`).
				Replace(complete), nil, cli.ExitFound,
		},
		"reached, incomplete": {
			strings.Replace(complete, `"skipped"`, `"verdict":{"not_looked_at":1},"skipped"`, 1), allowed, cli.ExitFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := asked()
			if tt.change != nil {
				tt.change(&in.Output)
			}
			r := review(t, ending(tt.review, "complete"), in)
			assert.Equal(t, tt.exit, cli.ExitCode(r.err), r.out)
		})
	}
}

// Several outputs at once: files appear, and stderr says how it ended where no
// table does.
func TestReviewOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := asked()

	for _, format := range []string{"table", "sarif", "gitlab", "junit", "json"} {
		in.Output.Formats = append(in.Output.Formats, format+"="+filepath.Join(dir, format))
	}

	in.Output.Formats = append(in.Output.Formats, "github")
	summary := filepath.Join(dir, "summary.md")
	r := review(t, ending(complete, "complete"), in,
		"GITHUB_STEP_SUMMARY="+summary)
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Equal(t,
		`::error file=a\x1b[2J.js,line=3,title=security/no-eval (high)::Parse the value instead of running it.`+"\n", r.out)
	assert.True(t, strings.HasSuffix(r.errOut, "1 finding in acme/web#17: 1 high.\nFailed: 1 finding is high or worse.\n"),
		r.errOut)
	for name, has := range map[string]string{
		"table": "Failed: 1", "sarif": `"ruleId":"security/no-eval"`, "gitlab": `"check_name": "security/no-eval"`,
		"junit": "<failure", "json": `"review_id"`, "summary.md": "### prwarden",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Contains(t, string(text), has)
	}

	text, err := os.ReadFile(filepath.Join(dir, "sarif"))
	require.NoError(t, err)
	log := sariftest.Valid(t, text)
	assert.NotEmpty(t, log.Runs[0].Tool.Driver.Rules[0].HelpURI, "default rules are known")
}

// Where GitHub looks for annotations, it gets one when there is no review to show.
func TestReviewFailsWithAnAnnotation(t *testing.T) {
	t.Parallel()
	in := asked()
	in.Output.Formats = []string{"github"}
	refusal := `{"message":"Not\n::yours.","details":[{"reason":"REPOSITORY_NOT_ALLOWED"}]}`
	for name, tt := range map[string]struct {
		server http.Handler
		change func(*cli.ReviewInput)
		want   string
	}{
		"refused": {
			fakeServer{status: http.StatusForbidden, body: refusal}, nil,
			`::error title=prwarden::Not\n::yours. (REPOSITORY_NOT_ALLOWED, HTTP 403)` + "\n",
		},
		"wrong": {
			fakeServer{}, func(in *cli.ReviewInput) { in.HeadSHA = "100%" },
			`::error title=prwarden::--head-sha: "100%25" is not a commit in 40 hexadecimal digits` + "\n",
		},
		"failed": {
			ending(failed, "failed"), nil,
			"::error title=prwarden::The review of acme/web#17 failed: The code host can't be reached. (host_unreachable)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := in
			if tt.change != nil {
				tt.change(&in)
			}
			r := review(t, tt.server, in)
			require.Error(t, r.err)
			assert.Equal(t, tt.want, r.out)
		})
	}
}

// A review that failed because of what it was asked for is the command line's
// fault, and any other one the service's.
func TestReviewFailures(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"pull_request_not_found": cli.ExitUsage, "repository_not_found": cli.ExitUsage, "access_denied": cli.ExitUsage,
		"commit_not_found": cli.ExitUsage, "base_unknown": cli.ExitUsage, "no_merge_base": cli.ExitUsage,
		"repository_not_allowed": cli.ExitUsage, "host_misconfigured": cli.ExitUsage,
		"host_unreachable": cli.ExitFailed, "scan_timeout": cli.ExitFailed, "pull_request_too_large": cli.ExitFailed,
		"worker_lost": cli.ExitFailed, "code_of_tomorrow": cli.ExitFailed,
	} {
		r := review(t, ending(strings.Replace(failed, "host_unreachable", code, 1), "failed"), asked())
		require.ErrorIs(t, r.err, cli.ErrSilent)
		assert.Equal(t, want, cli.ExitCode(r.err), code)
	}
}

func TestReviewOutputThatCanNotBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	in := asked()
	in.Output.Formats = []string{"json=" + filepath.Join(dir, "x")}
	server := ending(complete, "complete")
	r := review(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, os.RemoveAll(dir))
		server.ServeHTTP(w, r)
	}), in)
	require.ErrorContains(t, r.err, "the findings can't be written: json=")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err), "a gate that shows nothing is no gate")
}

// A report of before does not stay where there is none now, for a later step
// would take it for what was found.
func TestReviewWithdrawsReports(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server fakeServer
		change func(*cli.ReviewInput)
		want   int
		kept   bool
	}{
		"passed": {
			ending(strings.ReplaceAll(complete, "high", "low"), "complete"), nil, cli.ExitOK, true,
		},
		"did not pass":   {ending(complete, "complete"), nil, cli.ExitFound, true},
		"refused":        {fakeServer{status: http.StatusForbidden}, nil, cli.ExitUsage, false},
		"service failed": {fakeServer{status: http.StatusInternalServerError}, nil, cli.ExitFailed, false},
		"wrong":          {fakeServer{}, func(in *cli.ReviewInput) { in.Repo = "x" }, cli.ExitUsage, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := asked()
			var files []string

			for _, format := range []string{"sarif", "junit", "json"} {
				file := filepath.Join(dir, format)
				require.NoError(t, os.WriteFile(file, []byte("of before"), 0o600))
				in.Output.Formats, files = append(in.Output.Formats, format+"="+file), append(files, file)
			}

			if tt.change != nil {
				tt.change(&in)
			}

			r := review(t, tt.server, in)
			assert.Equal(t, tt.want, cli.ExitCode(r.err), "%v", r.err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				if !tt.kept {
					require.ErrorIs(t, err, os.ErrNotExist)
					continue
				}
				require.NoError(t, err)
				assert.NotContains(t, string(text), "of before")
			}
		})
	}

	// What may be more than a report is let be.
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, link))
	in := asked()
	in.Output.Formats = []string{"sarif=" + link, "json=" + os.DevNull}
	require.Error(t, review(t, fakeServer{status: http.StatusForbidden}, in).err)
	assert.FileExists(t, link)
}

func TestReviewUsage(t *testing.T) {
	t.Parallel()
	sha := strings.Repeat("a", 40)
	formats := func(list ...string) func(*cli.ReviewInput) {
		return func(in *cli.ReviewInput) { in.Output.Formats = list }
	}

	for says, change := range map[string]func(*cli.ReviewInput){
		`"x" is not a repository; write OWNER/REPO`:            func(in *cli.ReviewInput) { in.Repo = "x" },
		`"https://h/a/b" is not the address of a pull request`: func(in *cli.ReviewInput) { in.Repo = "https://h/a/b" },
		`"0" is not a pull request number`:                     func(in *cli.ReviewInput) { in.Number = "0" },
		"which pull request?":                                  func(in *cli.ReviewInput) { in.Repo, in.Number = "", "" },
		`--output: "html" is not a format`:                     formats("html"),
		"--output: sarif=none/x: there is no folder none":      formats("table", "sarif=none/x"),
		"--output: sarif=.: this is a folder; name a file":     formats("sarif=."),
		"--output: two outputs have the format json":           formats("json=-", "json"),
		`--fail-on: "bad" is no severity; use critical, high,`: func(in *cli.ReviewInput) { in.Output.FailOn = "bad" },
		`--suppressed: "x" is neither include nor omit`:        func(in *cli.ReviewInput) { in.Output.Suppressed = "x" },
		`--color: "x" is none of auto, always, never`:          func(in *cli.ReviewInput) { in.Output.Color = "x" },
		"--timeout: 0s is no time to wait":                     func(in *cli.ReviewInput) { in.Timeout = 0 },
		"--output: with --no-wait there are no findings": func(in *cli.ReviewInput) {
			in.NoWait, in.Output.Formats = true, []string{"sarif=x"}
		},
		"--head-sha goes with --base-sha or --base-ref": func(in *cli.ReviewInput) { in.HeadSHA = sha },
		"--head-sha goes with":                          func(in *cli.ReviewInput) { in.BaseRef = "main" },
		`--head-sha: "HEAD" is not a commit in 40`:      func(in *cli.ReviewInput) { in.HeadSHA = "HEAD" },
		`--base-sha: "main" is not a commit`:            func(in *cli.ReviewInput) { in.HeadSHA, in.BaseSHA = sha, "main" },
		"--base-sha and --base-ref say the same":        func(in *cli.ReviewInput) { in.BaseSHA, in.BaseRef = sha, "main" },
		`--idempotency-key: "a b" is not 1 to 255`:      func(in *cli.ReviewInput) { in.IdempotencyKey = "a b" },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			in := asked()
			change(&in)
			r := review(t, http.NotFoundHandler(), in)
			require.ErrorContains(t, r.err, says)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err))
		})
	}
}

func TestReviewPollsWhenTheStreamBreaks(t *testing.T) {
	t.Parallel()
	for name, watch := range map[string]string{
		"no stream":    "",
		"cut off":      `{"result":{"status":"in_progress"}}` + "\n",
		"ended by one": `{"error":{"message":"The server is stopping."}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := review(t, fakeServer{review: complete, watch: watch, watched: &atomic.Bool{}}, asked())
			require.ErrorIs(t, r.err, cli.ErrFound)
			assert.Contains(t, r.out, "1 finding")
		})
	}
}

func TestReviewJSON(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "json=-"} {
		in := asked()
		in.Output.Formats = []string{format}
		r := review(t, ending(complete, "complete"), in)
		require.ErrorIs(t, r.err, cli.ErrFound)
		assert.JSONEq(t, complete, r.out)
		assert.NotContains(t, r.out, "\x1b")
	}
}

func TestReviewFails(t *testing.T) {
	t.Parallel()
	r := review(t, ending(failed, "failed"), asked())
	require.ErrorIs(t, r.err, cli.ErrSilent)
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
	assert.Equal(t, "The review of acme/web#17 failed: The code host can't be reached.\n(host_unreachable)\n", r.out)
}

func TestReviewRefused(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]int{
		http.StatusFound: cli.ExitUsage, http.StatusBadRequest: cli.ExitUsage, http.StatusNotFound: cli.ExitUsage,
		http.StatusRequestTimeout: cli.ExitFailed, http.StatusTooEarly: cli.ExitFailed,
		http.StatusInternalServerError: cli.ExitFailed,
	} {
		r := review(t, fakeServer{status: status, body: `{"message":"No\u001b[2J."}`}, asked())
		require.ErrorContains(t, r.err, `No\x1b[2J. (HTTP `+fmt.Sprint(status))
		assert.Equal(t, code, cli.ExitCode(r.err), status)
	}
}

// Whoever no longer waits is told that the review goes on.
func TestReviewGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := func(answer func(w http.ResponseWriter, r *http.Request)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				fakeServer{}.ServeHTTP(w, r)
				return
			}

			answer(w, r)
		})
	}

	in := asked()
	r := reviewWithin(ctx, t, server(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}), in)
	require.EqualError(t, r.err, "waiting for review rev_1, which goes on: interrupted")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))

	in.Timeout = time.Millisecond
	r = review(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // else it is not noticed that the client has gone
		<-r.Context().Done()
	}), in)
	require.EqualError(t, r.err, "gave up after 1ms")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
}

func TestReviewKeys(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(fakeServer{})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "key")
	in := asked()
	in.Number, in.NoWait = "#17", true

	for key, want := range map[string]int{
		"prw_key": cli.ExitOK, " prw_key\n": cli.ExitOK, "": cli.ExitUsage, "prw_key and": cli.ExitUsage,
		"prw_key\nprw_other": cli.ExitUsage, "prw_\x00key": cli.ExitUsage,
	} {
		require.NoError(t, os.WriteFile(file, []byte(key), 0o600))

		for _, c := range []config.Client{{Server: server.URL, KeyFile: file}, {Server: server.URL}} {
			st := cli.Streams{Out: io.Discard, Err: io.Discard, Env: []string{"PRWARDEN_API_KEY=" + key}}
			err := cli.Review(t.Context(), st, c, in)
			assert.Equal(t, want, cli.ExitCode(err), "%q: %v", key, err)
			assert.NotContains(t, fmt.Sprint(err), "prw_", "keys stay secret")
		}
	}
}
