package githubfake

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // GitHub sends it besides the one that counts
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Deliver makes a delivery. Its shape is that of the examples of
// @octokit/webhooks-examples, without what nobody reads.
func (f *Fake) Deliver(e hosttest.Event, secret string) (http.Header, []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()

	event, payload := f.event(e)
	payload["repository"] = f.theRepo()
	if e == hosttest.Renamed {
		payload["repository"] = f.repo(int64(repoID()), "acme/site")
	}
	payload["sender"] = f.user(hosttest.Writer)
	if f.app {
		payload["installation"] = object{"id": Installation}
	}

	f.events++
	return Sign(event, fmt.Sprintf("00000000-0000-4000-8000-%012d", f.events), payload, secret)
}

// Sign makes the delivery of a payload. Doc "webhook headers".
func Sign(event, id string, payload any, secret string) (http.Header, []byte) {
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}

	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(text)
	old := hmac.New(sha1.New, []byte(secret))
	old.Write(text)

	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-GitHub-Event", event)
	h.Set("X-GitHub-Delivery", id)
	h.Set("X-Hub-Signature", "sha1="+hex.EncodeToString(old.Sum(nil)))
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return h, text
}

// event is the name and the payload of an event.
func (f *Fake) event(e hosttest.Event) (string, object) {
	pull := func(action string) (string, object) {
		return "pull_request", object{
			"action": action, "number": hosttest.Number, "pull_request": f.pull(hosttest.Number, Updated),
		}
	}
	issue := object{"number": hosttest.Number, "pull_request": object{"url": "https://api.github.test"}}
	said := func(author string) object {
		return object{
			"id": f.id(), "body": "/prwarden rescan – später", "user": f.user(author), "performed_via_github_app": nil,
		}
	}

	switch e {
	case hosttest.Opened, hosttest.Reopened, hosttest.Closed, hosttest.Labeled:
		return pull(string(e))
	case hosttest.Pushed:
		return pull("synchronize")
	case hosttest.Ready:
		return pull("ready_for_review")
	case hosttest.Retargeted:
		event, payload := pull("edited")
		payload["changes"] = object{"base": object{"ref": object{"from": "old"}, "sha": object{"from": mergeBase}}}
		return event, payload
	case hosttest.Commented:
		return "issue_comment", object{"action": "created", "issue": issue, "comment": said(hosttest.Writer)}
	case hosttest.CommentEdited:
		return "issue_comment", object{"action": "edited", "issue": issue, "comment": said(hosttest.Writer)}
	case hosttest.OwnComment:
		c := said(hosttest.Account)
		if f.app {
			c["performed_via_github_app"] = object{"id": AppID, "slug": Slug}
		}
		return "issue_comment", object{"action": "created", "issue": issue, "comment": c}
	case hosttest.LineCommented:
		return "pull_request_review_comment", object{
			"action": "created", "pull_request": f.pull(hosttest.Number, Updated), "comment": said(hosttest.Writer),
		}
	case hosttest.Renamed:
		return "repository", object{"action": "renamed", "changes": object{"repository": object{}}}
	case hosttest.Rerun: // doc: no pull requests when the head is in a fork
		pulls := []object{}
		if !f.fork {
			pulls = append(pulls, object{"number": hosttest.Number, "base": object{"repo": f.theRepo()}})
		}
		return "check_run", object{"action": "rerequested", "check_run": object{
			"id": f.id(), "name": "prwarden", "head_sha": f.head, "app": object{"id": AppID}, "pull_requests": pulls,
		}}
	case hosttest.MergeGroup:
		return "merge_group", object{"action": "checks_requested", "merge_group": object{
			"head_sha": f.head, "base_sha": hosttest.Base,
			"head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", hosttest.Number, hosttest.Base),
			"base_ref": "refs/heads/main",
		}}
	}

	return "star", object{"action": "created"}
}
