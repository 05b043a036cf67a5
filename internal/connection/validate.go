package connection

import (
	"cmp"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
)

// Bounds of the fields, in bytes where nothing else is said.
const (
	maxURL          = 2048
	MaxRepositories = 100 // globs
	maxGlob         = 255
	maxAccount      = 255
	maxToken        = 4096
	maxPrivateKey   = 16 << 10
	minWebhook      = 16
	maxWebhook      = 255
)

// repoPlace stands for `owner/name` in Connection.GitURL.
const repoPlace = "{repo}"

// usualURL is where a product is that has one home; "" where each server has its own.
func usualURL(k codehost.Kind) string {
	switch k {
	case codehost.GitHub:
		return "https://github.com"
	case codehost.GitLab:
		return "https://gitlab.com"
	case codehost.BitbucketCloud:
		return "https://bitbucket.org"
	}

	return ""
}

// withDefaults fills in what is usual, and writes addresses without a slash at the end.
func (c Connection) withDefaults() Connection {
	c.URL = strings.TrimRight(cmp.Or(c.URL, usualURL(c.Kind)), "/")
	c.APIURL = strings.TrimRight(c.APIURL, "/")

	return c
}

// CloneURL is where a repository is cloned from.
func (c Connection) CloneURL(repo string) string {
	usual := c.URL + "/" + repoPlace + ".git"
	if c.Kind == codehost.BitbucketServer {
		usual = c.URL + "/scm/" + repoPlace + ".git"
	}

	return strings.ReplaceAll(cmp.Or(c.GitURL, usual), repoPlace, repo)
}

// IsFor tells whether a connection is for a repository, `owner/name`. Case counts.
func (c Connection) IsFor(repo string) bool {
	for _, glob := range c.Repositories {
		if doublestar.MatchUnvalidated(glob, repo) {
			return true
		}
	}

	return false
}

// Owners are those that the globs of a connection name in full, each once.
func (c Connection) Owners() (out []string) {
	for _, glob := range c.Repositories {
		owner, _, _ := strings.Cut(glob, "/")
		if !strings.ContainsAny(owner, `*?[{\\`) && !slices.Contains(out, owner) {
			out = append(out, owner)
		}
	}

	return out
}

// validate returns what is wrong with a connection, nil for nothing. What is not trusted
// needs https, but for addresses that the operator lists.
func (c Connection) validate(listed func(*url.URL) bool) errs.Violations {
	v := validator{trusted: c.Trusted, listed: listed}
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`).MatchString(c.Name) {
		v.Add("name", "%q is not allowed; it must be 1 to 63 lower-case letters, digits, dots, hyphens and "+
			"underscores, starting with a letter or digit", errs.Cut(c.Name, maxAccount))
	}
	v.repositories(c.Repositories)
	if c.URL == "" {
		v.Add("url", "it is missing; write the address of the host, such as https://git.example.com")
	} else {
		v.address("url", c.URL)
	}
	if c.APIURL != "" {
		v.address("api_url", c.APIURL)
	}
	v.gitURL(c.GitURL)
	if len(c.Account) > maxAccount || strings.ContainsFunc(c.Account, isSpaceOrControl) {
		v.Add("account", "it must have at most %d bytes, without blanks", maxAccount)
	}
	v.app(c)

	return v.Violations
}

// validate returns what is wrong with the secrets of a connection, nil for nothing.
// No text repeats one.
func (s Secrets) validate(c Connection) errs.Violations {
	v := validator{}
	switch {
	case c.AppID != 0 && s.Token != "":
		v.Add("token", "an App makes its own tokens; give either a token, or app_id and private_key")
	case (c.AppID != 0) != (s.PrivateKey != ""):
		v.Add("private_key", "app_id and private_key belong together; give both, or a token")
	case c.AppID == 0 && s.Token == "":
		v.Add("token", "it is missing; without it the host tells nothing")
	}
	v.token("token", s.Token)
	v.token("git_token", s.GitToken)
	if s.PrivateKey != "" && !isPrivateKey(s.PrivateKey) {
		v.Add("private_key", "it is not an RSA key in PEM, as GitHub makes one for an App")
	}
	for _, secret := range s.Webhook {
		if len(secret) < minWebhook || len(secret) > maxWebhook || strings.ContainsFunc(secret, isSpaceOrControl) {
			v.Add("webhook_secret", "it must have %d to %d bytes, without blanks", minWebhook, maxWebhook)
		}
	}

	return v.Violations
}

type validator struct {
	errs.Violations
	trusted bool
	listed  func(*url.URL) bool
}

func (v *validator) repositories(globs []string) {
	if len(globs) == 0 || len(globs) > MaxRepositories {
		v.Add("repositories", "there must be 1 to %d globs, such as acme/* or acme/** with subgroups", MaxRepositories)
	}
	for i, glob := range globs {
		owner, name, _ := strings.Cut(glob, "/")
		if len(glob) > maxGlob || !doublestar.ValidatePattern(glob) || owner == "" || name == "" {
			v.Add(fmt.Sprintf("repositories[%d]", i), "%q is not a glob of OWNER/NAME of at most %d bytes; write one "+
				"such as acme/* or acme/**", errs.Cut(glob, maxGlob), maxGlob)
		}
	}
}

// address checks an address of the host.
func (v *validator) address(field, address string) {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxURL, err != nil, u.Host == "", u.RawQuery != "", u.Fragment != "",
		strings.ContainsFunc(address, isSpaceOrControl), strings.ContainsAny(address, "{}"):
		v.Add(field, "it is not an address of at most %d bytes such as https://git.example.com", maxURL)
	case u.User != nil:
		v.Add(field, "it must not hold a user name or password")
	default:
		v.scheme(field, u)
	}
}

func (v *validator) scheme(field string, u *url.URL) {
	switch {
	case u.Scheme == "https", u.Scheme == "http" && (v.trusted || v.listed(u)):
	case v.trusted:
		v.Add(field, "it has the scheme %q; it must be https or http", errs.Cut(u.Scheme, maxAccount))
	default:
		v.Add(field, "it must be https; only the operator can choose other addresses, in the configuration file or "+
			"on the command line of the server")
	}
}

func (v *validator) gitURL(address string) {
	const field = "git_url"
	if address == "" {
		return
	}

	plain := strings.ReplaceAll(address, repoPlace, "o/n")
	u, err := url.Parse(plain)
	switch {
	case err != nil, strings.Count(address, repoPlace) != 1, !strings.Contains(u.Path, "o/n"):
		v.Add(field, "it needs {repo} once, in its path; write one such as https://git.example.com/{repo}.git")
	case u.Scheme == "file" && v.trusted && u.Host == "": // a folder of the operator
		v.address(field, "https://folder"+u.Path)
	default:
		v.address(field, plain)
	}
}

func (v *validator) app(c Connection) {
	switch {
	case c.AppID == 0 && c.Installation != 0:
		v.Add("installation_id", "it goes with app_id, which is missing")
	case c.AppID == 0:
	case c.Kind != codehost.GitHub:
		v.Add("app_id", "only GitHub has Apps; give a token")
	case c.Account == "":
		v.Add("account", "it is missing; name the account whose installation of the App this is for")
	}
	for field, n := range map[string]int64{"app_id": c.AppID, "installation_id": c.Installation} {
		if n < 0 || n > math.MaxInt32 {
			v.Add(field, "%d is not allowed; it must be the number that GitHub shows, or 0 for none", n)
		}
	}
}

// isPrivateKey tells whether a text is an RSA key in PEM, in either of its forms.
func isPrivateKey(text string) bool {
	if len(text) > maxPrivateKey {
		return false
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return true
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	_, ok := key.(*rsa.PrivateKey)

	return err == nil && ok
}

// token checks a token, which no error repeats.
func (v *validator) token(field, token string) {
	if len(token) > maxToken || strings.ContainsFunc(token, isSpaceOrControl) {
		v.Add(field, "it must have at most %d bytes, without blanks", maxToken)
	}
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f || r > 0x7e && r < 0xa1 }
