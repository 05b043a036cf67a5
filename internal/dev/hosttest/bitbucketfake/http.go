package bitbucketfake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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

// problem is an answer in the form of Bitbucket ([rest]/intro).
func problem(status int, message string) answer {
	return answer{status, object{"type": "error", "error": object{"message": message}}}
}

func notFound() answer { return problem(http.StatusNotFound, "Resource not found") }

// ServeHTTP answers a request. One is worked off at a time.
func (f *Fake) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mux.ServeHTTP(w, q)
}

// handle registers a call of the API, with the scope that it needs ([rest], each call).
func (f *Fake) handle(pattern, scope string, call func(*http.Request) answer) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, q *http.Request) {
		a, moved := f.allowed(q, scope)
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
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_ = json.NewEncoder(w).Encode(a.body)
	})
}

// allowed looks at the token, its scopes, and the repository; the answer's status is 0
// when the call may go on. That scopes go before the repository is an assumption.
func (f *Fake) allowed(q *http.Request, scope string) (a answer, moved string) {
	personal := "Basic " + base64.StdEncoding.EncodeToString([]byte(Email+":"+f.token))
	switch q.Header.Get("Authorization") {
	case personal:
	case "Bearer " + f.token: // an access token
		if scope == userScope {
			// support.atlassian.com/bitbucket-cloud/kb/this-api-is-not-accessible-by-this-authentication-mechanism
			return problem(http.StatusForbidden, "This API is not accessible by this authentication mechanism"), ""
		}
	default: // github.com/avivsinai/bitbucket-cli/issues/174
		return problem(http.StatusUnauthorized, "Token is invalid, expired, or not supported for this endpoint."), ""
	}
	if f.lacks[scope] { // the form: github.com/backstage/backstage/issues/22383
		return answer{http.StatusForbidden, object{"type": "error", "error": object{
			"message": "Your credentials lack one or more required privilege scopes.",
			"detail":  object{"required": []string{scope}, "granted": []string{userScope, readPulls}},
		}}}, ""
	}

	return f.found(q)
}

// found looks for the repository by its name or its UUID ([rest], each call); that `{}` is
// any workspace, and what an old name is answered by, are assumptions.
func (f *Fake) found(q *http.Request) (a answer, moved string) {
	workspace, slug := q.PathValue("workspace"), q.PathValue("slug")
	if slug == "" {
		return answer{}, ""
	}
	if r := f.repository(q); r != nil {
		return answer{}, ""
	}
	if r := f.oldNames[workspace+"/"+slug]; r != nil {
		moved := strings.Replace(q.URL.EscapedPath(), workspace+"/"+slug, r.name, 1)
		return answer{http.StatusMovedPermanently, nil}, moved
	}

	return problem(http.StatusNotFound, "Repository "+workspace+"/"+slug+" not found"), ""
}

// repository is that of a request; nil for none.
func (f *Fake) repository(q *http.Request) *repo {
	workspace, slug := q.PathValue("workspace"), q.PathValue("slug")
	for _, r := range f.repos {
		owner, name, _ := strings.Cut(r.name, "/")
		if slug == braced(r.id) && (workspace == "{}" || workspace == owner) || slug == name && workspace == owner {
			return r
		}
	}

	return nil
}

// list is one page of a list: 10 unless the request says, at most what the call has, and
// the address of the next one and the length of all, which can be left out ([rest]/intro).
func list[T any](f *Fake, q *http.Request, most int, all []T, show func(T) object) answer {
	query := q.URL.Query()
	length, err := strconv.Atoi(query.Get("pagelen"))
	switch {
	case err != nil:
		length = 10
	case length < 1 || length > most:
		return problem(http.StatusBadRequest, "Invalid pagelen")
	}
	number, err := strconv.Atoi(query.Get("page"))
	if err != nil || number < 1 {
		number = 1
	}
	first := min((number-1)*length, len(all))
	last := min(first+length, len(all))
	values := []object{}
	for _, one := range all[first:last] {
		values = append(values, show(one))
	}

	page := object{"values": values, "pagelen": length, "page": number}
	if !f.NoSize {
		page["size"] = len(all)
	}
	if last < len(all) {
		next := url.URL{Scheme: "https", Host: "api.bitbucket.org", Path: "/2.0" + q.URL.Path}
		query.Set("page", strconv.Itoa(number+1))
		next.RawQuery = query.Encode()
		page["next"] = next.String()
	}

	return answer{http.StatusOK, page}
}

func body(q *http.Request, into any) bool { return json.NewDecoder(q.Body).Decode(into) == nil }

func braced(id string) string { return "{" + id + "}" }

func showUser(nickname string) object {
	return object{"type": "user", "uuid": braced(hosttest.People[nickname]), "nickname": nickname,
		"display_name": "The " + nickname}
}

func showRepo(r *repo) object {
	return object{"type": "repository", "uuid": braced(r.id), "name": strings.Split(r.name, "/")[1],
		"full_name": r.name, "is_private": true, "scm": "git"}
}

func link(format string, args ...any) object { return object{"href": fmt.Sprintf(format, args...)} }
