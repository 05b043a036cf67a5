package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOwnPath(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"":                                 "/",
		"/o/acme/reviews?q=a#b":            "/o/acme/reviews?q=a#b",
		"//evil.example":                   "/",
		"/\\evil.example":                  "/",
		"https://evil.example/":            "/",
		"javascript:alert(1)":              "/",
		"/ok\r\nSet-Cookie: a=b":           "/",
		"o/acme":                           "/",
		"/invitation?token=prw_1&x=%2F%2F": "/invitation?token=prw_1&x=%2F%2F",
	} {
		assert.Equal(t, want, ownPath(next), "%q", next)
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	h := &Handler{}
	for _, path := range []string{"/", "/o/acme/reviews", "/sign-in", "/setup", "/assets/1/app.css", "/invitation"} {
		assert.True(t, h.Serves(path), path)
	}
	for _, path := range []string{"/v1/reviews", "/docs", "/openapi.json", "/setup/app", "/hooks/con_1", "/healthz", "/other"} {
		assert.False(t, h.Serves(path), path)
	}
}
