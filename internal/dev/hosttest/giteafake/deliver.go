package giteafake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Events are those that Gitea tells of. It has none for a new name
// (modules/structs/hook.go, HookRepoAction) and no re-run; a review comes without what
// it says on lines (services/webhook/notifier.go, PullRequestReview), and an answer to
// that as any other comment (probed).
var Events = []hosttest.Event{
	hosttest.Opened, hosttest.Pushed, hosttest.Reopened, hosttest.Retargeted, hosttest.Ready, hosttest.Labeled,
	hosttest.Closed, hosttest.Commented, hosttest.CommentEdited, hosttest.OwnComment, hosttest.Other,
}

// Deliver makes a delivery (services/webhook/deliver.go, addDefaultHeaders).
func (f *Fake) Deliver(e hosttest.Event, secret string) (http.Header, []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	event, payload := f.payload(e)
	body, err := json.MarshalIndent(payload, "", "  ")
	if err != nil {
		panic(err)
	}
	f.sent++
	id := fmt.Sprintf("6f0f1e2d-0000-4000-8000-%012d", f.sent)
	signature := ""
	if secret != "" {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		signature = hex.EncodeToString(mac.Sum(nil))
	}

	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-Gitea-Delivery", id)
	h.Set("X-Gitea-Event", event)
	h.Set("X-Gitea-Signature", signature)
	h.Set("X-Hub-Signature", "sha1=0000000000000000000000000000000000000000") // SHA-1 is not looked at
	h.Set("X-Hub-Signature-256", "sha256="+signature)
	if f.Forgejo {
		h.Set("X-Forgejo-Delivery", id)
		h.Set("X-Forgejo-Event", event)
		h.Set("X-Forgejo-Signature", signature)
	}

	return h, body
}

// payload is the body of a delivery. A push is told as `synchronized` (probed).
func (f *Fake) payload(e hosttest.Event) (string, object) {
	payload := object{
		"number": hosttest.Number, "pull_request": f.showPull(f.pulls[0], f.repos[0]), "repository": showRepo(f.repos[0]),
		"sender": showUser(hosttest.Stranger), "commit_id": "", "review": nil,
	}
	switch e {
	case hosttest.Commented, hosttest.CommentEdited, hosttest.OwnComment:
		return "issue_comment", f.commented(e)
	case hosttest.Pushed:
		payload["action"] = "synchronized"
	case hosttest.Retargeted:
		payload["action"], payload["changes"] = "edited", object{"ref": object{"from": "develop"}}
	case hosttest.Ready: // its title said that it was a draft
		payload["action"], payload["changes"] = "edited", object{"title": object{"from": "WIP: Add a page"}}
	case hosttest.Labeled:
		payload["action"] = "label_updated"
	case hosttest.Other:
		payload["action"], payload["review"] = "reviewed", object{"type": "pull_request_review_comment", "content": "hm"}
		return "pull_request_comment", payload
	default:
		payload["action"] = string(e)
	}

	return "pull_request", payload
}

func (f *Fake) commented(e hosttest.Event) object {
	author, action := hosttest.Writer, "created"
	if e == hosttest.OwnComment {
		author = hosttest.Account
	}
	if e == hosttest.CommentEdited {
		action = "edited"
	}
	c := &comment{id: f.id(), author: author, body: "/prwarden rescan – später"}

	return object{
		"action": action, "is_pull": true, "issue": object{"id": 5007, "number": hosttest.Number, "title": hosttest.Title},
		"comment": showComment(c), "repository": showRepo(f.repos[0]), "sender": showUser(author),
	}
}
