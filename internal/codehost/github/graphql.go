package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
)

// The operations. REST tells neither which comments are minimised nor which threads
// are resolved, and can change neither.
const (
	threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviews(first: 20, states: [PENDING]) {
        nodes {
          fullDatabaseId
          author { ...who }
          comments(first: 100) { totalCount nodes { body } }
        }
      }
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          viewerCanResolve
          viewerCanUnresolve
          resolvedBy { databaseId }
          first: comments(first: 1) {
            nodes { id fullDatabaseId body state isMinimized author { ...who } }
          }
          all: comments(first: 100) {
            totalCount
            nodes { author { ...who } }
          }
        }
      }
    }
  }
}
fragment who on Actor {
  ... on Bot { databaseId }
  ... on User { databaseId }
}`

	minimizeMutation = `mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) {
    minimizedComment { isMinimized }
  }
}`

	unminimizeMutation = `mutation($id: ID!) {
  unminimizeComment(input: {subjectId: $id}) {
    unminimizedComment { isMinimized }
  }
}`

	resolveMutation = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) {
    thread { isResolved }
  }
}`

	unresolveMutation = `mutation($id: ID!) {
  unresolveReviewThread(input: {threadId: $id}) {
    thread { isResolved }
  }
}`
)

// actor wrote something.
type actor struct {
	DatabaseID int64 `json:"databaseId"`
}

// thread is a review thread as threadsQuery reads it.
type thread struct {
	ID                 string
	IsResolved         bool
	ViewerCanResolve   bool
	ViewerCanUnresolve bool
	ResolvedBy         *actor

	First struct {
		Nodes []struct {
			ID             string
			FullDatabaseID string `json:"fullDatabaseId"`
			Body           string
			State          string // SUBMITTED or PENDING
			IsMinimized    bool
			Author         *actor
		}
	}
	All struct {
		TotalCount int
		Nodes      []struct{ Author *actor }
	}
}

// pending is a review that was begun and not sent.
type pending struct {
	FullDatabaseID string `json:"fullDatabaseId"`
	Author         *actor
	Comments       struct {
		TotalCount int
		Nodes      []struct{ Body string }
	}
}

// threadsAnswer is that of threadsQuery.
type threadsAnswer struct {
	Repository *struct {
		PullRequest *struct {
			Reviews       struct{ Nodes []pending }
			ReviewThreads struct {
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
				Nodes []thread
			}
		}
	}
}

// graphError is an error of GraphQL, which comes with a 200.
type graphError struct {
	Type    string
	Message string
}

// query makes one GraphQL call.
func (h *Host) query(ctx context.Context, text string, variables map[string]any, into any, mutation bool) error {
	q, err := h.client.NewRequest(ctx, http.MethodPost, h.graphql, map[string]any{
		"query": text, "variables": variables,
	})
	if err != nil {
		return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("github: %w", err)}
	}

	answer := struct {
		Data   any
		Errors []graphError
	}{Data: into}
	r, err := h.client.Do(q, &answer)
	if err != nil {
		return h.fault(err, mutation)
	}

	if len(answer.Errors) == 0 {
		return nil
	}

	first := answer.Errors[0]
	e := &codehost.Error{
		Fault: graphFault(first), Scope: h.graphScope(first),
		Err: errors.New("github: " + h.words(strings.TrimSpace(first.Type+" "+first.Message))),
	}
	if e.Fault == codehost.Limited {
		e.After = wait(http.StatusForbidden, r.Header)
	}

	return e
}

// graphFault is the fault of an error of GraphQL. One without a type is GitHub's own
// trouble. All mutations here can be repeated, so none of them has an unknown outcome
// that matters.
func graphFault(e graphError) codehost.Fault {
	switch e.Type {
	case "NOT_FOUND":
		return codehost.Gone
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return codehost.Forbidden
	case "RATE_LIMITED", "RATE_LIMIT":
		return codehost.Limited
	case "UNPROCESSABLE", "BAD_USER_INPUT":
		return codehost.Invalid
	}

	return codehost.Passing
}

// graphScope is what a refused credential lacks.
func (h *Host) graphScope(e graphError) string {
	if graphFault(e) == codehost.Forbidden {
		return h.words(e.Message)
	}

	return ""
}
