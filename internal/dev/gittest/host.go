package gittest

import (
	"context"

	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// AtHost opens every target at one host.
type AtHost struct {
	scan.Source
	Host organization.Host
}

// Open implements scan.Source.
func (h AtHost) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	t.Host = h.Host

	return h.Source.Open(ctx, t)
}

// NoToken is for hosts that need none.
func NoToken(string) (string, error) { return "", nil }
