package githubfake

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// convert makes an App of a manifest. Doc: a code works once, within an hour.
func (f *Fake) convert(q *http.Request) answer {
	if q.PathValue("code") != ManifestCode || f.converted {
		return notFound()
	}
	f.converted = true

	return answer{status: http.StatusCreated, body: object{
		"id": AppID, "slug": Slug, "node_id": "A_1", "name": Slug, "owner": object{"login": owner, "id": 1},
		"html_url": "http://" + q.Host + "/github-apps/" + Slug, "external_url": "https://prwarden.test",
		"client_id": "Iv1.1", "client_secret": "the client's", "webhook_secret": WebhookSecret, "pem": PrivateKey(),
		"events": []string{}, "permissions": object{},
	}}
}

func (f *Fake) getApp(*http.Request) answer {
	return ok(object{"id": AppID, "slug": Slug, "name": Slug, "owner": object{"login": owner, "id": 1}})
}

func (f *Fake) getInstallation(q *http.Request) answer {
	if f.removed || q.PathValue("id") != strconv.Itoa(Installation) {
		return notFound()
	}

	return ok(f.installation())
}

func (f *Fake) installation() object {
	i := object{
		"id": Installation, "app_id": AppID, "account": object{"login": owner, "id": 1},
		"permissions": f.permissions, "suspended_at": nil,
	}
	if f.suspended {
		i["suspended_at"] = Updated.Format(time.RFC3339)
	}

	return i
}

func (f *Fake) findInstallation(q *http.Request) answer {
	if f.removed || q.PathValue("name") != owner {
		return notFound()
	}

	return ok(f.installation())
}

// mint makes a token. Doc: it ends after an hour, and more permissions than the
// installation has are refused by 422. A suspended installation has none:
// octokit/octokit.rb#1307.
func (f *Fake) mint(q *http.Request) answer {
	switch {
	case f.removed || q.PathValue("id") != strconv.Itoa(Installation):
		return notFound()
	case f.suspended:
		return failure(http.StatusForbidden, "This installation has been suspended")
	}

	in := body[struct {
		Repositories  []string
		RepositoryIDs []int64 `json:"repository_ids"`
		Permissions   map[string]string
	}](q)
	for name, level := range in.Permissions {
		if got := f.permissions[name]; got != level && got != "write" {
			return failure(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
	}

	for _, id := range in.RepositoryIDs {
		if id != int64(repoID()) {
			return failure(http.StatusUnprocessableEntity, "There is at least one repository that does not exist")
		}
	}

	f.minted++
	name := hosttest.Token
	if f.generation > 0 || len(in.Permissions) > 0 {
		name = fmt.Sprintf("ghs_%036d", f.minted)
	}

	ends := time.Now().Add(time.Hour)
	f.tokens[name] = token{expires: ends, readOnly: len(in.Permissions) > 0 && in.Permissions["pull_requests"] != "write"}
	granted := f.permissions
	if len(in.Permissions) > 0 {
		granted = in.Permissions
	}

	return answer{status: http.StatusCreated, body: object{
		"token": name, "expires_at": ends.UTC().Format(time.RFC3339), "permissions": granted,
	}}
}

// Minted is how many tokens were made.
func (f *Fake) Minted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.minted
}

// Log adds an attempt at a delivery to the App's log, which answered with a code.
func (f *Fake) Log(guid string, code int, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deliveries = append(f.deliveries, &delivery{id: f.id(), guid: guid, code: code, at: at})
}

// Redelivered are the deliveries that were made again.
func (f *Fake) Redelivered() (guids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.deliveries {
		if d.redone {
			guids = append(guids, d.guid)
		}
	}

	return guids
}

// listDeliveries are the App's, newest first. Doc: pages by a cursor.
func (f *Fake) listDeliveries(q *http.Request) answer {
	list := []object{}
	for _, d := range slices.Backward(f.deliveries) {
		list = append(list, object{
			"id": d.id, "guid": d.guid, "delivered_at": d.at.UTC().Format(time.RFC3339), "redelivery": false,
			"duration": 0.1, "status": http.StatusText(d.code), "status_code": d.code, "event": "pull_request",
			"action": "opened", "installation_id": Installation, "repository_id": repoID(),
		})
	}

	size, _ := strconv.Atoi(q.FormValue("per_page"))
	from, _ := strconv.Atoi(q.FormValue("cursor"))
	last := min(from+size, len(list))
	a := answer{status: http.StatusOK, body: list[from:last:last]}
	if last < len(list) {
		a.header = map[string]string{"Link": link(q, "cursor", strconv.Itoa(last))}
	}

	return answer{status: a.status, body: anyList(list[from:last]), header: a.header}
}

// anyList is a list that isn't cut again.
func anyList(list []object) []any {
	out := make([]any, 0, len(list))
	for _, o := range list {
		out = append(out, o)
	}

	return out
}

// redeliver makes a delivery again. Doc: the answer is 202.
func (f *Fake) redeliver(q *http.Request) answer {
	for _, d := range f.deliveries {
		if fmt.Sprint(d.id) == q.PathValue("id") {
			d.redone = true
			return answer{status: http.StatusAccepted, body: object{}}
		}
	}

	return notFound()
}
