package bitbucketserverfake

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// object is a JSON object.
type object = map[string]any

// answer is what a call answers: nothing in the body for nil.
type answer struct {
	status int
	body   any
}

// problem is an answer in the form of Bitbucket ([rest], “Errors & Validation”).
func problem(status int, message string) answer {
	return answer{status, object{"errors": []object{{"context": nil, "message": message, "exceptionName": nil}}}}
}

func notFound() answer { return problem(http.StatusNotFound, "It does not exist.") }

// ServeHTTP answers a request. One is worked off at a time.
func (f *Fake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mux.ServeHTTP(w, q)
}

// handle registers a call of the API.
func (f *Fake) handle(pattern string, call func(*http.Request) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" /rest"+path, func(w http.ResponseWriter, q *http.Request) {
		a, moved := f.allowed(w, q)
		if moved != "" {
			w.Header().Set("Location", moved)
		}
		if a.status == 0 {
			a = call(q)
		}
		if a.body == nil {
			w.WriteHeader(a.status)
			return
		}
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(a.body)
	})
}

// allowed looks at the token, its permission, and the repository; the answer's status is 0
// when the call may go on. A permission that is missing is 401, too ([rest], each call), and
// the user of a token is in a header of each answer (community.developer.atlassian.com/t/
// obtain-authorised-users-username-from-api/24422).
func (f *Fake) allowed(w http.ResponseWriter, q *http.Request) (a answer, moved string) {
	if q.Header.Get("Authorization") != "Bearer "+f.token {
		return problem(http.StatusUnauthorized, "Authentication failed. Please check your credentials and try again."), ""
	}
	if !f.NoName {
		w.Header().Set("X-AUSERNAME", hosttest.Account)
	}
	project, slug := q.PathValue("project"), q.PathValue("slug")
	if project == "" {
		return answer{}, ""
	}
	name := strings.ToLower(project) + "/" + slug
	r := f.repo(name)
	if old := f.oldNames[name]; r == nil && old != nil {
		// Not documented: a redirect is the harder case.
		moved := strings.NewReplacer("/"+project+"/", "/"+strings.Split(old.name, "/")[0]+"/",
			"/repos/"+slug, "/repos/"+strings.Split(old.name, "/")[1]).Replace(q.URL.EscapedPath())
		return answer{http.StatusMovedPermanently, nil}, moved
	}
	if r == nil {
		return problem(http.StatusNotFound, "Repository "+name+" does not exist."), ""
	}
	// A token to read can't act on pull requests (confluence.atlassian.com/bitbucketserver/
	// http-access-tokens).
	if f.readOnly && hosttest.Writes(q) {
		return problem(http.StatusUnauthorized, "You are not permitted to access this resource"), ""
	}

	return answer{}, ""
}

// list is one page of a list: 25 unless the request says, at most 1,000 ([rest], “Paged
// APIs”).
func list[T any](q *http.Request, all []T, show func(T) object) answer {
	query := q.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 {
		limit = 25
	}
	limit = min(limit, 1000)
	start, _ := strconv.Atoi(query.Get("start"))
	first := min(max(start, 0), len(all))
	last := min(first+limit, len(all))
	values := []object{}
	for _, one := range all[first:last] {
		values = append(values, show(one))
	}
	page := object{"size": len(values), "limit": limit, "start": first, "isLastPage": last == len(all), "values": values}
	if last < len(all) {
		page["nextPageStart"] = last
	}

	return answer{http.StatusOK, page}
}

func body(q *http.Request, into any) bool { return json.NewDecoder(q.Body).Decode(into) == nil }

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func showUser(name string) object {
	return object{"id": number(hosttest.People[name]), "name": name, "slug": name, "displayName": "The " + name,
		"active": true, "type": "NORMAL"}
}

// showRepo has the key of the project in capitals ([rest], project).
func showRepo(r *repo) object {
	project, slug, _ := strings.Cut(r.name, "/")
	return object{"id": r.id, "slug": slug, "name": slug, "public": false, "scmId": "git",
		"project": object{"id": 3, "key": strings.ToUpper(project), "type": "NORMAL"}}
}
