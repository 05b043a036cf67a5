package api_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

func TestGetDiff(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	var asked review.DiffInput
	b.Diffs.Func = func(_ string, in review.DiffInput) (review.ShownDiff, error) {
		asked = in
		return review.ShownDiff{Availability: review.DiffAvailable, NextPageToken: "next", Files: []finding.FileDiff{
			{Path: "a\xff", OldPath: "b", Change: finding.FileRenamed, Added: 1, Removed: 2, Truncated: true, Hunks: []finding.Hunk{{
				OldStart: 3, NewStart: 4, Section: "func f()", Lines: []finding.DiffLine{
					{Kind: finding.LineContext, Text: "c"}, {Kind: finding.LineAdded, Text: "a", Cut: true},
					{Kind: finding.LineRemoved, Text: "x ****", Masked: []finding.TextSpan{{Start: 2, End: 6}}, NoNewline: true},
				},
			}}},
			{Path: "c", Change: finding.FileDeleted, NotShown: finding.SkipBinary},
		}}, nil
	}

	_, token := b.Key(t, auth.SourceRead)
	a := b.Do(t, "GET", "/v1/reviews/rev_a/diff", "", servertest.Bearer(token))
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, review.DiffInput{ReviewID: "rev_a", Context: 3}, asked)
	assert.JSONEq(t, `{"availability": "available", "next_page_token": "next", "files": [
		{"file": "a\ufffd", "file_bytes": "Yf8=", "old_file": "b", "change": "renamed", "added": 1, "removed": 2,
			"truncated": true, "hunks": [{"old_start": 3, "new_start": 4, "section": "func f()", "lines": [
				{"kind": "context", "text": "c", "masked": [], "no_newline": false, "cut": false},
				{"kind": "added", "text": "a", "masked": [], "no_newline": false, "cut": true},
				{"kind": "removed", "text": "x ****", "masked": [{"column": 3, "end_column": 7}], "no_newline": true,
					"cut": false}]}]},
		{"file": "c", "change": "deleted", "added": 0, "removed": 0, "truncated": false, "hunks": [],
			"not_shown": "binary"}]}`, a.Body)

	a = b.Do(t, "GET", "/v1/reviews/rev_a/diff?files=b&files=a&context=0&page_token=t&from=1&to=2", "", servertest.Bearer(token))
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, review.DiffInput{ReviewID: "rev_a", Files: []string{"b", "a"}, PageToken: "t", From: 1, To: 2}, asked)

	for _, query := range []string{"files=", "files=a&files=", "context=-1", "context=51", "from=0", "unfold=1"} {
		a = b.Do(t, "GET", "/v1/reviews/rev_a/diff?"+query, "", servertest.Bearer(token))
		assert.Equal(t, 400, a.Status, query)
	}
	_, reader := b.Key(t, auth.ReviewsRead, auth.ReviewsWrite)
	a = b.Do(t, "GET", "/v1/reviews/rev_a/diff", "", servertest.Bearer(reader))
	assert.Equal(t, 403, a.Status, "findings are less than source")
}
