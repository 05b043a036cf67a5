package bitbucket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Verify checks the one header that signs. It has SHA-256 under the name that other hosts
// use for SHA-1.
func (h *Host) Verify(header http.Header, body []byte, secrets [][]byte, _ time.Time) (string, error) {
	values, id := header.Values("X-Hub-Signature"), header.Get("X-Request-UUID")
	if len(values) != 1 || id == "" || !hosthttp.IsSigned(values[0], "sha256=", body, secrets) {
		return "", codehost.ErrSignature
	}

	return id, nil
}

// delivery is what we look at of a webhook's body.
type delivery struct {
	Repository  *repository  `json:"repository"`
	PullRequest *pullRequest `json:"pullrequest"`
	Comment     *comment     `json:"comment"`
	Changes     struct {
		FullName struct {
			New string `json:"new"`
		} `json:"full_name"`
	} `json:"changes"`
}

// kinds are the events that tell of something new.
var kinds = map[string]codehost.HintKind{
	"pullrequest:created": codehost.HintPullRequest, "pullrequest:updated": codehost.HintPullRequest,
	"pullrequest:fulfilled": codehost.HintPullRequest, "pullrequest:rejected": codehost.HintPullRequest,
	"pullrequest:comment_created": codehost.HintComment, "repo:updated": codehost.HintRepository,
}

// Hints looks at pull requests, their comments, and new names of repositories.
func (h *Host) Hints(header http.Header, body []byte) ([]codehost.Hint, error) {
	event := header.Get("X-Event-Key")
	hint := codehost.Hint{Kind: kinds[event]}
	if hint.Kind == "" {
		return nil, nil
	}
	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("the body of a delivery of %s: %w", event, err)
	}
	if d.Repository == nil || bare(d.Repository.UUID) == "" || strings.Count(d.Repository.FullName, "/") != 1 {
		return nil, fmt.Errorf("the body of a delivery of %s names no repository", event)
	}
	hint.Repository = d.Repository.plain()
	if hint.Kind == codehost.HintRepository {
		if hint.Name = d.Changes.FullName.New; hint.Name == "" { // something else was changed
			return nil, nil
		}

		return []codehost.Hint{hint}, nil
	}

	if d.PullRequest == nil || number(d.PullRequest.ID) == 0 {
		return nil, fmt.Errorf("the body of a delivery of %s names no pull request", event)
	}
	hint.Number = number(d.PullRequest.ID)
	if hint.Kind == codehost.HintPullRequest {
		hint.HeadSHA = d.PullRequest.Source.Commit.Hash
	}
	if hint.Kind == codehost.HintComment {
		c := d.Comment
		if c == nil || c.User == nil || c.User.id() == "" || c.Pending {
			return nil, nil
		}
		hint.Comment = codehost.Comment{
			ID: strconv.FormatInt(c.ID, 10), Author: c.User.login(), AuthorID: c.User.id(), Body: c.Content.Raw,
			OnLine: c.Inline != nil,
		}
	}

	return []codehost.Hint{hint}, nil
}
