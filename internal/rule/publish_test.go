package rule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestPublishOfARulesFile(t *testing.T) {
	t.Parallel()
	f, err := rule.ParseFile(t.Context(), []byte(`version: 1
publish:
  comments: none
  comments_min: critical
  comments_max: 3
  drafts: false
  summary: none
`))
	require.NoError(t, err)
	most := 3
	assert.Equal(t, rule.Publish{
		NoComments: true, CommentsMin: rule.Critical, CommentsMax: &most, NoDrafts: true, NoSummary: true,
	}, f.Publish)
	assert.Equal(t, 5, f.Line("publish.comments_max"))

	for text, want := range map[string]string{
		"{comments: new}":          "publish.comments: must be none; a rules file can only have less published",
		"{summary: [none]}":        "publish.summary: must be none",
		"{drafts: true}":           "publish.drafts: must be false",
		"{check: false}":           `publish: unknown key "check"`,
		"{comments_max: 101}":      "publish.comments_max: must be from 0 to 100, not 101",
		"{comments_max: -1}":       "publish.comments_max: must be from 0 to 100, not -1",
		"{forks_comments_max: 1x}": "publish.forks_comments_max: must be a whole number",
		"{comments_min: none}":     "publish.comments_min",
		"[none]":                   "publish: must be",
	} {
		_, err := rule.ParseFile(t.Context(), []byte("version: 1\npublish: "+text))
		assert.ErrorContains(t, err, want, text)
	}
	_, err = rule.ParsePushFile(t.Context(), []byte("version: 1\npublish: {comments: none}"))
	assert.ErrorContains(t, err, "publish: is for files of a repository")
}
