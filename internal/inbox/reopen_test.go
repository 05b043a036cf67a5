package inbox_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/publish"
)

// A comment that comes before the delivery of a reopening does not hide it.
func TestReopenedBeforeAComment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.tell(t, "opened", hint(7))
		w.set(7, func(p *codehost.PullRequest) { p.State = codehost.Closed })
		w.tell(t, "closed", hint(7))
		w.set(7, func(p *codehost.PullRequest) { p.State = codehost.Open })
		comment := hint(7)
		comment.Kind, comment.Comment = codehost.HintComment, codehost.Comment{ID: "1", AuthorID: "ann", Body: "/prwarden x"}
		require.Equal(t, inbox.Done, w.tell(t, "comment", comment))
		require.Len(t, w.made(t, 7), 1)

		require.Equal(t, inbox.Done, w.tell(t, "reopened", hint(7)))
		assert.Len(t, w.made(t, 7), 2, "once more")
		w.tell(t, "labeled", hint(7))
		assert.Len(t, w.made(t, 7), 2)
		kept, err := w.store.GetPullRequest(t.Context(), publish.Key{Organization: acme, Repo: repo, Number: 7})
		require.NoError(t, err)
		assert.Equal(t, codehost.Open, kept.State)
	})
}
