package auth

import (
	"context"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// Caller is who makes a request: what its key says. The zero Caller is nobody.
type Caller struct {
	KeyID        string
	Organization string
	Scopes       []Scope
	RateLimit    int    // requests a minute; 0 for the default
	KeyHash      string // of the token, to look at the key again in a long call; never logged
}

// Has reports whether the caller's key has the scope.
func (c Caller) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Require returns nil when the caller's key has the scope, and otherwise
// PermissionDenied (SCOPE_MISSING).
func (c Caller) Require(s Scope) error {
	if c.Has(s) {
		return nil
	}
	e := errs.New(errs.PermissionDenied, errs.ReasonScopeMissing,
		"This needs a key with the scope %s; yours has %s.", s, join(c.Scopes))
	e.Metadata = map[string]string{"scope": string(s)}
	return e
}

func join(scopes []Scope) string {
	if len(scopes) == 0 {
		return "none"
	}
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

type callerKey struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext returns the caller that was admitted; the zero Caller for none.
func FromContext(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
