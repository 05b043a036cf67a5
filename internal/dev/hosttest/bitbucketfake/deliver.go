package bitbucketfake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Events are those that Bitbucket tells of (support.atlassian.com/bitbucket-cloud/docs/
// event-payloads). A pull request that was declined can't be opened again, and has no labels.
var Events = []hosttest.Event{
	hosttest.Opened, hosttest.Pushed, hosttest.Retargeted, hosttest.Ready, hosttest.Closed, hosttest.Commented,
	hosttest.LineCommented, hosttest.CommentEdited, hosttest.OwnComment, hosttest.Renamed, hosttest.Other,
}

// Deliver makes a delivery. Its signature is SHA-256 (support.atlassian.com/bitbucket-cloud/
// docs/manage-webhooks, “Secure webhooks”).
func (f *Fake) Deliver(e hosttest.Event, secret string) (http.Header, []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	event, payload := f.payload(e)
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	f.sent++
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)

	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-Event-Key", event)
	h.Set("X-Hook-UUID", "6f0f1e2d-0000-4000-8000-000000000000")
	h.Set("X-Request-UUID", fmt.Sprintf("6f0f1e2d-0000-4000-8000-%012d", f.sent))
	h.Set("X-Attempt-Number", "1")
	h.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))

	return h, body
}

// payload is the event and the body of a delivery.
func (f *Fake) payload(e hosttest.Event) (string, object) {
	payload := object{"repository": showRepo(f.repos[0]), "actor": showUser(hosttest.Stranger)}
	if e == hosttest.Renamed {
		payload["changes"] = object{"full_name": object{"old": hosttest.Repo, "new": "acme/site"}}
		return "repo:updated", payload
	}
	payload["pullrequest"] = f.showPull(f.pulls[0], f.repos[0])
	author, path := hosttest.Writer, ""
	switch e {
	case hosttest.Opened:
		return "pullrequest:created", payload
	case hosttest.Closed:
		return "pullrequest:rejected", payload
	case hosttest.Other:
		return "pullrequest:approved", payload
	case hosttest.OwnComment:
		author = hosttest.Account
	case hosttest.LineCommented:
		path = hosttest.Path
	case hosttest.Commented, hosttest.CommentEdited:
	default:
		return "pullrequest:updated", payload
	}

	c := &comment{id: f.id(), author: author, body: "/prwarden rescan – später", path: path, line: 3}
	payload["comment"] = showComment(c)
	if e == hosttest.CommentEdited {
		return "pullrequest:comment_updated", payload
	}

	return "pullrequest:comment_created", payload
}
