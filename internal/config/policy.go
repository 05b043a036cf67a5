package config

import "github.com/bmatcuk/doublestar/v4"

// Policy says what an organization may scan, and how much of it may wait. It is immutable
// and safe for concurrent use.
type Policy struct {
	globs     map[string][]string
	maxQueued map[string]int
}

// Policy returns the policy of a valid configuration.
func (c Config) Policy() Policy {
	p := Policy{globs: make(map[string][]string, len(c.Organizations)), maxQueued: map[string]int{}}
	for _, o := range c.Organizations {
		p.globs[o.Name] = o.Repositories
		if o.MaxQueued > 0 {
			p.maxQueued[o.Name] = o.MaxQueued
		}
	}
	return p
}

// MaxQueued is the most reviews of the organization that may wait.
func (p Policy) MaxQueued(org string) int {
	if n, ok := p.maxQueued[org]; ok {
		return n
	}
	return MaxQueued
}

// MaxScans is the most reviews of each organization that may be scanned at
// once. Those without a cap are not in it.
func (c Config) MaxScans() map[string]int {
	caps := map[string]int{}
	for _, o := range c.Organizations {
		if o.MaxScans > 0 {
			caps[o.Name] = o.MaxScans
		}
	}
	return caps
}

// OrganizationNames are the names of the organizations.
func (c Config) OrganizationNames() []string {
	names := make([]string, len(c.Organizations))
	for i, o := range c.Organizations {
		names[i] = o.Name
	}
	return names
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
