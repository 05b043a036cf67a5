package githubfake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// graphql answers the operations that the host has, told apart by their fields. Doc: the
// answer is 200, also with errors.
func (f *Fake) graphql(q *http.Request) answer {
	in := body[struct {
		Query     string
		Variables struct {
			Owner, Name, ID string
			Number          int
			After           *string
		}
	}](q)
	if f.restricted && strings.HasPrefix(in.Query, "mutation") {
		return graphFailure("FORBIDDEN", "Resource not accessible by integration")
	}

	v := in.Variables
	switch {
	case strings.Contains(in.Query, "reviewThreads("):
		if v.Owner+"/"+v.Name != f.name || v.Number != hosttest.Number {
			return graphFailure("NOT_FOUND", "Could not resolve to a Repository with the name '"+v.Owner+"/"+v.Name+"'.")
		}
		return f.threads(v.After)
	case strings.Contains(in.Query, "unminimizeComment("):
		return f.minimize("unminimizeComment", "unminimizedComment", v.ID, false)
	case strings.Contains(in.Query, "minimizeComment("):
		return f.minimize("minimizeComment", "minimizedComment", v.ID, true)
	case strings.Contains(in.Query, "unresolveReviewThread("):
		return f.resolve("unresolveReviewThread", v.ID, false)
	case strings.Contains(in.Query, "resolveReviewThread("):
		return f.resolve("resolveReviewThread", v.ID, true)
	}

	return graphFailure("", "Something went wrong while executing your query.")
}

func graphFailure(kind, message string) answer {
	return ok(object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
}

// actor is who wrote something, as far as the operations ask.
func (f *Fake) actor(name string) object { return object{"databaseId": f.people[name].id} }

// threads is a page of 100. Threads of a review that was not sent are seen by who wrote
// it: doc "PullRequestReviewCommentState".
func (f *Fake) threads(after *string) answer {
	first := 0
	if after != nil {
		first, _ = strconv.Atoi(*after)
	}

	all := []*comment{}
	for _, c := range f.comments {
		if c.thread != nil {
			all = append(all, c)
		}
	}

	nodes := []object{}
	last := min(first+100, len(all))
	for _, c := range all[first:last] {
		nodes = append(nodes, f.thread(c))
	}

	reviews := []object{}
	if f.pendingID != 0 {
		drafts := []object{}
		for _, c := range all {
			if c.pending {
				drafts = append(drafts, object{"body": c.body})
			}
		}
		reviews = append(reviews, object{
			"fullDatabaseId": fmt.Sprint(f.pendingID), "author": f.actor(hosttest.Account),
			"comments": object{"totalCount": len(drafts), "nodes": drafts[:min(len(drafts), 100)]},
		})
	}

	return ok(object{"data": object{"repository": object{"pullRequest": object{
		"reviews": object{"nodes": reviews},
		"reviewThreads": object{
			"pageInfo": object{"hasNextPage": last < len(all), "endCursor": strconv.Itoa(last)}, "nodes": nodes,
		},
	}}}})
}

func (f *Fake) thread(c *comment) object {
	state := "SUBMITTED"
	if c.pending {
		state = "PENDING"
	}

	authors := []object{{"author": f.actor(c.author)}}
	for _, r := range c.thread.replies {
		authors = append(authors, object{"author": f.actor(r)})
	}

	t := object{
		"id": c.thread.id, "isResolved": c.thread.resolved, "resolvedBy": nil,
		"viewerCanResolve":   f.mayResolve() && !c.thread.resolved,
		"viewerCanUnresolve": f.mayResolve() && c.thread.resolved,
		"first": object{"nodes": []object{{
			"id": c.node(), "fullDatabaseId": fmt.Sprint(c.id), "body": c.body, "state": state,
			"isMinimized": c.minimized, "author": f.actor(c.author),
		}}},
		"all": object{"totalCount": len(authors), "nodes": authors[:min(len(authors), 100)]},
	}
	if c.thread.resolvedBy != "" {
		t["resolvedBy"] = f.actor(c.thread.resolvedBy)
	}

	return t
}

// minimize hides a comment or shows it again. Doc: the same again changes nothing.
func (f *Fake) minimize(operation, field, node string, hidden bool) answer {
	c := f.find(func(c *comment) bool { return c.node() == node })
	if c == nil {
		return graphFailure("NOT_FOUND", "Could not resolve to a node with the global id of '"+node+"'.")
	}

	c.minimized = hidden
	return ok(object{"data": object{operation: object{field: object{"isMinimized": hidden}}}})
}

func (f *Fake) byThread(id string) *comment {
	return f.find(func(c *comment) bool { return c.thread != nil && c.thread.id == id })
}

// mayResolve tells whether threads may be resolved. An App must be allowed to write
// contents: github/gh-aw#35726, oven-sh/bun#40468.
func (f *Fake) mayResolve() bool { return !f.app || f.permissions["contents"] == "write" }

// resolve resolves a thread or opens it again.
func (f *Fake) resolve(operation, id string, resolved bool) answer {
	c := f.byThread(id)
	switch {
	case c == nil:
		return graphFailure("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'.")
	case !f.mayResolve():
		return graphFailure("FORBIDDEN", "Resource not accessible by integration")
	}

	c.thread.resolved, c.thread.resolvedBy = resolved, ""
	if resolved {
		c.thread.resolvedBy = hosttest.Account
	}

	return ok(object{"data": object{operation: object{"thread": object{"isResolved": resolved}}}})
}
