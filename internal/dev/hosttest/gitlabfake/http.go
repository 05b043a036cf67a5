package gitlabfake

import (
	"encoding/json"
	"fmt"
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
	next   int // page of a list; 0 for none
}

func plain(status int, body any) answer { return answer{status, body, 0} }

// problem is an answer in the form of GitLab (api/rest/troubleshooting).
func problem(status int, message string) answer {
	return plain(status, object{"message": fmt.Sprint(status, " ", message)})
}

func notFound(what string) answer { return problem(http.StatusNotFound, what+" Not Found") }

// missing is the answer to a parameter that is not there (api/rest/troubleshooting).
func missing(parameter string) answer {
	return plain(http.StatusBadRequest, object{"error": parameter + " is missing"})
}

// ServeHTTP answers a request. One is worked off at a time.
func (f *Fake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mux.ServeHTTP(w, q)
}

// handle registers a call of the API.
func (f *Fake) handle(pattern string, call func(*http.Request) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" /api/v4"+path, func(w http.ResponseWriter, q *http.Request) {
		a, moved := f.allowed(q)
		if moved != "" {
			w.Header().Set("Location", moved)
		}
		if a.status == 0 {
			a = call(q)
		}

		w.Header().Set("X-Next-Page", "") // it is there and empty on the last page (api/rest)
		if a.next > 0 {
			w.Header().Set("X-Next-Page", strconv.Itoa(a.next))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		if a.body != nil {
			_ = json.NewEncoder(w).Encode(a.body)
		}
	})
}

// allowed looks at the token, its scopes, and the project; the answer's status is 0 when
// the call may go on.
func (f *Fake) allowed(q *http.Request) (a answer, moved string) {
	// Tokens of all kinds go as those of OAuth do (api/rest/authentication).
	if q.Header.Get("Authorization") != "Bearer "+f.token {
		return problem(http.StatusUnauthorized, "Unauthorized"), ""
	}
	if f.readOnly && hosttest.Writes(q) { // lib/api/api_guard.rb, rescue_from InsufficientScopeError
		return plain(http.StatusForbidden, object{
			"error":             "insufficient_scope",
			"error_description": "The request requires higher privileges than provided by the access token.",
			"scope":             "api",
		}), ""
	}

	// Who may read a project but has no role in it may not do more (user/permissions).
	if f.role < 20 && hosttest.Writes(q) {
		return problem(http.StatusForbidden, "Forbidden"), ""
	}
	id := q.PathValue("id")
	if id == "" || f.project(id) != nil {
		return answer{}, ""
	}
	p := f.oldNames[id]
	switch {
	case p == nil:
		return notFound("Project"), ""
	case hosttest.Writes(q): // lib/api/helpers.rb, find_project!
		return plain(http.StatusMethodNotAllowed, object{
			"message": "405 Method Not Allowed - Non GET methods are not allowed for moved projects",
		}), ""
	}

	return plain(http.StatusFound, nil), fmt.Sprint("/api/v4/projects/", p.id)
}

// project is one by its ID, or by its name with the slashes escaped (api/rest,
// namespaced paths).
func (f *Fake) project(id string) *project {
	for _, p := range f.projects {
		if strconv.FormatInt(p.id, 10) == id || strings.EqualFold(p.name, id) {
			return p
		}
	}

	return nil
}

// list makes a list's answer from a page of things: 20 unless the request says, at most
// 100 (api/rest, offset-based pagination).
func list[T any](q *http.Request, all []T, show func(T) object) answer {
	size, err := strconv.Atoi(q.URL.Query().Get("per_page"))
	if err != nil || size < 1 {
		size = 20
	}
	number, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil || number < 1 {
		number = 1
	}

	size = min(size, 100)
	first := min((number-1)*size, len(all))
	last := min(first+size, len(all))
	out := []object{} // never null
	for _, one := range all[first:last] {
		out = append(out, show(one))
	}
	next := 0
	if last < len(all) {
		next = number + 1
	}

	return answer{http.StatusOK, out, next}
}

func body(q *http.Request, into any) bool { return json.NewDecoder(q.Body).Decode(into) == nil }

func showUser(name string) object {
	id, _ := strconv.Atoi(hosttest.People[name])
	return object{"id": id, "username": name, "name": name, "state": "active"}
}

func showProject(p *project) object {
	return object{
		"id": p.id, "path_with_namespace": p.name, "visibility": "private", "archived": false,
		"web_url": "https://gitlab.example.com/" + p.name,
	}
}
