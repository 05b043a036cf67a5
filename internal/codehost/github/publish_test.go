package github_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/publish"
)

// settle publishes as a publisher does, until there is nothing more to do.
func settle(t *testing.T, h *github.Host, known *publish.Known, want publish.Desired) {
	t.Helper()
	for range 10 {
		p := pull(t, h)
		have, err := h.Observe(t.Context(), p)
		require.NoError(t, err)
		*known = publish.Reconcile(*known, have)
		steps := publish.Plan(want, have, *known, h.Limits())
		if len(steps) == 0 {
			return
		}
		for _, s := range steps {
			require.NoError(t, h.Do(t.Context(), p, s))
			if s.Action == codehost.SetCheck && s.Check.Ref == "" && s.Check.Verdict == codehost.Pending {
				break // the steps after it need to know which
			}
		}
	}
	require.Fail(t, "it never settles")
}

// desired is what a review with some findings wants, of which 20 have a comment.
func desired(review string, findings int) publish.Desired {
	d := publish.Desired{
		Check: codehost.Check{
			SHA: hosttest.Head, ReviewID: review, Verdict: codehost.Failure, Title: "Findings", Summary: "They are listed",
		},
		Talk: &publish.Talk{
			Present: map[string]string{}, Most: 20, MakeSummary: findings > 0,
			Closing: func(publish.Thread) string { return "Fixed." }, Summary: codehost.SummaryMarker + "\n" + review,
		},
	}
	if findings == 0 {
		d.Check.Verdict = codehost.Success
	}

	for i := range findings {
		fingerprint := fmt.Sprintf("%032x", i+1)
		body := codehost.Marker(fingerprint) + "\nDon't."
		d.Annotations = append(d.Annotations, codehost.Annotation{
			Fingerprint: fingerprint, Path: hosttest.Path, Line: i%hosttest.Lines + 1, Severity: "high", Message: "Don't.",
		})
		if i < 20 {
			d.Talk.Present[fingerprint] = body
		}
		d.Talk.New = append(d.Talk.New, publish.Comment{LineComment: codehost.LineComment{
			Fingerprint: fingerprint, Path: hosttest.Path, Line: i%hosttest.Lines + 1, Body: body,
		}})
	}

	return d
}

// count is how many calls read and wrote since the last time.
func count(t *testing.T, faults *hosttest.Faults) (reads, writes int) {
	t.Helper()
	for _, c := range faults.Calls() {
		assert.Less(t, c.Status, 300, "%s %s", c.Method, c.Path)
		if c.Method == http.MethodGet || strings.HasSuffix(c.Path, "/graphql") {
			reads++
		} else {
			writes++
		}
	}

	return reads, writes
}

// A review with 1,000 findings stays within the bounds: at most 25 calls that write and 10
// that read, of which one last round reads only to see that nothing is left to do.
func TestPublishThousandFindings(t *testing.T) {
	t.Parallel()
	h, fake, faults := start(t)
	_, err := h.Access(t.Context()) // who we are is asked once
	require.NoError(t, err)
	faults.Calls()

	var known publish.Known
	settle(t, h, &known, desired("rev_1", 1000))
	reads, writes := count(t, faults)
	assert.LessOrEqual(t, writes, 25)
	const lastRound = 4
	assert.LessOrEqual(t, reads-lastRound, 10)
	assert.Equal(t, 1000, fake.Annotations(hosttest.Head))
	assert.Equal(t, codehost.Failure, fake.Check(hosttest.Head).Verdict)
	assert.Len(t, fake.Comments(), 21)
	assert.Zero(t, fake.Unfinished())
	t.Log(reads-lastRound, "reads,", writes, "writes")
}

// What is fixed is closed, what comes back is opened again, and what a person deleted
// or resolved stays so.
func TestPublishAgain(t *testing.T) {
	t.Parallel()
	for name, resolve := range map[string]bool{"minimised": false, "resolved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, fake, _ := start(t)
			if resolve {
				fake.Grant("contents", "write")
			}
			var known publish.Known
			settle(t, h, &known, desired("rev_1", 5))
			comments := observe(t, h).Comments
			require.Len(t, comments, 5)
			fake.Delete(comments[0].Ref)
			fake.Close(comments[1].Ref, hosttest.Writer)

			open := func() (n int) {
				for _, c := range observe(t, h).Comments {
					if !c.Closed {
						n++
					}
				}
				return n
			}
			for range 2 {
				settle(t, h, &known, desired("rev_2", 0))
				assert.Equal(t, codehost.Success, fake.Check(hosttest.Head).Verdict)
				assert.Zero(t, fake.Annotations(hosttest.Head))
				assert.Zero(t, open())

				settle(t, h, &known, desired("rev_3", 5))
				assert.Equal(t, codehost.Failure, fake.Check(hosttest.Head).Verdict)
				assert.Equal(t, 5, fake.Annotations(hosttest.Head))
				assert.Equal(t, 3, open())
			}
			assert.Len(t, fake.Comments(), 5, "four on lines and the summary")
			assert.Zero(t, fake.Unfinished())
		})
	}
}

// trouble lets a call go wrong now and then, in each of the ways there are.
func trouble(random *rand.Rand) func(*http.Request) *hosttest.Fault {
	return func(*http.Request) *hosttest.Fault {
		switch random.IntN(24) {
		case 0:
			return &hosttest.Fault{Status: http.StatusBadGateway}
		case 1:
			return &hosttest.Fault{Status: http.StatusForbidden, Header: map[string]string{"Retry-After": "1"}}
		case 2:
			return &hosttest.Fault{Cut: true}
		case 3:
			return &hosttest.Fault{Cut: true, Done: true}
		case 4:
			return &hosttest.Fault{Cut: true, Late: time.Millisecond}
		}

		return nil
	}
}

// Whatever becomes of single calls, there is one comment on a finding, one summary and
// the right verdict. As a publisher does, a call without an answer is waited for.
func TestPublishInTrouble(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h, fake, faults := start(t)
			random := rand.New(rand.NewPCG(seed, 1))
			faults.Random(trouble(random))
			var known publish.Known
			for n, findings := range []int{120, 0, 60} {
				want := desired(fmt.Sprint("rev_", n), findings)
				for !attempt(t, h, &known, want) {
					faults.Close()
					posted(t, fake)
				}
			}

			faults.Random(nil)
			settle(t, h, &known, desired("rev_2", 60))
			assert.Equal(t, codehost.Failure, fake.Check(hosttest.Head).Verdict)
			assert.Equal(t, 60, fake.Annotations(hosttest.Head))
			assert.Zero(t, fake.Unfinished())
			assert.Equal(t, 21, posted(t, fake))
			for _, c := range fake.Comments() {
				assert.False(t, c.Closed)
			}
		})
	}
}

// posted checks that nothing was posted twice, and returns how many comments there are.
func posted(t *testing.T, fake *githubfake.Fake) int {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range fake.Comments() {
		what := codehost.FingerprintIn(c.Body) // "" is the summary
		require.False(t, seen[what], "posted twice: %q", what)
		seen[what] = true
	}

	return len(seen)
}

// attempt publishes until something goes wrong, and tells whether all is published.
func attempt(t *testing.T, h *github.Host, known *publish.Known, want publish.Desired) bool {
	t.Helper()
	p, err := h.PullRequest(t.Context(), repository, hosttest.Number)
	if err != nil {
		return false
	}

	have, err := h.Observe(t.Context(), p)
	if err != nil {
		return false
	}

	*known = publish.Reconcile(*known, have)
	steps := publish.Plan(want, have, *known, h.Limits())
	for _, s := range steps {
		if err := h.Do(t.Context(), p, s); err != nil {
			require.Contains(t, []codehost.Fault{codehost.Unknown, codehost.Passing, codehost.Limited}, codehost.FaultOf(err))
			return false
		}
		if s.Action == codehost.SetCheck && s.Check.Ref == "" && s.Check.Verdict == codehost.Pending {
			return false
		}
	}

	return len(steps) == 0
}
