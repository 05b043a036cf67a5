package config

import "github.com/bmatcuk/doublestar/v4"

// Policy says which repositories an organization may scan. It is immutable
// and safe for concurrent use.
type Policy struct {
	globs map[string][]string
}

// Policy returns the policy of a valid configuration.
func (c Config) Policy() Policy {
	p := Policy{globs: make(map[string][]string, len(c.Organizations))}
	for _, o := range c.Organizations {
		p.globs[o.Name] = o.Repositories
	}
	return p
}

// Allowed reports whether the organization's keys may scan repo, an
// `owner/name`. Case counts. An unknown organization may scan nothing.
func (p Policy) Allowed(org, repo string) bool {
	for _, glob := range p.globs[org] {
		if doublestar.MatchUnvalidated(glob, repo) {
			return true
		}
	}
	return false
}

// Known reports whether the organization is configured.
func (p Policy) Known(org string) bool {
	_, ok := p.globs[org]
	return ok
}
