// Package github is github.com and GitHub Enterprise Server as a code host, by a
// GitHub App or by somebody's token.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
)

// CheckName is the name of the check run and the context of the commit status. Branch
// protection rules name it.
const CheckName = "prwarden"

const (
	publicURL = "https://github.com"
	userAgent = "prwarden"
	perPage   = 100
	maxPages  = 100
)

// Options are what a Host is made of: a Token, or an App's ID and PrivateKey.
type Options struct {
	URL          string // of the host; https://github.com when empty
	APIURL       string // "" for the usual one of URL
	Token        string // of somebody, when there is no App
	GitToken     string // reads by git; Token when empty
	AppID        int64
	Installation int64  // of the App; 0 for the one in Account
	Account      string // where the App is installed, an organization or somebody
	PrivateKey   string // of the App, PEM

	// Client makes the calls, and bounds them in size and time. It is not asked to follow
	// redirects.
	Client *http.Client
}

// Host is one GitHub with the credentials of one connection.
type Host struct {
	o       Options
	client  *api.Client   // as the installation, or whose the token is
	app     *api.Client   // as the App itself; nil for a token
	graphql string        // address
	tokens  *installation // nil for a token

	me    atomic.Pointer[account] // nil until it is known
	found atomic.Int64            // the installation in Account; 0 until it is known
}

var (
	_ codehost.Host        = (*Host)(nil)
	_ codehost.Redeliverer = (*Host)(nil)
	_ codehost.Installable = (*Host)(nil)
)

// account is who the credentials are.
type account struct {
	login string
	id    int64
}

// New makes a Host. It calls nobody, and fails when an option is wrong.
func New(o Options) (*Host, error) {
	if (o.AppID != 0) == (o.Token != "") {
		return nil, errors.New("github: there must be either a token or an App")
	}

	base, graphql, err := addresses(o.URL, o.APIURL)
	if err != nil {
		return nil, err
	}

	h := &Host{o: o, graphql: graphql}
	transport := transportOf(o.Client)

	var timeout time.Duration
	if o.Client != nil {
		timeout = o.Client.Timeout
	}

	if o.AppID == 0 {
		h.client, err = newClient(transport, base, api.WithTimeout(timeout), api.WithAuthToken(o.Token))
		return h, err
	}

	apps, err := ghinstallation.NewAppsTransport(transport, o.AppID, []byte(o.PrivateKey))
	if err != nil {
		return nil, errors.New("github: the App's private key is not an RSA key in PEM")
	}

	apps.BaseURL = strings.TrimSuffix(base, "/")
	if h.app, err = newClient(apps, base, api.WithTimeout(timeout)); err != nil {
		return nil, err
	}

	h.tokens = &installation{apps: apps, find: h.installation}
	h.client, err = newClient(h.tokens, base, api.WithTimeout(timeout))
	return h, err
}

// newClient makes a client that keeps no limits in mind and follows no redirect: with a
// renamed repository Go would make a GET of a POST, which succeeds and does nothing.
func newClient(tr http.RoundTripper, base string, more ...api.ClientOptionsFunc) (*api.Client, error) {
	hc := &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	return api.NewClient(append([]api.ClientOptionsFunc{
		api.WithHTTPClient(hc), api.WithURLs(&base, nil), api.WithUserAgent(userAgent),
		api.WithDisableRateLimitCheck(),
	}, more...)...)
}

// addresses are those of the REST API, with a slash at its end, and of GraphQL.
func addresses(web, rest string) (base, graphql string, err error) {
	u, err := url.Parse(cmp.Or(web, publicURL))
	if err != nil || u.Host == "" {
		return "", "", errors.New("github: the address of the host is not a URL")
	}

	if rest == "" {
		switch host := strings.ToLower(u.Host); {
		case host == "github.com" || strings.HasSuffix(host, ".ghe.com"):
			rest = u.Scheme + "://api." + host
		default:
			rest = u.Scheme + "://" + u.Host + "/api/v3"
		}
	}

	r, err := url.Parse(strings.TrimRight(rest, "/"))
	if err != nil || r.Host == "" {
		return "", "", errors.New("github: the address of the API is not a URL")
	}

	if root, ok := strings.CutSuffix(r.String(), "/api/v3"); ok {
		return r.String() + "/", root + "/api/graphql", nil
	}

	return r.String() + "/", r.String() + "/graphql", nil
}

// installation is the App's, which is looked up once when only its account is known.
func (h *Host) installation(ctx context.Context) (int64, error) {
	if h.o.Installation != 0 {
		return h.o.Installation, nil
	}

	if id := h.found.Load(); id != 0 {
		return id, nil
	}

	found, err := h.FindInstallation(ctx, h.o.Account)
	switch {
	case gone(err), codehost.FaultOf(err) == codehost.Invalid:
		return 0, &codehost.Error{Fault: codehost.Revoked, Err: errNotInstalled}
	case err != nil:
		return 0, err
	}

	h.found.Store(found.ID)
	return found.ID, nil
}

// Limits are those that GitHub documents. It has none for all annotations of a check
// run; 1,000 of them are 20 calls.
func (h *Host) Limits() codehost.Limits {
	l := codehost.Limits{
		AnnotationsPerCall: 50, Annotations: 1000, CommentsPerCall: 30,
		Body: 65_536, Title: 255, Summary: 65_535,
		CallsPerMinute: 80, CallsPerHour: 500, Suggestions: codehost.SuggestionOfLine,
	}

	if h.app == nil { // only Apps may write check runs
		l.AnnotationsPerCall, l.Annotations, l.Title, l.Summary = 0, 0, 140, 0
	}

	return l
}

var (
	repoName  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$`)
	loginName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}(\[bot\])?$`)
)

// split takes `owner/name` apart. It refuses what would be another path of the API.
func split(name string) (owner, repo string, err error) {
	owner, repo, _ = strings.Cut(name, "/")
	if !repoName.MatchString(name) || strings.Trim(owner, ".") == "" || strings.Trim(repo, ".") == "" {
		return "", "", &codehost.Error{
			Fault: codehost.Invalid, Err: fmt.Errorf("github: %.100q is not a repository's owner/name", name),
		}
	}

	return owner, repo, nil
}

// self is who the credentials are. It asks once, since an account's ID never changes.
func (h *Host) self(ctx context.Context) (account, error) {
	if me := h.me.Load(); me != nil {
		return *me, nil
	}

	login := "" // whose the token is
	if h.app != nil {
		app, _, err := h.app.Apps.Get(ctx, "")
		if err != nil {
			return account{}, h.fault(err, false)
		}
		login = app.GetSlug() + "[bot]"
	}

	user, _, err := h.client.Users.Get(ctx, login)
	if err != nil {
		return account{}, h.fault(err, false)
	}

	me := account{login: user.GetLogin(), id: user.GetID()}
	h.me.Store(&me)
	return me, nil
}

// number is GitHub's form of an identifier of ours; 0 for one that is none.
func number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}

	return n
}

// text is our form of GitHub's identifier; "" for 0.
func text(id int64) string {
	if id == 0 {
		return ""
	}

	return strconv.FormatInt(id, 10)
}
