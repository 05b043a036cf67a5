package githubfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// object is a JSON object.
type object = map[string]any

// answer is a status and a body; nil for none.
type answer struct {
	status int
	body   any
	header map[string]string
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

// failure is an error as GitHub writes it; each of the errors is text or an object.
func failure(status int, message string, errors ...any) answer {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": fmt.Sprint(status)}
	if len(errors) > 0 {
		body["errors"] = errors
	}

	return answer{status: status, body: body}
}

// notFound is also what GitHub answers where credentials may not know of a thing.
func notFound() answer { return failure(http.StatusNotFound, "Not Found") }

// invalid is a 422 about a field.
func invalid(resource, field, message string) answer {
	return failure(http.StatusUnprocessableEntity, "Validation Failed", object{
		"resource": resource, "code": "custom", "field": field, "message": message,
	})
}

type handler func(q *http.Request) answer

// who may call an operation.
type who int

const (
	anybody who = iota
	theApp      // by a JWT
	account     // by a token
)

// routes are the operations, below the path that Enterprise Server has.
func (f *Fake) routes() *http.ServeMux {
	mux := http.NewServeMux()
	add := func(may who, pattern string, h handler) {
		method, path, _ := strings.Cut(pattern, " ")
		f.operations = append(f.operations, method+" "+strings.TrimPrefix(path, "/v3"))
		mux.Handle(method+" /api"+path, f.serve(may, h))
	}

	add(anybody, "POST /v3/app-manifests/{code}/conversions", f.convert)
	add(theApp, "GET /v3/app", f.getApp)
	add(theApp, "GET /v3/app/installations/{id}", f.getInstallation)
	add(theApp, "GET /v3/orgs/{name}/installation", f.findInstallation)
	add(theApp, "GET /v3/users/{name}/installation", func(*http.Request) answer { return notFound() })
	add(theApp, "POST /v3/app/installations/{id}/access_tokens", f.mint)
	add(theApp, "GET /v3/app/hook/deliveries", f.listDeliveries)
	add(theApp, "POST /v3/app/hook/deliveries/{id}/attempts", f.redeliver)
	add(account, "GET /v3/user", f.getUser)
	add(account, "GET /v3/users/{name}", f.getUser)
	add(account, "GET /v3/user/repos", f.listRepos)
	add(account, "GET /v3/installation/repositories", f.listRepos)
	add(account, "GET /v3/repositories/{id}", f.getRepo)
	add(account, "POST /graphql", f.graphql)

	repo := "/v3/repos/{owner}/{repo}"
	add(account, "GET "+repo+"/pulls", f.in(f.listPulls))
	add(account, "GET "+repo+"/pulls/{n}", f.in(f.getPull))
	add(account, "POST "+repo+"/pulls/{n}/reviews", f.in(f.createReview))
	add(account, "DELETE "+repo+"/pulls/{n}/reviews/{id}", f.in(f.deleteReview))
	add(account, "PATCH "+repo+"/pulls/comments/{id}", f.in(f.editComment(true)))
	add(account, "DELETE "+repo+"/pulls/comments/{id}", f.in(f.deleteComment(true)))
	add(account, "POST "+repo+"/pulls/comments/{id}/reactions", f.in(f.react(true)))
	add(account, "GET "+repo+"/issues/{n}/comments", f.in(f.listComments))
	add(account, "POST "+repo+"/issues/{n}/comments", f.in(f.createComment))
	add(account, "PATCH "+repo+"/issues/comments/{id}", f.in(f.editComment(false)))
	add(account, "DELETE "+repo+"/issues/comments/{id}", f.in(f.deleteComment(false)))
	add(account, "POST "+repo+"/issues/comments/{id}/reactions", f.in(f.react(false)))
	add(account, "GET "+repo+"/commits/{sha}/check-runs", f.in(f.listRuns))
	add(account, "POST "+repo+"/check-runs", f.in(f.createRun))
	add(account, "PATCH "+repo+"/check-runs/{id}", f.in(f.updateRun))
	add(account, "GET "+repo+"/commits/{sha}/statuses", f.in(f.listStatuses))
	add(account, "POST "+repo+"/statuses/{sha}", f.in(f.createStatus))
	add(account, "GET "+repo+"/collaborators/{name}/permission", f.in(f.permission))
	return mux
}

// Operations are those that it has, such as `GET /users/{name}`.
func (f *Fake) Operations() []string { return f.operations }

// ServeHTTP answers a request.
func (f *Fake) ServeHTTP(w http.ResponseWriter, q *http.Request) { f.mux.ServeHTTP(w, q) }

// serve answers one operation, one at a time.
func (f *Fake) serve(may who, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()

		a, allowed := f.authorize(may, q)
		if allowed {
			a = h(q)
		}
		if list, isList := a.body.([]object); isList && q.Method == http.MethodGet {
			a = page(q, a, list)
		}

		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		if a.body != nil {
			_ = json.NewEncoder(w).Encode(a.body)
		}
	})
}

// authorize checks credentials. Doc "authentication": bad ones get a 401, and a write
// that they don't allow a 403 that names the permissions.
func (f *Fake) authorize(may who, q *http.Request) (answer, bool) {
	scheme, secret, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	bad := failure(http.StatusUnauthorized, "Bad credentials")

	switch may {
	case anybody:
		return answer{}, true
	case theApp:
		claims := jwt.RegisteredClaims{}
		_, err := jwt.ParseWithClaims(secret, &claims, func(*jwt.Token) (any, error) { return &key().PublicKey, nil },
			jwt.WithValidMethods([]string{"RS256"}))
		if err != nil || scheme != "Bearer" || claims.Issuer != strconv.Itoa(AppID) || f.revoked || !f.app {
			return failure(http.StatusUnauthorized, "A JSON web token could not be decoded"), false
		}
		return answer{}, true
	}

	t, minted := f.tokens[secret]
	mine := !f.app && secret == hosttest.Token || f.app && minted && time.Now().Before(t.expires)
	if f.revoked || !mine {
		return bad, false
	}

	reads := q.Method == http.MethodGet || strings.HasSuffix(q.URL.Path, "/graphql")
	if (f.restricted || t.readOnly) && !reads {
		a := failure(http.StatusForbidden, "Resource not accessible by integration")
		a.header = map[string]string{"X-Accepted-GitHub-Permissions": "pull_requests=write"}
		return a, false
	}

	return answer{}, true
}

// page cuts a list. Doc "pagination": `page` and `per_page`, 30 unless told and at most
// 100, and the next page in the header Link.
func page(q *http.Request, a answer, list []object) answer {
	size, _ := strconv.Atoi(q.FormValue("per_page"))
	if size <= 0 {
		size = 30
	}

	size = min(size, 100)
	number, _ := strconv.Atoi(q.FormValue("page"))
	number = max(number, 1)
	first := min((number-1)*size, len(list))
	last := min(first+size, len(list))
	a.body = list[first:last]
	if last < len(list) {
		a.header = map[string]string{"Link": link(q, "page", strconv.Itoa(number+1))}
	}

	return a
}

// link is the header that leads to the next page.
func link(q *http.Request, name, value string) string {
	next := *q.URL
	query := next.Query()
	query.Set(name, value)
	next.RawQuery = query.Encode()
	next.Scheme, next.Host = "http", q.Host
	return fmt.Sprintf("<%s>; rel=\"next\"", next.String())
}

// in answers an operation on the repository. A name that it had leads on, for every
// method: hosts.md 3.2, and doc "301 Moved permanently".
func (f *Fake) in(h handler) handler {
	return func(q *http.Request) answer {
		name := q.PathValue("owner") + "/" + q.PathValue("repo")
		switch {
		case name == f.name:
		case slices.Contains(f.old, name):
			_, rest, _ := strings.Cut(q.URL.Path, name)
			to := url.URL{Scheme: "http", Host: q.Host, Path: "/api/v3/repositories/" + hosttest.RepoID + rest}
			a := failure(http.StatusMovedPermanently, "Moved Permanently")
			a.header = map[string]string{"Location": to.String()}
			return a
		default:
			return notFound()
		}

		n := q.PathValue("n")
		if number, err := strconv.Atoi(n); n != "" && (err != nil || number != hosttest.Number) {
			return notFound()
		}
		if sha := q.PathValue("sha"); sha != "" && !f.commits[sha] {
			return noCommit(sha)
		}

		return h(q)
	}
}

// noCommit is about a commit that isn't there: rust-lang/homu#141, and doc "422" of the
// operations.
func noCommit(sha string) answer {
	return failure(http.StatusUnprocessableEntity, "No commit found for SHA: "+sha)
}

// body reads the body of a request.
func body[T any](q *http.Request) T {
	var into T
	_ = json.NewDecoder(q.Body).Decode(&into)
	return into
}

// user is an account.
func (f *Fake) user(name string) object {
	kind := "User"
	if f.app && name == hosttest.Account {
		kind = "Bot"
	}

	return object{"login": f.login(name), "id": f.people[name].id, "type": kind}
}

// repo is a repository.
func (f *Fake) repo(id int64, name string) object {
	return object{"id": id, "full_name": name, "private": true}
}

func (f *Fake) theRepo() object { return f.repo(int64(repoID()), f.name) }

func repoID() int {
	id, _ := strconv.Atoi(hosttest.RepoID)
	return id
}

func (f *Fake) getUser(q *http.Request) answer {
	name := hosttest.Account
	if login := q.PathValue("name"); login != "" {
		name = f.named(login)
	}

	// An installation is no user: doc "GET /user" lists no server-to-server tokens.
	if q.PathValue("name") == "" && f.app {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}

	if name == "" {
		return notFound()
	}

	a := ok(f.user(name))
	if !f.app { // doc "scopes": classic tokens only
		a.header = map[string]string{"X-OAuth-Scopes": f.scopes}
	}

	return a
}

func (f *Fake) getRepo(q *http.Request) answer {
	if q.PathValue("id") != hosttest.RepoID {
		return notFound()
	}

	return ok(f.theRepo())
}

func (f *Fake) listRepos(q *http.Request) answer {
	list := []object{f.theRepo()}
	for i := range f.repos {
		list = append(list, f.repo(int64(1000+i), fmt.Sprintf("%s/more-%03d", owner, i)))
	}

	a := ok(list)
	if strings.HasSuffix(q.URL.Path, "/installation/repositories") {
		a = page(q, a, list)
		a.body = object{"total_count": len(list), "repositories": a.body}
	}

	return a
}

// pull is a pull request.
func (f *Fake) pull(n int, updated time.Time) object {
	head := f.theRepo()
	if f.fork {
		head = f.repo(headRepo, "mallory/web")
	}

	labels := []object{}
	for _, l := range f.labels {
		labels = append(labels, object{"id": 1, "name": l})
	}

	p := object{
		"number": n, "state": "open", "title": hosttest.Title, "draft": f.draft, "labels": labels,
		"user": f.user(hosttest.Stranger), "html_url": fmt.Sprintf("https://github.test/%s/pull/%d", f.name, n),
		"updated_at": updated.Format(time.RFC3339), "merged_at": nil,
		"head": object{"sha": f.head, "ref": "topic", "repo": head},
		"base": object{"sha": hosttest.Base, "ref": f.base, "repo": f.theRepo()},
	}
	if f.state != codehost.Open {
		p["state"] = "closed"
	}

	if f.state == codehost.Merged {
		p["merged_at"] = updated.Format(time.RFC3339)
	}

	return p
}

func (f *Fake) getPull(*http.Request) answer { return ok(f.pull(hosttest.Number, Updated)) }

// Updated is when the pull request changed. Others changed a minute after each other.
var Updated = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func (f *Fake) listPulls(q *http.Request) answer {
	list := []object{}
	if f.state == codehost.Open {
		list = append(list, f.pull(hosttest.Number, Updated))
	}

	for i := range f.pulls {
		list = append(list, f.pull(100+i, Updated.Add(time.Duration(i+1)*time.Minute)))
	}

	// Doc: sorted by creation, the newest first, unless told.
	if q.FormValue("sort") == "updated" && q.FormValue("direction") == "desc" {
		slices.Reverse(list)
	}

	return ok(list)
}

// permission is that of an account. Doc: what is not there has the permission none.
func (f *Fake) permission(q *http.Request) answer {
	name := f.named(q.PathValue("name"))
	if name == "" {
		return notFound()
	}

	level := f.people[name].permission
	return ok(object{"permission": level, "role_name": level, "user": f.user(name)})
}
