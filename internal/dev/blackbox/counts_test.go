package blackbox_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// counts are how many findings of a review there are in each state, and its verdict.
type counts struct {
	all, open, fresh, existing, fixed, suppressed, decided int
	verdict                                                string
}

// countsOfLists are those of what a review lists: of the API, and of the command line.
func countsOfLists(m map[string]any) counts {
	n := counts{
		all: len(list(m["findings"])), fixed: len(list(m["fixed"])), suppressed: len(list(m["suppressed"])),
		verdict: m["verdict"].(map[string]any)["outcome"].(string),
	}
	for _, x := range list(m["findings"]) {
		f := x.(map[string]any)
		if f["state"] == "new" {
			n.fresh++
		} else {
			n.existing++
		}
		if f["triage"] != nil {
			n.decided++
		} else {
			n.open++
		}
	}

	return n
}

// countsOfTotals are those that a review tells.
func countsOfTotals(m map[string]any) counts {
	sum := func(name string) (n int) {
		for _, of := range m[name].(map[string]any) {
			n += int(of.(float64))
		}

		return n
	}
	total := func(name string) int { return int(m[name].(float64)) }
	n := counts{
		all: sum("summary"), open: sum("open"), fresh: total("new_total"), fixed: total("fixed_total"),
		suppressed: total("suppressed_total"), verdict: m["verdict"].(map[string]any)["outcome"].(string),
	}
	n.existing, n.decided = n.all-n.fresh, n.all-n.open

	return n
}

var tabOfPage = regexp.MustCompile(`(Open|New|Existing|Fixed|Suppressed|Decided) <span class="n">(\d+)</span>`)

// countsOfPage are those of the tabs of a page, and how many findings a tab shows.
func countsOfPage(t *testing.T, b *browser, page string) counts {
	t.Helper()
	a := b.get(t, page)
	n := counts{verdict: "pass"}
	if strings.Contains(a.body, "Fails at") {
		n.verdict = "fail"
	}
	for _, m := range tabOfPage.FindAllStringSubmatch(a.body, -1) {
		value, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		*map[string]*int{
			"Open": &n.open, "New": &n.fresh, "Existing": &n.existing, "Fixed": &n.fixed, "Suppressed": &n.suppressed,
			"Decided": &n.decided,
		}[m[1]] = value
		listed := b.get(t, page+"?state="+strings.ToLower(m[1]))
		assert.Equal(t, value, strings.Count(listed.body, "<article"), "%s?state=%s", page, m[1])
	}
	n.all = n.fresh + n.existing

	return n
}

// countsOfSARIF are those of a log.
func countsOfSARIF(t *testing.T, text, verdict string) counts {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				BaselineState string
				Suppressions  []struct{ Kind string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &log))
	n := counts{verdict: verdict}
	for _, r := range log.Runs[0].Results {
		kind := ""
		if len(r.Suppressions) > 0 {
			kind = r.Suppressions[0].Kind
		}
		switch kind {
		case "inSource":
			n.suppressed++
			continue
		case "external":
			n.decided++
		default:
			n.open++
		}
		n.all++
		if r.BaselineState == "unchanged" { // the first log of a pull request compares with none
			n.existing++
		} else {
			n.fresh++
		}
	}

	return n
}

// Fifty reviews have the same counts wherever somebody looks: in their lists, their
// totals, the list of reviews, their page, SARIF, and on the command line.
func TestCountsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,findings:triage,rules:write"))
	unsureRule(t, c)
	hidden := 0
	r := h.create(t, "acme/api", files{"a.js": "x\n"})
	lines := func(from, to, suppressed int) string {
		var text strings.Builder
		text.WriteString("x\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&text, "eval(call%d)\n", i)
		}
		for i := range suppressed {
			fmt.Fprintf(&text, "// prwarden:ignore security/no-eval -- ours until %s\neval(ours%d)\n", nextMonth(), i)
		}

		return text.String()
	}

	const pulls = 25
	seen := counts{}
	for round := range 2 {
		for n := 1; n <= pulls; n++ {
			// The second time some are gone, some are new, and some are as before.
			from, to := round*(n%3), n%6+round*(n%4)
			r.pull(n, files{"a.js": lines(from, max(from, to), (n+round)%3)})
			out, says, status := s.prwarden(t, c, "review", "acme/api", strconv.Itoa(n), "-o", "json")
			require.Less(t, status, 2, says)
			var printed map[string]any
			require.NoError(t, json.Unmarshal([]byte(out), &printed), out)
			id := printed["review_id"].(string)

			a := c.do(t, "GET", "/v1/reviews/"+id, nil)
			want := countsOfLists(a.decode(t))
			what := fmt.Sprintf("pull request %d, round %d", n, round)
			assert.Equal(t, want, countsOfLists(printed), what)
			assert.Equal(t, want.verdict == "fail", status == 1, what)
			assert.Equal(t, want, countsOfTotals(a.decode(t)), what)
			listed := list(c.do(t, "GET", "/v1/reviews?page_size=1", nil).decode(t)["reviews"])[0].(map[string]any)
			require.Equal(t, id, listed["review_id"])
			assert.Equal(t, want, countsOfTotals(listed), what)
			sarif := c.do(t, "GET", "/v1/reviews/"+id+"/sarif", nil).body
			inLog := want
			inLog.fixed = 0 // a log tells what is there
			assert.Equal(t, inLog, countsOfSARIF(t, sarif, want.verdict), what)
			assert.Equal(t, want, countsOfPage(t, owner, "/o/acme/reviews/"+id), what)

			for _, x := range list(printed["observed"]) {
				assert.Equal(t, "low", x.(map[string]any)["confidence"], what)
				hidden++
			}
			seen.fresh, seen.existing, seen.fixed = seen.fresh+want.fresh, seen.existing+want.existing, seen.fixed+want.fixed
			seen.suppressed, seen.decided = seen.suppressed+want.suppressed, seen.decided+want.decided
			if findings := list(a.decode(t)["findings"]); round == 0 && n%3 == 0 && len(findings) > 0 {
				last := findings[len(findings)-1].(map[string]any)
				a := c.do(t, "POST", "/v1/findings:triage", map[string]any{
					"repo": "acme/api", "pr_number": n, "fingerprints": []any{last["fingerprint"]}, "decision": "false_positive",
					"reason": "tests", "until": nextMonth(),
				})
				require.Equal(t, 200, a.status, a.body)
				decided := countsOfLists(c.do(t, "GET", "/v1/reviews/"+id, nil).decode(t))
				assert.Equal(t, decided, countsOfPage(t, owner, "/o/acme/reviews/"+id), "at once")
			}
		}
	}
	for name, n := range map[string]int{
		"new": seen.fresh, "existing": seen.existing, "fixed": seen.fixed, "suppressed": seen.suppressed, "decided": seen.decided,
	} {
		assert.Positive(t, n, name)
	}
	assert.Positive(t, hidden)
}

// unsureRule makes a rule whose findings nobody counts.
func unsureRule(t *testing.T, c *client) {
	t.Helper()
	a := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "perhaps", "type": "regex", "pattern": "call|ours", "message": "Perhaps not.", "severity": "medium",
		"confidence": "low",
	})
	require.Equal(t, 201, a.status, a.body)
}

var titleOfCheck = regexp.MustCompile(
	`^(Pass|Fail): (?:no|(\d+)) findings?(?:[a-z ]*, (\d+) in all|[a-z ,]*)(?:; (\d+) set aside)?$`)

// countsOfCheck are the open and the decided findings that the title of a check tells.
func countsOfCheck(t *testing.T, title string) counts {
	t.Helper()
	m := titleOfCheck.FindStringSubmatch(title)
	require.NotNil(t, m, title)
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // 0 where it is not said
		return n
	}
	n := counts{verdict: strings.ToLower(m[1]), open: number(m[2]), decided: number(m[4])}
	if m[3] != "" {
		n.open = number(m[3])
	}

	return n
}

// The published check counts as the API does, for 50 pushes and after decisions.
func TestCountsOfPublishedChecks(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	client := c.client(c.key(t, "acme", "--scopes", "reviews:read,findings:triage,rules:write"))
	unsureRule(t, client)
	same := func(sha string) (review map[string]any) {
		t.Helper()
		assert.EventuallyWithT(t, func(collect *assert.CollectT) {
			listed := list(client.do(t, "GET", "/v1/reviews?page_size=1&status=complete", nil).decode(t)["reviews"])
			check := c.gitea.Check(sha)
			if !assert.NotEmpty(collect, listed) || !assert.NotNil(collect, check) ||
				!assert.NotEqual(collect, codehost.Pending, check.Verdict) {
				return
			}
			review = listed[0].(map[string]any)
			if !assert.Equal(collect, sha, review["head_sha"]) {
				return
			}
			want := countsOfTotals(review)
			assert.Equal(collect, counts{verdict: want.verdict, open: want.open, decided: want.decided},
				countsOfCheck(t, check.Title))
		}, eventually, tick)

		return review
	}

	decided := 0
	for n := range 50 {
		var text strings.Builder
		for i := range n % 7 {
			fmt.Fprintf(&text, "eval(call%d_%d)\n", n, i)
		}
		c.push(files{"b.js": text.String() + fmt.Sprintf("// %d\n", n)})
		status, said := c.deliver(t, hosttest.Pushed, hookSecret)()
		require.Equal(t, 202, status, said)
		sha := c.repository.sha("refs/pull/7/head")
		review := same(sha)
		if n%7 < 2 || n%2 == 0 {
			continue
		}

		findings := list(client.do(t, "GET", "/v1/reviews/"+review["review_id"].(string), nil).decode(t)["findings"])
		require.Len(t, findings, n%7)
		a := client.do(t, "POST", "/v1/findings:triage", map[string]any{
			"repo": hosttest.Repo, "pr_number": hosttest.Number, "decision": "false_positive", "reason": "tests",
			"until": nextMonth(), "fingerprints": []any{findings[0].(map[string]any)["fingerprint"]},
		})
		require.Equal(t, 200, a.status, a.body)
		decided += countsOfTotals(same(sha)).decided
	}
	assert.Positive(t, decided)
}
