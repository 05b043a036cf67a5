//go:build hostdocuments

package bitbucket_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// TestSignedExamples verifies the deliveries in Bitbucket's documents, and refuses them with
// a bit flipped. That of a comment has no author, so nobody can command by it.
func TestSignedExamples(t *testing.T) {
	t.Parallel()
	h := host(bitbucket.Options{})
	files, err := filepath.Glob(filepath.Join(os.Getenv("PRWARDEN_WEBHOOK_EXAMPLES"), "bitbucket", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 18)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		header := http.Header{"X-Request-Uuid": {"1"}, "X-Hub-Signature": {"sha256=" + hosttest.HexMAC(body)}}
		hosttest.EachBit(t, h, header, "X-Hub-Signature", body, filepath.Base(file))
		if filepath.Base(file) == "pull-request-comment-created.json" {
			hints, err := h.Hints(http.Header{"X-Event-Key": {"pullrequest:comment_created"}}, body)
			require.NoError(t, err)
			assert.Empty(t, hints)
		}
	}
}

// TestExamples checks what the deliveries in Bitbucket's documents are taken for.
func TestExamples(t *testing.T) {
	t.Parallel()
	h := host(bitbucket.Options{})
	for file, want := range map[string]codehost.Hint{
		"pull-request-created":  {Kind: codehost.HintPullRequest, Number: 1},
		"pull-request-updated":  {Kind: codehost.HintPullRequest, Number: 1},
		"pull-request-merged":   {Kind: codehost.HintPullRequest, Number: 1},
		"pull-request-declined": {Kind: codehost.HintPullRequest, Number: 1},
		"repo-updated":          {Kind: codehost.HintRepository, Name: "teamawesome/repository"},
	} {
		event := map[string]string{
			"pull-request-created": "pullrequest:created", "pull-request-updated": "pullrequest:updated",
			"pull-request-merged": "pullrequest:fulfilled", "pull-request-declined": "pullrequest:rejected",
			"repo-updated": "repo:updated",
		}[file]
		body, err := os.ReadFile(filepath.Join(os.Getenv("PRWARDEN_WEBHOOK_EXAMPLES"), "bitbucket", file+".json"))
		require.NoError(t, err)
		hints, err := h.Hints(http.Header{"X-Event-Key": {event}}, body)
		require.NoError(t, err, file)
		require.Len(t, hints, 1, file)
		got := hints[0]
		assert.Equal(t, "team_name/repo_name", got.Repository.Name, file)
		assert.Equal(t, "673a6070-3421-46c9-9d48-90745f7bfe8e", got.Repository.ID, file)
		assert.Equal(t, want, codehost.Hint{Kind: got.Kind, Number: got.Number, Name: got.Name}, file)
	}
}
