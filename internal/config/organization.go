package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Organization is one tenant: what its keys may scan, and where that is.
type Organization struct {
	Name         string   `koanf:"name"`
	Repositories []string `koanf:"repositories"` // globs of `owner/name`; nothing else may be scanned
	Host         Host     `koanf:"host"`
	MaxScans     int      `koanf:"max_scans"`  // most of its reviews scanned at once, over all servers; 0 for no cap
	MaxQueued    int      `koanf:"max_queued"` // most of its reviews that wait; 0 for MaxQueued
	// RequireSuppressionReason says that a comment in the code that suppresses
	// findings counts only with a reason.
	RequireSuppressionReason bool `koanf:"require_suppression_reason"`
}

// MaxQueued is the most reviews of one organization that wait; max_queued can
// only lower it.
const MaxQueued = 10_000

// Host is a code host. In URL, `{repo}` stands for `owner/name`, `{owner}`
// and `{name}` for its parts; in the references, `{number}` for the pull
// request's number.
type Host struct {
	Kind     string `koanf:"kind"`      // KindGit
	URL      string `koanf:"url"`       // where the repository is cloned from
	TokenEnv string `koanf:"token_env"` // environment variable with the token for private repositories
	Username string `koanf:"username"`  // goes with the token; DefaultUsername when empty
	HeadRef  string `koanf:"head_ref"`  // DefaultHeadRef when empty
	MergeRef string `koanf:"merge_ref"` // DefaultMergeRef when empty
}

// KindGit is a code host of which only git is used.
const KindGit = "git"

// What a git host has when nothing else is said.
const (
	DefaultUsername = "x-access-token"
	DefaultHeadRef  = "refs/pull/{number}/head"
	DefaultMergeRef = "refs/pull/{number}/merge"
)

// DefaultOrganization is the name of the one organization that there is
// without a configuration file.
const DefaultOrganization = "default"

func defaultOrganizations() []Organization {
	return []Organization{{
		Name:         DefaultOrganization,
		Repositories: []string{"*/*"},
		Host:         Host{Kind: KindGit, URL: "https://github.com/{repo}.git"}.withDefaults(),
	}}
}

func (h Host) withDefaults() Host {
	if h.HeadRef == "" {
		h.HeadRef = DefaultHeadRef
	}
	if h.MergeRef == "" {
		h.MergeRef = DefaultMergeRef
	}
	if h.TokenEnv != "" && h.Username == "" {
		h.Username = DefaultUsername
	}
	return h
}

func validateOrganizations(ps *Problems, organizations []Organization) {
	if len(organizations) == 0 {
		ps.add(
			"organizations",
			"there must be at least one; leave the key out for the organization `%s`, which may scan every public "+
				"repository of github.com",
			DefaultOrganization,
		)
	}
	seen := map[string]bool{}
	for i, o := range organizations {
		key := fmt.Sprintf("organizations[%d]", i)
		switch {
		case !isOrganizationName(o.Name):
			ps.add(
				key+".name",
				"%q is not allowed; it must be 1 to 63 lower-case letters, digits, dots, hyphens and underscores, starting "+
					"with a letter or digit",
				o.Name,
			)
		case seen[o.Name]:
			ps.add(key+".name", "%q is there twice", o.Name)
		}
		seen[o.Name] = true
		validateRepositories(ps, key+".repositories", o.Repositories)
		o.Host.validate(ps, key+".host", o.Repositories)
		if o.MaxScans < 0 || o.MaxScans > maxMaxScans {
			ps.add(key+".max_scans", "%d is not allowed; it must be from 1 to %d, or 0 for no cap", o.MaxScans, maxMaxScans)
		}
		if o.MaxQueued < 0 || o.MaxQueued > MaxQueued {
			ps.add(key+".max_queued", "%d is not allowed; it must be from 1 to %d, or 0 for %[2]d", o.MaxQueued, MaxQueued)
		}
	}
}

// maxMaxScans is more than all servers of an installation can scan at once.
const maxMaxScans = 100_000

func isOrganizationName(name string) bool {
	if name == "" || len(name) > 63 || strings.ContainsRune("._-", rune(name[0])) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

func validateRepositories(ps *Problems, key string, globs []string) {
	if len(globs) == 0 {
		ps.add(key, "there must be at least one glob, such as acme/* or */*")
	}
	for i, glob := range globs {
		owner, name, _ := strings.Cut(glob, "/")
		if !doublestar.ValidatePattern(glob) || owner == "" || name == "" || strings.Contains(name, "/") {
			ps.add(fmt.Sprintf("%s[%d]", key, i), "%q is not a glob of OWNER/NAME; write one such as acme/* or */*", glob)
		}
	}
}

func (h Host) validate(ps *Problems, key string, globs []string) {
	switch h.Kind {
	case KindGit:
	case "github", "gitlab", "gitea":
		ps.add(
			key+".kind",
			"%q is not supported yet; use kind git with the clone URL, such as https://github.com/{repo}.git (for GitLab "+
				"also head_ref: refs/merge-requests/{number}/head)",
			h.Kind,
		)
		return
	case "":
		ps.add(key+".kind", "it is missing; the one kind there is now is git")
		return
	default:
		ps.add(key+".kind", "unknown kind %q; the one kind there is now is git", h.Kind)
		return
	}
	h.validateURL(ps, key, globs)
	validateRef(ps, key+".head_ref", h.HeadRef)
	validateRef(ps, key+".merge_ref", h.MergeRef)
}

func (h Host) validateURL(ps *Problems, key string, globs []string) {
	const example = "https://git.example.com/{repo}.git or file:///srv/git/{repo}.git"
	bare := strings.NewReplacer("{repo}", "o/n", "{owner}", "o", "{name}", "n").Replace(h.URL)
	u, err := url.Parse(bare)
	switch {
	case h.URL == "":
		ps.add(key+".url", "it is missing; write one such as %s", example)
		return
	case err != nil || strings.ContainsAny(bare, "{}") || u.Opaque != "" || u.RawQuery != "" ||
		u.Fragment != "" || u.Path == "":
		ps.add(
			key+".url", "%q is not a clone URL with {repo} (or {owner} and {name}) in its path; write one such as %s", h.URL,
			example,
		)
		return
	}
	switch u.Scheme {
	case "https", "http":
		if u.Host == "" || strings.ContainsAny(hostPart(h.URL), "{}") {
			ps.add(key+".url", "%q must name its host in full, without {repo}, {owner} or {name} in it", h.URL)
		}
	case "file":
		if u.Host != "" {
			ps.add(key+".url", "%q must be file:// followed by an absolute path, such as file:///srv/git/{repo}.git", h.URL)
		}
	default:
		ps.add(key+".url", "%q has the scheme %q; it must be https, http or file", h.URL, u.Scheme)
	}
	if u.User != nil {
		ps.add(key+".url", "it must not hold a user name or password; use token_env and username")
	}
	single := len(globs) == 1 && !strings.ContainsAny(globs[0], "*?[{\\")
	if !single && !strings.Contains(h.URL, "{repo}") && (!strings.Contains(h.URL, "{owner}") ||
		!strings.Contains(h.URL, "{name}")) {
		ps.add(key+".url", "%q is the same for every repository; it needs {repo}, or {owner} and {name}", h.URL)
	}
	h.validateToken(ps, key, u)
}

func (h Host) validateToken(ps *Problems, key string, u *url.URL) {
	switch {
	case h.TokenEnv == "" && h.Username != "":
		ps.add(key+".username", "it goes with token_env, which is missing")
	case h.TokenEnv == "":
	case !envName.MatchString(h.TokenEnv):
		// Not repeated: it may be the token itself.
		ps.add(
			key+".token_env",
			"it must be the name of an environment variable that holds the token, such as ACME_TOKEN, and not the token",
		)
	case u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(net.JoinHostPort(u.Hostname(), "80"))):
		ps.add(key+".token_env", "a token is sent over https only, and the url is %s", u.Scheme)
	}
	if strings.ContainsAny(h.Username, ":\r\n\x00") {
		ps.add(key+".username", "%q must not have a colon or line break", h.Username)
	}
}

// hostPart is what stands between `//` and the next slash.
func hostPart(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "//")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

var (
	envName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
	refName = regexp.MustCompile(`^refs(/[A-Za-z0-9_][A-Za-z0-9._-]*|/\{number\})+$`)
)

func validateRef(ps *Problems, key, ref string) {
	if !refName.MatchString(ref) || strings.Contains(ref, "..") || strings.HasSuffix(ref, ".lock") ||
		strings.Count(ref, "{number}") != 1 {
		ps.add(
			key, "%q is not allowed; it must be a reference with {number} as one of its parts, such as %s", ref,
			DefaultHeadRef,
		)
	}
}
