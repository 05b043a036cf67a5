package auth

import "slices"

// Role is what a member of an organization may do there: a named set of scopes.
type Role string

// The roles. Each has all scopes of those before it.
const (
	Viewer Role = "viewer"
	Member Role = "member"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// Roles returns all of them, the weakest first.
func Roles() []Role { return []Role{Viewer, Member, Admin, Owner} }

// added are the scopes that each role has beside those of the roles before it. It is
// the one place that decides what members may do.
func (r Role) added() []Scope {
	switch r {
	case Viewer:
		return []Scope{ReviewsRead, RulesRead, PolicyRead}
	case Member:
		return []Scope{ReviewsWrite, FindingsTriage, SourceRead, HostsRead}
	case Admin:
		return []Scope{
			RulesWrite, PolicyWrite, KeysAdmin, MembersAdmin, AuditRead, HostsWrite, WebhooksRead, WebhooksWrite,
		}
	case Owner:
		return []Scope{OrganizationAdmin}
	}

	return nil
}

// Scopes returns what the role may do; nothing for an unknown role.
func (r Role) Scopes() []Scope {
	place := slices.Index(Roles(), r)
	var all []Scope
	for _, each := range Roles()[:place+1] {
		all = append(all, each.added()...)
	}

	return all
}

// weakest returns the weakest role that has a scope.
func weakest(s Scope) Role {
	for _, r := range Roles() {
		if slices.Contains(r.added(), s) {
			return r
		}
	}

	return Owner // every scope has one, which a test holds
}
