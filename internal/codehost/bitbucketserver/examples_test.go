//go:build hostdocuments

package bitbucketserver_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
)

// TestExamples verifies deliveries of a real server, refuses them with a bit flipped, and
// checks what they are taken for.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(os.Getenv("PRWARDEN_WEBHOOK_EXAMPLES"), "bitbucket-server", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 18)
	h := open(t, bitbucketserverfake.New(t))
	kinds := map[codehost.HintKind]int{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		var d struct {
			EventKey string `json:"eventKey"`
		}
		require.NoError(t, json.Unmarshal(body, &d), file)
		header := http.Header{"X-Request-Id": {"1"}, "X-Hub-Signature": {"sha256=" + hosttest.HexMAC(body)}}
		hosttest.EachBit(t, h, header, "X-Hub-Signature", body, filepath.Base(file))
		hints, err := h.Hints(http.Header{"X-Event-Key": {d.EventKey}}, body)
		require.NoError(t, err, file)
		for _, hint := range hints {
			kinds[hint.Kind]++
			assert.Contains(t, hint.Repository.Name, "/webhook-test", file)
		}
	}
	assert.Equal(t, map[codehost.HintKind]int{
		codehost.HintPullRequest: 4, codehost.HintComment: 1, codehost.HintRepository: 1,
	}, kinds)
}
