package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestPublishInARepository(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse([]byte(`
publish:
  summary: none
  repositories:
    - {match: ["acme/*"], comments: none, drafts: true, check: false}
    - {match: ["acme/a", "x/**"], comments: new, comments_min: low, forks_comments_max: 0}
`))
	require.NoError(t, err)

	want := policy.DefaultPublish()
	want.Summary = policy.PublishNone
	assert.Equal(t, want, p.Publish.In("other/a"))
	want.Comments, want.Drafts, want.Check = policy.PublishNone, true, false
	assert.Equal(t, want, p.Publish.In("acme/b"))
	want.Comments, want.CommentsMin, want.ForksMax = policy.CommentsNew, "low", 0
	assert.Equal(t, want, p.Publish.In("acme/a"), "the last one that matches goes first")
	assert.Len(t, p.Publish.For, 2, "which changes nothing")
}

// A repository can only have less published, whatever it or a scanner says.
func TestQuieter(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	p := policy.DefaultPublish()
	p.Drafts = true
	assert.Equal(t, p, p.Quieter(rule.Publish{}))
	loud := rule.Publish{CommentsMin: rule.Info, CommentsMax: number(100), ForksMax: number(6)}
	assert.Equal(t, p, p.Quieter(loud))
	assert.Equal(t, map[string]string{"comments_min": "high", "comments_max": "20", "forks_comments_max": "5"},
		p.Louder(loud))

	quiet := rule.Publish{
		NoComments: true, NoSummary: true, NoDrafts: true, CommentsMin: rule.Critical, CommentsMax: number(3),
		ForksMax: number(-1),
	}
	assert.Equal(t, policy.Publish{
		Check: true, Comments: "none", CommentsMin: "critical", CommentsMax: 3, Summary: "none",
	}, p.Quieter(quiet))
	assert.Empty(t, p.Louder(quiet))
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		"{comments: all}":                               "publish.comments",
		"{summary: always}":                             "publish.summary",
		"{comments_min: bad}":                           "publish.comments_min",
		`{comments_min: ""}`:                            "publish.comments_min",
		"{comments_max: 101}":                           "publish.comments_max",
		"{forks_comments_max: -1}":                      "publish.forks_comments_max",
		"{repositories: [{comments: none}]}":            "publish.repositories[0].match",
		`{repositories: [{match: ["["]}]}`:              "publish.repositories[0].match[0]",
		`{repositories: [{match: [a/b], comments: x}]}`: "publish.repositories[0].comments",
	} {
		_, err := policy.Parse([]byte("publish: " + text))
		require.Error(t, err, text)
		assert.ErrorContains(t, err, field, text)
	}
	p := policy.Default()
	p.Publish.For = make([]policy.ForOne, policy.MaxPublishFor+1)
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(p.Validate()))
}
