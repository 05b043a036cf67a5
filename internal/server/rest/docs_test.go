package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
)

// What describes the API needs no key, is counted, and is the same until the
// server is another.
func TestDescriptionsOfTheAPI(t *testing.T) {
	t.Parallel()
	for path, mediaType := range map[string]string{
		"/openapi.json": "application/json", "/docs": "text/html; charset=utf-8", "/docs/": "text/html; charset=utf-8",
		"/rules.schema.json": "application/schema+json",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := servertest.Start(t, servertest.Options{Limit: 4})
			a := b.Do(t, "GET", path, "")
			require.Equal(t, 200, a.Status)
			assert.Equal(t, mediaType, a.Header.Get("Content-Type"))
			assert.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
			assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
			assert.Equal(t, "3", a.Header.Get("X-RateLimit-Remaining"))
			if strings.HasPrefix(path, "/docs") {
				assert.Regexp(t, `^default-src 'none'; style-src 'sha256-`, a.Header.Get("Content-Security-Policy"))
				assert.Contains(t, a.Body, "<!doctype html>")
			}

			tag := a.Header.Get("ETag")
			kept := b.Do(t, "GET", path, "", "If-None-Match: "+tag)
			assert.Equal(t, 304, kept.Status)
			assert.Equal(t, tag, kept.Header.Get("ETag"))

			head := b.Do(t, "HEAD", path, "")
			assert.Equal(t, 200, head.Status)
			assert.Empty(t, head.Body)

			post := b.Do(t, "POST", path, "{}")
			assert.Equal(t, 405, post.Status)
			assert.Equal(t, "GET, HEAD", post.Header.Get("Allow"))

			over := b.Do(t, "GET", path, "")
			assert.Equal(t, 429, over.Status)
			assert.Equal(t, "no-store", over.Header.Get("Cache-Control"))
		})
	}
}
