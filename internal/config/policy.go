package config

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Policy says what an organization may scan, and how much of it may wait. It is immutable
// and safe for concurrent use.
type Policy struct {
	organizations map[string]Organization
}

// Policy returns the policy of a valid configuration.
func (c Config) Policy() Policy {
	p := Policy{make(map[string]Organization, len(c.Organizations))}
	for _, o := range c.Organizations {
		p.organizations[o.Name] = o
	}
	return p
}

// MaxQueued is the most reviews of the organization that may wait.
func (p Policy) MaxQueued(org string) int {
	if n := p.organizations[org].MaxQueued; n > 0 {
		return n
	}
	return MaxQueued
}

// RequireSuppressionReason reports whether comments that suppress findings must
// give a reason.
func (p Policy) RequireSuppressionReason(org string) bool {
	return p.organizations[org].RequireSuppressionReason
}

// RepositoryURI is where a repository is for those who may know it: nobody need
// know the server's folders.
func (p Policy) RepositoryURI(org, repo string) string {
	template := p.organizations[org].Host.URL
	if !strings.HasPrefix(template, "https://") && !strings.HasPrefix(template, "http://") {
		return ""
	}
	owner, name, _ := strings.Cut(repo, "/")
	return strings.NewReplacer("{repo}", repo, "{owner}", owner, "{name}", name).Replace(template)
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
	for _, glob := range p.organizations[org].Repositories {
		if doublestar.MatchUnvalidated(glob, repo) {
			return true
		}
	}
	return false
}

// Known reports whether the organization is configured.
func (p Policy) Known(org string) bool {
	_, ok := p.organizations[org]
	return ok
}
