package giteafake

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
	total  int // of a list, -1 for what has none
}

func plain(status int, body any) answer { return answer{status, body, -1} }

// problem is an answer in the form of Gitea (services/context/api.go, APIError).
func problem(status int, message string) answer {
	return plain(status, object{"message": message, "url": "https://gitea.example.com/api/swagger"})
}

// broken is what Gitea answers to what it hasn't looked for: 500 without a word (probed).
func broken() answer { return problem(http.StatusInternalServerError, "") }

func notFound() answer { return problem(http.StatusNotFound, "The target couldn't be found.") }

// ServeHTTP answers a request. One is worked off at a time.
func (f *Fake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mux.ServeHTTP(w, q)
}

// handle registers a call of the API.
func (f *Fake) handle(pattern string, call func(*http.Request) answer) {
	method, path, _ := strings.Cut(pattern, " ")
	f.mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, q *http.Request) {
		a, moved := f.allowed(q)
		if moved != "" {
			w.Header().Set("Location", moved)
		}
		if a.status == 0 {
			a = call(q)
		}

		if a.total >= 0 {
			w.Header().Set("X-Total-Count", strconv.Itoa(a.total))
		}
		if a.body == nil {
			w.WriteHeader(a.status)
			return
		}
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(a.body)
	})
}

// allowed looks at the token, its scopes, and the repository, in the order of Gitea; the
// answer's status is 0 when the call may go on.
func (f *Fake) allowed(q *http.Request) (a answer, moved string) {
	if q.Header.Get("Authorization") != "token "+f.token {
		return problem(http.StatusUnauthorized, "invalid username, password or token"), ""
	}
	// The scope goes by the method, and is looked at before the repository
	// (routers/api/v1/api.go, tokenRequiresScopes; the words were probed).
	if f.readOnly && hosttest.Writes(q) {
		return problem(http.StatusForbidden, "token does not have at least one of required scope(s), "+
			"required=[write:repository], token scope=read:issue,read:repository,read:user"), ""
	}

	owner, name := q.PathValue("owner"), q.PathValue("repo")
	if owner == "" {
		return answer{}, ""
	}
	full := owner + "/" + name
	for _, r := range f.repos {
		if strings.EqualFold(r.name, full) {
			return answer{}, ""
		}
	}
	if r := f.oldNames[full]; r != nil {
		// Every method is sent on with 301, so a POST becomes a GET (probed;
		// services/context/repo.go, RedirectToRepo).
		return plain(http.StatusMovedPermanently, nil), strings.Replace(q.URL.EscapedPath(), full, r.name, 1)
	}

	return notFound(), ""
}

// page is one page of a list: 30 unless the request says, at most 50
// (custom/conf/app.example.ini, DEFAULT_PAGING_NUM and MAX_RESPONSE_ITEMS).
func page[T any](q *http.Request, all []T) []T {
	limit, err := strconv.Atoi(q.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = 30
	}
	number, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil || number < 1 {
		number = 1
	}

	limit = min(limit, 50)
	first := min((number-1)*limit, len(all))
	return all[first:min(first+limit, len(all))]
}

// list makes a list's answer from a page of things.
func list[T any](q *http.Request, all []T, show func(T) object) answer {
	out := []object{} // never null
	for _, one := range page(q, all) {
		out = append(out, show(one))
	}

	return answer{http.StatusOK, out, len(all)}
}

func body(q *http.Request, into any) bool { return json.NewDecoder(q.Body).Decode(into) == nil }

func showUser(login string) object {
	id, _ := strconv.Atoi(hosttest.People[login])
	return object{"id": id, "login": login, "username": login, "full_name": ""}
}

func showRepo(r *repo) object {
	return object{"id": r.id, "name": strings.Split(r.name, "/")[1], "full_name": r.name, "private": true}
}
