package bitbucketserverfake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Events are those that Bitbucket tells of (confluence.atlassian.com/bitbucketserver/
// event-payload-938025882.html). There is none of a pull request that is opened again.
var Events = []hosttest.Event{
	hosttest.Opened, hosttest.Pushed, hosttest.Retargeted, hosttest.Ready, hosttest.Closed, hosttest.Commented,
	hosttest.CommentEdited, hosttest.OwnComment, hosttest.Renamed, hosttest.Other,
}

// Deliver makes a delivery. Its signature is SHA-256 (the same page, “HTTP headers”).
func (f *Fake) Deliver(e hosttest.Event, secret string) (http.Header, []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	event, payload := f.payload(e)
	payload["eventKey"] = event
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	f.sent++
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)

	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Event-Key", event)
	h.Set("X-Request-Id", fmt.Sprintf("6f0f1e2d-0000-4000-8000-%012d", f.sent))
	h.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))

	return h, body
}

// payload is the event and the body of a delivery.
func (f *Fake) payload(e hosttest.Event) (string, object) {
	payload := object{"date": "2026-11-01T10:00:00+0000", "actor": showUser(hosttest.Stranger)}
	if e == hosttest.Renamed {
		payload["old"], payload["new"] = showRepo(f.repos[0]), showRepo(&repo{f.repos[0].id, "acme/site"})
		return "repo:modified", payload
	}
	payload["pullRequest"] = f.showPull(f.pulls[0], f.repos[0])
	author := hosttest.Writer
	switch e {
	case hosttest.Opened:
		return "pr:opened", payload
	case hosttest.Pushed:
		return "pr:from_ref_updated", payload
	case hosttest.Closed:
		return "pr:declined", payload
	case hosttest.Other:
		return "pr:reviewer:approved", payload
	case hosttest.OwnComment:
		author = hosttest.Account
	case hosttest.Commented, hosttest.CommentEdited:
	default:
		return "pr:modified", payload
	}

	payload["comment"] = f.showComment(&comment{id: f.id(), author: author, body: "/prwarden rescan – später"})
	if e == hosttest.CommentEdited {
		return "pr:comment:edited", payload
	}

	return "pr:comment:added", payload
}
