package blackbox_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rules are tried on the pull requests that were reviewed last, without being
// stored, and no secret is shown that a review would mask.
func TestRulesAreTriedOnReviewedPullRequests(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	repo := h.create(t, "acme/api", files{"a": "old TODO\n"})
	repo.pull(1, files{"a": "old TODO\nnew TODO\nanother TODO\n"})
	repo.pull(2, files{"b": "nothing\n"})
	gone := h.create(t, "acme/gone", files{"a": "x\n"})
	gone.pull(3, files{"a": "x\nTODO token = \"ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx\"\n"})
	for _, pr := range []struct {
		repo   string
		number int
	}{{"acme/api", 1}, {"acme/api", 2}, {"acme/api", 1}, {"acme/gone", 3}} {
		require.Equal(t, "complete", c.scan(t, pr.repo, pr.number)["status"])
	}

	try := func(body map[string]any) map[string]any {
		body["rules"] = []any{map[string]any{
			"id": "no-todo", "type": "regex", "pattern": "TODO", "message": "Do it.", "severity": "low",
		}}
		a := c.do(t, "POST", "/v1/rules:try", body)
		require.Equal(t, 200, a.status, a.body)
		assert.NotContains(t, a.body, "wWPw5k4aXcaT4fNP0Ucn")

		return a.decode(t)
	}
	answer := try(map[string]any{})
	prs := list(answer["pull_requests"])
	require.Len(t, prs, 3, "each pull request once")
	for i, want := range []struct{ number, hits float64 }{{3, 1}, {1, 2}, {2, 0}} {
		pr := prs[i].(map[string]any)
		assert.InDelta(t, want.number, pr["pr_number"], 0)
		assert.InDelta(t, want.hits, pr["hits"], 0)
		assert.Len(t, pr["findings"], int(want.hits))
	}
	total := list(answer["rules"])[0].(map[string]any)
	assert.Equal(t, "custom/no-todo", total["rule_id"])
	assert.InDelta(t, 3, total["hits"], 0)
	assert.InDelta(t, 2, total["pull_requests"], 0)
	assert.Equal(t, 404, c.do(t, "GET", "/v1/rules/no-todo", nil).status, "it is not stored")

	answer = try(map[string]any{"repo": "acme/api", "last": 1})
	require.Len(t, answer["pull_requests"], 1)
	assert.InDelta(t, 1, list(answer["pull_requests"])[0].(map[string]any)["pr_number"], 0)

	require.NoError(t, os.RemoveAll(h.dir))
	cached := try(map[string]any{})
	assert.Equal(t, prs, list(cached["pull_requests"]), "the scanner has the commits")
}
