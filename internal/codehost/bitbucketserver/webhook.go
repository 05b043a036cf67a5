package bitbucketserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Verify checks the one header that signs. It has SHA-256 under the name that other hosts
// use for SHA-1.
func (h *Host) Verify(header http.Header, body []byte, secrets [][]byte, _ time.Time) (string, error) {
	values, id := header.Values("X-Hub-Signature"), header.Get("X-Request-Id")
	if len(values) != 1 || id == "" || !hosthttp.IsSigned(values[0], "sha256=", body, secrets) {
		return "", codehost.ErrSignature
	}

	return id, nil
}

// delivery is what we look at of a webhook's body.
type delivery struct {
	PullRequest *pullRequest `json:"pullRequest"`
	Comment     *comment     `json:"comment"`
	New         *repository  `json:"new"`
}

// kinds are the events that tell of something new. Bitbucket tells of no pull request
// that is opened again.
var kinds = map[string]codehost.HintKind{
	"pr:opened": codehost.HintPullRequest, "pr:from_ref_updated": codehost.HintPullRequest,
	"pr:to_ref_updated": codehost.HintPullRequest, "pr:modified": codehost.HintPullRequest,
	"pr:merged": codehost.HintPullRequest, "pr:declined": codehost.HintPullRequest,
	"pr:comment:added": codehost.HintComment, "repo:modified": codehost.HintRepository,
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
	of := d.New
	if hint.Kind != codehost.HintRepository && d.PullRequest != nil {
		of = d.PullRequest.ToRef.Repository
		hint.Number = number(d.PullRequest.ID)
		if hint.Kind == codehost.HintPullRequest {
			hint.HeadSHA = d.PullRequest.FromRef.LatestCommit
		}
	}
	if of == nil || of.ID < 1 || of.Slug == "" || of.Project.Key == "" {
		return nil, fmt.Errorf("the body of a delivery of %s names no repository", event)
	}
	hint.Repository = of.plain()
	if hint.Kind == codehost.HintRepository {
		hint.Name = hint.Repository.Name
		return []codehost.Hint{hint}, nil
	}
	if hint.Number == 0 {
		return nil, fmt.Errorf("the body of a delivery of %s names no pull request", event)
	}
	if hint.Kind == codehost.HintComment {
		c := d.Comment
		if c == nil || c.Author == nil || c.Author.ID < 1 || c.State == "PENDING" {
			return nil, nil
		}
		hint.Comment = codehost.Comment{
			ID: strconv.FormatInt(c.ID, 10), Author: c.Author.Name, AuthorID: c.Author.id(), Body: c.Text,
		}
	}

	return []codehost.Hint{hint}, nil
}
