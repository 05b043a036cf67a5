// Package codehost opens pull requests at the code hosts of organizations.
package codehost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// Hosts is the scan.Source of all organizations. A target says which host its
// repository is on.
type Hosts struct {
	store *git.Store
	token func(name string) (string, error)
}

var _ scan.Source = (*Hosts)(nil)

// New makes a source that reads repositories into store. token gives the token
// in a variable that a host names; it fails with a sentence for the operator
// when there is none, or none that a host may use.
func New(store *git.Store, token func(name string) (string, error)) *Hosts {
	return &Hosts{store: store, token: token}
}

// Open implements scan.Source.
func (h *Hosts) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	host := t.Host.WithDefaults()
	if problems := host.Validate([]string{t.Repo}); len(problems) > 0 {
		return nil, misconfigured(t, problems[0].Field+": "+problems[0].Message)
	}

	if _, _, ok := rule.SplitRepository(t.Repo); !ok { // what it lets through is safe in a URL
		return nil, &scan.Failure{Code: scan.CodeRepositoryNotFound, Lasting: true,
			Message: fmt.Sprintf("%q is no repository: it must be `owner/name`.", t.Repo)}
	}

	if t.Number < 1 {
		return nil, notFound(t)
	}

	remote := git.Remote{URL: host.RepositoryURL(t.Repo), Username: host.Username}
	if host.TokenEnv != "" {
		token, err := h.token(host.TokenEnv)
		if err != nil {
			return nil, misconfigured(t, err.Error())
		}
		remote.Token = token
	}

	return openGit(ctx, h.store, t, host, remote)
}

// misconfigured fails a scan until the operator has changed something.
func misconfigured(t scan.Target, why string) *scan.Failure {
	return &scan.Failure{Code: scan.CodeHostMisconfigured, Lasting: true,
		Message: fmt.Sprintf("The organization %s can't be scanned here: %s.", t.Organization, why)}
}

// KindGit is a plain git server: everything is read from its refs.
const KindGit = "git"

// Settings say where an organization's repositories are.
type Settings struct {
	Kind string // KindGit
	// URL of a repository, with `{repo}`, or `{owner}` and `{name}`, in its
	// path; https, http or file, without credentials.
	URL      string
	TokenEnv string // environment variable with the token; "" for none
	Username string // sent with the token; DefaultUsername when empty
	HeadRef  string // of a pull request, with `{number}`; DefaultHeadRef when empty
	MergeRef string // its merge into the base; DefaultMergeRef when empty
}

// What Settings leave out.
const (
	DefaultURL      = "https://github.com/{repo}.git"
	DefaultUsername = "x-access-token"
	DefaultHeadRef  = "refs/pull/{number}/head"
	DefaultMergeRef = "refs/pull/{number}/merge"
)

// Default is used without configuration: public repositories of GitHub.
func Default() Settings {
	return Settings{Kind: KindGit, URL: DefaultURL}
}

func (s Settings) withDefaults() Settings {
	if s.Username == "" {
		s.Username = DefaultUsername
	}
	if s.HeadRef == "" {
		s.HeadRef = DefaultHeadRef
	}
	if s.MergeRef == "" {
		s.MergeRef = DefaultMergeRef
	}
	return s
}

// Validate reports everything that is wrong with s, in sentences that name its
// key in the configuration file.
func (s Settings) Validate() error {
	if s.Kind != KindGit {
		return fmt.Errorf("kind: %q is not known; the kinds are: %s", s.Kind, KindGit)
	}
	s = s.withDefaults()
	return errors.Join(s.checkURL(), checkRef("head_ref", s.HeadRef), checkRef("merge_ref", s.MergeRef))
}

func (s Settings) checkURL() error {
	if !strings.Contains(s.URL, "{repo}") && !strings.Contains(s.URL, "{name}") {
		return fmt.Errorf("url: %q must contain {repo}, or {owner} and {name}", s.URL)
	}
	u, err := url.Parse(s.repoURL("owner", "name"))
	if err != nil {
		return fmt.Errorf("url: %q is not a URL", s.URL) // the cause repeats the URL
	}
	plain, err := url.Parse(s.URL)
	switch {
	case u.User != nil:
		return errors.New("url: must not contain credentials; name an environment variable with token_env")
	case u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(s.URL, "?#"):
		return fmt.Errorf("url: %q must not have a query or a fragment", s.URL)
	case err != nil || plain.Host != u.Host:
		return fmt.Errorf("url: %q may have placeholders in its path only", s.URL)
	case strings.ContainsAny(u.Path, "{}") || strings.ContainsFunc(u.Path, unicode.IsControl):
		return fmt.Errorf("url: %q has a placeholder that is not known; they are {repo}, {owner} and {name}", s.URL)
	}
	switch u.Scheme {
	case "https":
	case "http":
		if s.TokenEnv != "" && !loopback(u.Hostname()) {
			return errors.New("url: a token is not sent over http; use https")
		}
	case "file":
		if u.Host != "" {
			return fmt.Errorf("url: %q must begin with file:///", s.URL)
		}
		return nil
	default:
		return fmt.Errorf("url: %q must begin with https://, http:// or file:///", s.URL)
	}
	if u.Host == "" {
		return fmt.Errorf("url: %q names no host", s.URL)
	}
	return nil
}

func loopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

func checkRef(key, template string) error {
	if strings.Count(template, "{number}") != 1 {
		return fmt.Errorf("%s: %q must contain {number} once", key, template)
	}
	if err := git.CheckRef(ref(template, 1)); err != nil {
		return fmt.Errorf("%s: %q is not the name of a ref", key, template)
	}
	return nil
}

func ref(template string, number int32) string {
	return strings.ReplaceAll(template, "{number}", fmt.Sprint(number))
}

func (s Settings) repoURL(owner, name string) string {
	return strings.NewReplacer("{repo}", owner+"/"+name, "{owner}", owner, "{name}", name).Replace(s.URL)
}
