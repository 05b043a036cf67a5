package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
)

const (
	read  = "read"
	write = "write"
)

// Permission is one that the App asks for.
type Permission struct {
	Name  string
	Level string // read or write
	Why   string
}

// Permissions are those that the App asks for. It never asks to write contents.
var Permissions = []Permission{
	{"metadata", read, "GitHub gives it to every App"},
	{"contents", read, "git reads the commits of a pull request"},
	{"pull_requests", write, "pull requests are read, and comments written"},
	{"checks", write, "the check run shows the verdict, and findings on their lines"},
	{"statuses", write, "a commit status shows the verdict where check runs can't"},
	{"issues", read, "GitHub sends comments of the talk below a pull request only with it"},
	{"merge_queues", read, "GitHub tells when a merge queue wants commits checked"},
}

// Events are those that the App subscribes to. What happens to its installations GitHub
// tells anyway.
var Events = []string{
	"pull_request", "merge_group", "check_run", "check_suite", "issue_comment",
	"pull_request_review_comment", "repository",
}

// permissions are what was granted, by name.
func permissions(p *api.InstallationPermissions) map[string]string {
	granted := map[string]string{}
	if b, err := json.Marshal(p); err == nil {
		_ = json.Unmarshal(b, &granted) // all of its fields are text
	}

	return granted
}

// Manifest is what GitHub makes an App of. The App is private: only its owner can
// install it.
type Manifest struct {
	Name        string            `json:"name"` // at most 34 characters, unique at the host
	URL         string            `json:"url"`  // of the App's home page
	Hook        ManifestHook      `json:"hook_attributes"`
	Redirect    string            `json:"redirect_url"`        // gets the code
	Setup       string            `json:"setup_url,omitempty"` // people get there after they installed it
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// ManifestHook says where GitHub delivers to.
type ManifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// NewManifest is the manifest of an App for a server. Hook is where it takes
// deliveries, and redirect where it takes the code that GitHub gives back.
func NewManifest(name, publicURL, hook, redirect string) Manifest {
	m := Manifest{
		Name: name, URL: publicURL, Hook: ManifestHook{URL: hook, Active: true}, Redirect: redirect,
		Permissions: map[string]string{}, Events: Events,
	}
	for _, p := range Permissions {
		m.Permissions[p.Name] = p.Level
	}

	return m
}

// ManifestURL is where a page posts a manifest, as the field `manifest` of a form. The
// App belongs to an organization of the host, or with "" to who posts it. State comes
// back with the code.
func ManifestURL(web, organization, state string) string {
	if web == "" {
		web = publicURL
	}

	path := "/settings/apps/new"
	if organization != "" {
		path = "/organizations/" + url.PathEscape(organization) + path
	}

	return strings.TrimRight(web, "/") + path + "?state=" + url.QueryEscape(state)
}

// App is a GitHub App that was made of a manifest.
type App struct {
	ID            int64
	Slug          string
	Owner         string // login
	URL           string // of its page, below which it is installed
	PrivateKey    string // PEM
	WebhookSecret string
}

var manifestCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// CompleteManifest exchanges a code for the App that was made. GitHub gives it once,
// within an hour. Of o only the addresses and the client count.
func CompleteManifest(ctx context.Context, o Options, code string) (App, error) {
	if !manifestCode.MatchString(code) {
		return App{}, &codehost.Error{Fault: codehost.Invalid, Err: errors.New("github: the code is not one of GitHub's")}
	}

	base, _, err := addresses(o.URL, o.APIURL)
	if err != nil {
		return App{}, err
	}

	client, err := newClient(transportOf(o.Client), base)
	if err != nil {
		return App{}, err
	}

	c, _, err := client.Apps.CompleteAppManifest(ctx, code)
	if err != nil {
		return App{}, (&Host{}).fault(err, true)
	}

	return App{
		ID: c.GetID(), Slug: c.GetSlug(), Owner: c.GetOwner().GetLogin(), URL: c.GetHTMLURL(),
		PrivateKey: c.GetPEM(), WebhookSecret: c.GetWebhookSecret(),
	}, nil
}

// Installed implements codehost.Installable.
func (h *Host) Installed(ctx context.Context) (codehost.Installation, error) {
	return h.FindInstallation(ctx, h.o.Account)
}

// FindInstallation is the App's installation in an organization's or somebody's
// account; Gone when there is none.
func (h *Host) FindInstallation(ctx context.Context, account string) (codehost.Installation, error) {
	if h.app == nil || !loginName.MatchString(account) {
		return codehost.Installation{}, &codehost.Error{
			Fault: codehost.Invalid, Err: fmt.Errorf("github: %.100q has no installation", account),
		}
	}

	i, _, err := h.app.Apps.GetOrganizationInstallation(ctx, account)
	if err = h.fault(err, false); gone(err) {
		i, _, err = h.app.Apps.GetUserInstallation(ctx, account)
		err = h.fault(err, false)
	}

	return codehost.Installation{ID: i.GetID(), Suspended: i != nil && i.SuspendedAt != nil}, err
}

const (
	maxRedeliveries = 50 // at a time; the rest of them at the next
	maxAttempts     = 3  // of one delivery, by GitHub or by us
)

// Redeliver has GitHub deliver again what it could not since a time, which is three
// days ago at most. Without an App there is nothing that it could ask.
func (h *Host) Redeliver(ctx context.Context, since time.Time) (int, error) {
	if h.app == nil {
		return 0, nil
	}

	installation, err := h.installation(ctx)
	if err != nil {
		return 0, err
	}

	failed, err := h.failedDeliveries(ctx, installation, since)
	if err != nil {
		return 0, err
	}

	for n, id := range failed {
		_, _, err := h.app.Apps.RedeliverHookDelivery(ctx, id)
		if err = h.fault(err, true); err != nil && !gone(err) {
			return n, err
		}
	}

	return len(failed), nil
}

// failedDeliveries are those that never arrived, the oldest first.
func (h *Host) failedDeliveries(ctx context.Context, installation int64, since time.Time) ([]int64, error) {
	type attempts struct {
		id       int64 // of the latest
		made     int
		answered bool
	}

	var (
		order    []string // newest first, as GitHub lists them
		byGUID   = map[string]*attempts{}
		listPage = api.ListCursorOptions{PerPage: perPage}
	)
	for range maxPages {
		list, r, err := h.app.Apps.ListHookDeliveries(ctx, &listPage)
		if err != nil {
			return nil, h.fault(err, false)
		}

		for _, d := range list {
			if d.GetDeliveredAt().Before(since) {
				r.Cursor = ""
				break
			}
			if d.InstallationID != nil && *d.InstallationID != installation {
				continue
			}
			a := byGUID[d.GetGUID()]
			if a == nil {
				a = &attempts{id: d.GetID()}
				byGUID[d.GetGUID()] = a
				order = append(order, d.GetGUID())
			}
			a.made++
			a.answered = a.answered || d.GetStatusCode() >= http.StatusOK && d.GetStatusCode() < 300
		}
		if r.Cursor == "" {
			break
		}
		listPage.Cursor = r.Cursor
	}

	var failed []int64
	for i := len(order) - 1; i >= 0 && len(failed) < maxRedeliveries; i-- {
		if a := byGUID[order[i]]; !a.answered && a.made < maxAttempts {
			failed = append(failed, a.id)
		}
	}

	return failed, nil
}
