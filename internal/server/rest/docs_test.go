package rest_test

import (
	"compress/gzip"
	"io"
	"net/netip"
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
			b := servertest.Start(t, servertest.Options{Limit: 7})
			plain := b.Do(t, "GET", path, "", "Accept-Encoding: identity")
			require.Equal(t, 200, plain.Status)
			assert.Equal(t, mediaType, plain.Header.Get("Content-Type"))
			assert.Equal(t, "no-cache", plain.Header.Get("Cache-Control"))
			assert.Equal(t, "nosniff", plain.Header.Get("X-Content-Type-Options"))
			assert.Equal(t, "Accept-Encoding", plain.Header.Get("Vary"))
			assert.Equal(t, "6", plain.Header.Get("X-RateLimit-Remaining"))
			if strings.HasPrefix(path, "/docs") {
				assert.Regexp(t, `^default-src 'none'; style-src 'sha256-`, plain.Header.Get("Content-Security-Policy"))
				assert.Equal(t, "no-referrer", plain.Header.Get("Referrer-Policy"))
				assert.Contains(t, plain.Body, "<!doctype html>")
			}
			tag := plain.Header.Get("ETag")
			assert.Regexp(t, `^"[0-9a-f]{32}"$`, tag)

			kept := b.Do(t, "GET", path, "", "Accept-Encoding: identity", "If-None-Match: "+tag)
			assert.Equal(t, 304, kept.Status)
			assert.Empty(t, kept.Body)
			assert.Equal(t, tag, kept.Header.Get("ETag"))

			packed := b.Do(t, "GET", path, "", "Accept-Encoding: br, gzip;q=0.5")
			assert.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
			assert.NotEqual(t, tag, packed.Header.Get("ETag"))
			reader, err := gzip.NewReader(strings.NewReader(packed.Body))
			require.NoError(t, err)
			body, err := io.ReadAll(reader)
			require.NoError(t, err)
			assert.Equal(t, plain.Body, string(body))

			refused := b.Do(t, "GET", path, "", "Accept-Encoding: gzip;q=0")
			assert.Empty(t, refused.Header.Get("Content-Encoding"))

			head := b.Do(t, "HEAD", path, "", "Accept-Encoding: identity")
			assert.Equal(t, 200, head.Status)
			assert.Empty(t, head.Body)
			assert.Equal(t, tag, head.Header.Get("ETag"))

			post := b.Do(t, "POST", path, "{}")
			assert.Equal(t, 405, post.Status)
			assert.Equal(t, "GET, HEAD", post.Header.Get("Allow"))
			assert.Empty(t, post.Header.Get("ETag"))

			require.Equal(t, 200, b.Do(t, "GET", path, "").Status)
			over := b.Do(t, "GET", path, "")
			assert.Equal(t, 429, over.Status)
			assert.Equal(t, "no-store", over.Header.Get("Cache-Control"))
		})
	}
}

// The page counts against the address as any request without a key does.
func TestDocsCountAgainstTheAddress(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{Limit: 1, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	from := func(addr, path string) int { return b.Do(t, "GET", path, "", "X-Forwarded-For: "+addr).Status }
	assert.Equal(t, 200, from("192.0.2.1", "/docs"))
	assert.Equal(t, 429, from("192.0.2.1", "/openapi.json"))
	assert.Equal(t, 200, from("192.0.2.2", "/docs"))
}
