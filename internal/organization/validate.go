package organization

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/errs"
)

// Validate returns what is wrong with an organization, nil for nothing. Fields are as
// the configuration file names them, such as `host.url` or `repositories[0]`.
func (o Organization) Validate() errs.Violations {
	v := validator{}
	if err := checkName(o.Name); err != nil {
		v.Add("name", "%v", err)
	}

	v.repositories(o.Repositories)
	v.host(o.Host, o.Repositories)

	if o.MaxScans < 0 || o.MaxScans > MaxScans {
		v.Add("max_scans", "%d is not allowed; it must be from 1 to %d, or 0 for no cap", o.MaxScans, MaxScans)
	}

	if o.MaxQueued < 0 || o.MaxQueued > MaxQueued {
		v.Add("max_queued", "%d is not allowed; it must be from 1 to %d, or 0 for %[2]d", o.MaxQueued, MaxQueued)
	}

	if o.RateLimit < 0 || o.RateLimit > MaxRateLimit {
		v.Add("rate_limit", "%d is not allowed; it must be from 1 to %d requests a minute, or 0 for the default",
			o.RateLimit, MaxRateLimit)
	}

	return v.Violations
}

// Validate returns what is wrong with the host of an organization that may scan
// the repositories, nil for nothing.
func (h Host) Validate(repositories []string) errs.Violations {
	v := validator{}
	v.host(h, repositories)

	return v.Violations
}

// checkName says what is wrong with the name of an organization, nil for
// nothing.
func checkName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789._-"
	if name == "" || len(name) > 63 || strings.ContainsRune("._-", rune(name[0])) || strings.Trim(name, letters) != "" {
		return fmt.Errorf("%q is not allowed; it must be 1 to 63 lower-case letters, digits, dots, hyphens and "+
			"underscores, starting with a letter or digit", name)
	}

	return nil
}

// tokenPrefix begins the names of variables that may hold a token without being
// listed.
const tokenPrefix = "PRWARDEN_"

// CheckTokenEnv says why a variable may not be read as a token, nil when it may:
// its name begins with PRWARDEN_, or the operator allows it. Without this rule
// whoever changes an organization could have any secret of the process sent to
// a host of their choice. settings are the variables that configure the program,
// which may hold passwords.
func CheckTokenEnv(name string, allowed, settings []string) error {
	switch {
	case slices.Contains(allowed, name):
		return nil
	case slices.Contains(settings, name):
		return fmt.Errorf("%s is a setting of prwarden and no token; choose another variable", name)
	case strings.HasPrefix(name, tokenPrefix):
		return nil
	}

	return fmt.Errorf("%s is not allowed; the name of the variable must begin with %s, or stand in token_envs",
		name, tokenPrefix)
}

type validator struct{ errs.Violations }

func (v *validator) repositories(globs []string) {
	if len(globs) == 0 {
		v.Add("repositories", "there must be at least one glob, such as acme/* or */*")
	}

	for i, glob := range globs {
		owner, name, _ := strings.Cut(glob, "/")
		if !doublestar.ValidatePattern(glob) || owner == "" || name == "" {
			v.Add(fmt.Sprintf("repositories[%d]", i), "%q is not a glob of OWNER/NAME; write one such as acme/*, acme/** "+
				"or */*", glob)
		}
	}
}

func (v *validator) host(h Host, globs []string) {
	switch h.Kind {
	case KindGit:
	case "github", "gitlab", "gitea":
		v.Add("host.kind", "%q is not supported yet; use kind git with the clone URL, such as %s "+
			"(for GitLab also head_ref: refs/merge-requests/{number}/head)", h.Kind, DefaultURL)

		return
	case "":
		v.Add("host.kind", "it is missing; the one kind there is now is git")

		return
	default:
		v.Add("host.kind", "unknown kind %q; the one kind there is now is git", h.Kind)

		return
	}

	v.url(h, globs)
	v.ref("host.head_ref", h.HeadRef)
	v.ref("host.merge_ref", h.MergeRef)
}

func (v *validator) url(h Host, globs []string) {
	const key, example = "host.url", "https://git.example.com/{repo}.git or file:///srv/git/{repo}.git"

	plain := h.RepositoryURL("o/n")
	u, err := url.Parse(plain)

	switch {
	case h.URL == "":
		v.Add(key, "it is missing; write one such as %s", example)

		return
	case err != nil, strings.ContainsAny(plain, "{}"), u.Opaque != "", u.RawQuery != "", u.Fragment != "", u.Path == "",
		strings.ContainsFunc(u.Path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		v.Add(
			key, "%q is not a clone URL with {repo} (or {owner} and {name}) in its path; write one such as %s", h.URL,
			example,
		)

		return
	}

	switch u.Scheme {
	case "https", "http":
		if u.Host == "" || strings.ContainsAny(hostPart(h.URL), "{}") {
			v.Add(key, "%q must name its host in full, without {repo}, {owner} or {name} in it", h.URL)
		}
	case "file":
		if u.Host != "" {
			v.Add(key, "%q must be file:// followed by an absolute path, such as file:///srv/git/{repo}.git", h.URL)
		}
	default:
		v.Add(key, "%q has the scheme %q; it must be https, http or file", h.URL, u.Scheme)
	}

	if u.User != nil {
		v.Add(key, "it must not hold a user name or password; use token_env and username")
	}

	single := len(globs) == 1 && !strings.ContainsAny(globs[0], "*?[{\\")
	named := strings.Contains(h.URL, "{repo}") || strings.Contains(h.URL, "{owner}") && strings.Contains(h.URL, "{name}")
	if !single && !named {
		v.Add(key, "%q is the same for every repository; it needs {repo}, or {owner} and {name}", h.URL)
	}

	v.token(h, u)
}

func (v *validator) token(h Host, u *url.URL) {
	switch {
	case h.TokenEnv == "" && h.Username != "":
		v.Add("host.username", "it goes with token_env, which is missing")
	case h.TokenEnv == "":
	case !regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`).MatchString(h.TokenEnv):
		// The value is not repeated: it may be the token itself.
		v.Add("host.token_env", "it must be the name of an environment variable that holds the token, such as "+
			"PRWARDEN_ACME_TOKEN, and not the token")
	case !isConfidential(u):
		v.Add("host.token_env", "a token is sent over https only, and the url is %s", u.Scheme)
	}

	if strings.ContainsAny(h.Username, ":\r\n\x00") {
		v.Add("host.username", "%q must not have a colon or line break", h.Username)
	}
}

// Confidential reports whether nobody on the way reads what is sent to the host: it is
// reached by https, or on this machine.
func (h Host) Confidential() bool {
	u, err := url.Parse(h.RepositoryURL("o/n"))

	return err == nil && isConfidential(u)
}

func isConfidential(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

// isLoopback reports whether what is sent to a host stays on this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)

	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostPart is what stands between `//` and the next slash.
func hostPart(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "//")
	host, _, _ := strings.Cut(rest, "/")

	return host
}

func (v *validator) ref(key, ref string) {
	valid := regexp.MustCompile(`^refs(/[A-Za-z0-9_][A-Za-z0-9._-]*|/\{number\})+$`).MatchString(ref)
	if !valid || strings.Contains(ref, "..") || strings.HasSuffix(ref, ".lock") || strings.Count(ref, "{number}") != 1 {
		v.Add(key, "%q is not allowed; it must be a reference with {number} as one of its parts, such as %s",
			ref, DefaultHeadRef)
	}
}
