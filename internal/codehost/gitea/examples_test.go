//go:build hostdocuments

package gitea_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// TestExamples verifies deliveries of a real Gitea, refuses them with a bit flipped, and
// checks what they are taken for.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(os.Getenv("PRWARDEN_WEBHOOK_EXAMPLES"), "gitea", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 17)
	h := open(t, giteafake.New(t))
	events := map[string]string{
		"issue-comment-event.json": "issue_comment", "pull-request-comment-event.json": "issue_comment",
		"pull-request-event.json": "pull_request", "pull-request-label-event.json": "pull_request",
		"pull-request-assign-event.json": "pull_request", "pull-request-milestone-event.json": "pull_request",
	}
	found := map[string]codehost.HintKind{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		for header, prefix := range map[string]string{"X-Gitea-Signature": "", "X-Hub-Signature-256": "sha256="} {
			signed := http.Header{"X-Gitea-Delivery": {name}}
			signed.Set(header, prefix+hosttest.HexMAC(body))
			hosttest.EachBit(t, h, signed, header, body, name)
		}
		hints, err := h.Hints(http.Header{"X-Gitea-Event": {events[name]}}, body)
		require.NoError(t, err, name)
		for _, hint := range hints {
			found[name] = hint.Kind
			assert.NotEmpty(t, hint.Repository.ID, name)
		}
	}
	assert.Equal(t, map[string]codehost.HintKind{
		"pull-request-event.json":         codehost.HintPullRequest,
		"pull-request-label-event.json":   codehost.HintPullRequest,
		"pull-request-comment-event.json": codehost.HintComment,
	}, found)
}
