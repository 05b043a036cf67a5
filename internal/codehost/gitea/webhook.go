package gitea

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// signatures are the headers that sign the body with HMAC-SHA256. Gitea sends the first
// two, Forgejo all.
var signatures = []struct{ header, prefix string }{
	{"X-Gitea-Signature", ""}, {"X-Hub-Signature-256", "sha256="}, {"X-Forgejo-Signature", ""},
}

// Verify wants each signature that is there to be right, and one at least.
func (h *Host) Verify(header http.Header, body []byte, secrets [][]byte, _ time.Time) (string, error) {
	for _, secret := range secrets {
		if len(secret) > 0 && signed(header, body, secret) {
			if id := cmp.Or(header.Get("X-Gitea-Delivery"), header.Get("X-Forgejo-Delivery")); id != "" {
				return id, nil
			}
		}
	}

	return "", codehost.ErrSignature
}

func signed(header http.Header, body, secret []byte) bool {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	sum := hex.EncodeToString(mac.Sum(nil))
	found, right := false, true
	for _, s := range signatures {
		for _, value := range header.Values(s.header) {
			found = true
			right = hmac.Equal([]byte(value), []byte(s.prefix+sum)) && right
		}
	}

	return found && right
}

// delivery is what we look at of a webhook's body.
type delivery struct {
	Action     string      `json:"action"`
	Number     int64       `json:"number"`
	Repository *repository `json:"repository"`
	Pull       struct {
		Head struct {
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	Changes struct {
		Title *struct{} `json:"title"`
		Ref   *struct{} `json:"ref"`
	} `json:"changes"`
	IsPull bool `json:"is_pull"`
	Issue  struct {
		Number int64 `json:"number"`
	} `json:"issue"`
	Comment comment `json:"comment"`
}

// actions are those on pull requests that tell of something new. A title can say that
// it is a draft.
var actions = map[string]bool{
	"opened": true, "reopened": true, "closed": true, "synchronized": true, "edited": true, "label_updated": true,
	"label_cleared": true,
}

// Hints looks at pull requests and comments. A review is told of without what it says on
// lines, and a new name of a repository not at all.
func (h *Host) Hints(header http.Header, body []byte) ([]codehost.Hint, error) {
	event := cmp.Or(header.Get("X-Gitea-Event"), header.Get("X-Forgejo-Event"))
	if event != "pull_request" && event != "issue_comment" {
		return nil, nil
	}
	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("the body of a delivery of %s: %w", event, err)
	}
	if d.Repository == nil || d.Repository.ID < 1 || strings.Count(d.Repository.FullName, "/") != 1 {
		return nil, fmt.Errorf("the body of a delivery of %s names no repository", event)
	}

	hint := codehost.Hint{
		Kind: codehost.HintPullRequest, Repository: d.Repository.plain(), Number: number(d.Number), HeadSHA: d.Pull.Head.SHA,
	}
	if event == "issue_comment" {
		if d.Action != "created" || !d.IsPull || d.Comment.User == nil {
			return nil, nil
		}
		hint.Kind, hint.Number, hint.HeadSHA = codehost.HintComment, number(d.Issue.Number), ""
		hint.Comment = codehost.Comment{
			ID: strconv.FormatInt(d.Comment.ID, 10), Author: d.Comment.User.Login, AuthorID: d.Comment.User.id(),
			Body: d.Comment.Body,
		}
	} else if !actions[d.Action] || d.Action == "edited" && d.Changes.Title == nil && d.Changes.Ref == nil {
		return nil, nil
	}
	if hint.Number == 0 {
		return nil, fmt.Errorf("the body of a delivery of %s names no pull request", event)
	}

	return []codehost.Hint{hint}, nil
}
