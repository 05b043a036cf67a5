package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

const someSHA = "8f1d3c5b7a9e0f2d4c6b8a0e1f3d5c7b9a1e0f2d"

// gitLab is the environment of a job; attempt is what differs when it is tried
// again.
func gitLab(attempt string) []string {
	return []string{
		"GITLAB_CI=true", "CI_SERVER_URL=https://gitlab.com", "CI_PIPELINE_ID=981", "CI_JOB_NAME=prwarden",
		"CI_JOB_ID=" + attempt,
		"CI_MERGE_REQUEST_IID=17", "CI_MERGE_REQUEST_PROJECT_PATH=acme/web",
		"CI_MERGE_REQUEST_PROJECT_URL=https://gitlab.com/acme/web",
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_COMMIT_SHA=" + someSHA,
	}
}

// inCI is what the command line has without arguments and flags.
func inCI() cli.ReviewInput {
	in := asked()
	in.Repo, in.Number = "", ""
	return in
}

// remembers is a server that starts one review for each idempotency key.
type remembers struct {
	mu      sync.Mutex
	bodies  []string
	keys    []string
	reviews []string               // identifiers, of which each is of the key with the same index in known
	known   []string               // keys
	answer  func(id string) string // GET
}

func (s *remembers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strings.TrimPrefix(r.URL.Path, "/v1/reviews/")

	switch {
	case r.Method != http.MethodPost && strings.HasSuffix(id, ":watch"):
		io.WriteString(w, `{"result":{"status":"complete"}}`+"\n")
	case r.Method != http.MethodPost:
		io.WriteString(w, s.answer(id))
	default:
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		s.bodies, s.keys = append(s.bodies, string(body)), append(s.keys, key)
		index := slices.Index(s.known, key)

		if index < 0 {
			index = len(s.known)
			s.known, s.reviews = append(s.known, key), append(s.reviews, fmt.Sprintf("rev_%d", index+1))
		}

		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"review_id":%q,"status":"queued","estimated_ms":1}`, s.reviews[index])
	}
}

// answer is a review of acme/web#17.
func answer(id, status string) string {
	return fmt.Sprintf(`{"review_id":%q,"status":%q,"pr_number":17,"repo":"acme/web","findings":[],"summary":{},`+
		`"skipped":[],"error":{"code":"host_unreachable","message":"No."}}`, id, status)
}

func passed(id string) string { return answer(id, "complete") }

// A job asks for the pull request and the commits of its own run, and each try
// of it with the same idempotency key.
func TestReviewInCI(t *testing.T) {
	t.Parallel()
	s := &remembers{answer: passed}
	first := review(t, s, inCI(), gitLab("1")...)
	require.NoError(t, first.err)
	assert.Contains(t, first.errOut, "GitLab CI: acme/web#17 at 8f1d3c5b7a9e\n")
	assert.JSONEq(t, `{"repo":"acme/web","pr_number":17,"head_sha":"`+someSHA+`","base_ref":"main"}`, s.bodies[0])

	require.NoError(t, review(t, s, inCI(), gitLab("2")...).err)
	assert.Equal(t, s.keys[0], s.keys[1], "tried again")
	assert.Len(t, s.reviews, 1)

	other := inCI()
	other.Ruleset, other.Output.FailOn = "default", "low"
	require.NoError(t, review(t, s, other, gitLab("1")...).err)
	assert.NotEqual(t, s.keys[0], s.keys[2], "another request")
	assert.Contains(t, s.bodies[2], `"fail_on":"low"`)

	mine := inCI()
	mine.IdempotencyKey = "mine"
	mine.BaseSHA = strings.ToUpper(someSHA)
	require.NoError(t, review(t, s, mine, gitLab("1")...).err)
	assert.Equal(t, "mine", s.keys[3])
	assert.JSONEq(t, `{"repo":"acme/web","pr_number":17,"head_sha":"`+someSHA+`","base_sha":"`+someSHA+`"}`, s.bodies[3],
		"flags win")

	for _, key := range s.keys {
		assert.Regexp(t, `^[!-~]{1,255}$`, key)
	}
}

// A job whose commits are none is told what is scanned in their place.
func TestReviewInCIWithoutCommits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"head": "CI_COMMIT_SHA=HEAD", "base": "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=",
	} {
		s := &remembers{answer: passed}
		r := review(t, s, inCI(), append([]string{change}, gitLab("1")...)...)
		require.NoError(t, r.err, name)
		assert.Contains(t, r.errOut, "GitLab CI: acme/web#17 as the code host has it\n", name)
		assert.JSONEq(t, `{"repo":"acme/web","pr_number":17}`, s.bodies[0], name)
	}
}

// Neither what the variables of a job hold nor what a server says is a command
// to the service.
func TestReviewLinesAreNoCommands(t *testing.T) {
	t.Parallel()
	watched := false
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, `{"review_id":"::rev","status":"##[queued]","estimated_ms":1}`)
		case strings.HasSuffix(r.URL.Path, ":watch"):
			watched = true
			io.WriteString(w, `{"result":{"status":"::add-mask::e"}}`+"\n"+`{"result":{"status":"complete"}}`+"\n")
		default:
			status := map[bool]string{true: "complete", false: "::queued"}[watched]
			io.WriteString(w, `{"review_id":"::rev","status":"`+status+`","pr_number":17,"repo":"##[error]acme/web"}`)
		}
	})

	in := inCI()
	in.Output.Formats = []string{"json"} // so that stderr says how it ended
	r := review(t, server, in, gitLab("1")...)
	require.NoError(t, r.err)
	assert.Equal(t, `GitLab CI: acme/web#17 at 8f1d3c5b7a9e
review ::rev ##\x5bqueued], done in about 1s
No findings in ##\x5berror]acme/web#17.
Passed: no finding is high or worse.
`, r.errOut)

	in = inCI()
	in.NoWait = true
	r = review(t, server, in, gitLab("1")...)
	require.NoError(t, r.err)
	assert.Equal(t, `\x3a:rev`+"\n", r.out)
}

// Outside of CI every call is a scan of its own.
func TestReviewKeysAtRandom(t *testing.T) {
	t.Parallel()
	s := &remembers{answer: passed}
	require.NoError(t, review(t, s, asked()).err)
	require.NoError(t, review(t, s, asked(), gitLab("1")...).err, "named by hand")
	assert.Len(t, s.reviews, 2)
	assert.JSONEq(t, `{"repo":"acme/web","pr_number":17}`, s.bodies[1])
}

// A review of an earlier try that failed is no result: the job has another one
// started, and a further try finds that.
func TestReviewAfterAFailedTry(t *testing.T) {
	t.Parallel()
	s := &remembers{answer: func(id string) string {
		return answer(id, map[bool]string{true: "failed", false: "complete"}[id == "rev_1"])
	}}

	for range 2 {
		r := review(t, s, inCI(), gitLab("1")...)
		require.NoError(t, r.err)
		assert.Contains(t, r.errOut, "review rev_1 of an earlier try of this job is failed; starting another\n")
	}

	assert.Equal(t, []string{"rev_1", "rev_2"}, s.reviews)

	// One of this try is not tried again, and none of a key that was given.
	given := inCI()
	given.IdempotencyKey = "given"
	for in, created := range map[*cli.ReviewInput]time.Time{new(inCI()): time.Now().Add(-time.Second), &given: {}} {
		s = &remembers{answer: func(id string) string {
			text := `{"created_at":"` + created.UTC().Format(time.RFC3339) + `",`
			return strings.Replace(answer(id, "failed"), "{", text, 1)
		}}
		r := review(t, s, *in, gitLab("1")...)
		require.ErrorIs(t, r.err, cli.ErrSilent)
		assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
		assert.Len(t, s.reviews, 1)
	}

	// It has an end.
	s = &remembers{answer: func(id string) string { return answer(id, "canceled") }}
	require.ErrorIs(t, review(t, s, inCI(), gitLab("1")...).err, cli.ErrSilent)
	assert.Len(t, s.reviews, 6)
}

// What a check of the code host shows already is not annotated once more, unless
// somebody asks for it; the exit status is the same.
func TestReviewThatACheckShows(t *testing.T) {
	t.Parallel()
	const url = "https://github.com/acme/web/pull/17/checks"
	shown := strings.Replace(complete, `"skipped"`, `"check_url":"`+url+`","skipped"`, 1)
	all := `::error file=a\x1b[2J.js,line=3,title=security/no-eval (high)::Parse the value instead of running it.` + "\n"
	for name, tt := range map[string]struct {
		review, annotations, failOn, want string
		exit                              int
	}{
		"shown": {shown, "auto", "high", "::error title=prwarden::Failed: 1 finding is high or worse. " +
			"The findings are in the check of the app: " + url + "\n", cli.ExitFound},
		"passes": {shown, "auto", "critical", "::notice title=prwarden::Passed: no finding is critical. " +
			"The findings are in the check of the app: " + url + "\n", cli.ExitOK},
		"never fails": {shown, "", cli.FailNever, "::notice title=prwarden::1 finding in acme/web#17: 1 high. " +
			"The findings are in the check of the app: " + url + "\n", cli.ExitOK},
		"always":    {shown, "always", "high", all, cli.ExitFound},
		"not shown": {complete, "auto", "high", all, cli.ExitFound},
		"wrong":     {shown, "never", "high", "", cli.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := asked()
			in.Output.Formats, in.Output.FailOn, in.Output.Annotations = []string{"github"}, tt.failOn, tt.annotations
			r := review(t, ending(tt.review, "complete"), in)
			assert.Equal(t, tt.exit, cli.ExitCode(r.err), r.errOut)
			assert.Equal(t, tt.want, r.out)
		})
	}
}
