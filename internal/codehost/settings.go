package codehost

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost/git"
)

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
	case strings.ContainsAny(u.Path, "{}") || strings.ContainsFunc(u.Path, func(r rune) bool { return r < ' ' || r == 0x7f }):
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
