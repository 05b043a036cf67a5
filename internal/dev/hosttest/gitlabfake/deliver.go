package gitlabfake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Events are those that GitLab tells of. It has no re-run, and tells nothing of merge
// trains but their pipelines.
var Events = []hosttest.Event{
	hosttest.Opened, hosttest.Pushed, hosttest.Reopened, hosttest.Retargeted, hosttest.Ready, hosttest.Labeled,
	hosttest.Closed, hosttest.Commented, hosttest.LineCommented, hosttest.CommentEdited, hosttest.OwnComment,
	hosttest.Renamed, hosttest.Other,
}

// Deliver makes a delivery now (user/project/integrations/webhooks, delivery headers and
// signing tokens). Nobody signs with an empty token.
func (f *Fake) Deliver(e hosttest.Event, secret string) (http.Header, []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	event, payload := f.payload(e)
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	f.sent++
	id := fmt.Sprintf("6f0f1e2d-0000-4000-8000-%012d", f.sent)

	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitLab/19.5.0")
	h.Set("Idempotency-Key", id)
	h.Set("X-Gitlab-Event", event)
	h.Set("X-Gitlab-Event-Uuid", strings.Replace(id, "6f0f", "13ff", 1))
	h.Set("X-Gitlab-Instance", "https://gitlab.example.com")
	switch {
	case secret == "":
	case f.Token:
		h.Set("X-Gitlab-Token", secret)
	default:
		Sign(h, id, time.Now(), body, secret)
	}

	return h, body
}

// Sign signs a body by a token, `whsec_` and a key in base64, which is the key itself
// when it has another form.
func Sign(h http.Header, id string, at time.Time, body []byte, token string) {
	key := []byte(token)
	if encoded, found := strings.CutPrefix(token, "whsec_"); found {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// payload is the body of a delivery (user/project/integrations/webhook_events).
func (f *Fake) payload(e hosttest.Event) (string, object) {
	r := f.requests[0]
	attributes := object{
		"id": 5000 + r.number, "iid": r.number, "action": "update", "state": "opened", "draft": r.draft,
		"title": hosttest.Title, "source_branch": branch, "target_branch": hosttest.Branch,
		"last_commit": object{"id": r.head}, "author_id": 13, "updated_at": "2026-11-01 10:00:00 UTC",
	}
	changes := object{}
	changed := func(name string, before, now any) { changes[name] = object{"previous": before, "current": now} }
	switch e {
	case hosttest.Commented, hosttest.LineCommented, hosttest.CommentEdited, hosttest.OwnComment:
		return "Note Hook", f.noted(e)
	case hosttest.Renamed: // administration/system_hooks
		return "System Hook", object{
			"event_name": "project_rename", "project_id": 42, "path_with_namespace": "acme/site",
			"old_path_with_namespace": hosttest.Repo, "project_visibility": "private",
		}
	case hosttest.Opened:
		attributes["action"] = "open"
	case hosttest.Reopened:
		attributes["action"] = "reopen"
	case hosttest.Closed:
		attributes["action"] = "close"
	case hosttest.Pushed: // only then is there an oldrev
		attributes["oldrev"] = hosttest.Base
	case hosttest.Retargeted:
		changed("target_branch", "develop", hosttest.Branch)
	case hosttest.Ready:
		changed("draft", true, false)
	case hosttest.Labeled:
		changed("labels", []object{}, []object{{"id": 1, "title": "bug"}})
	default:
		changed("description", "a", "b")
	}
	changed("updated_at", "2026-11-01 09:00:00 UTC", "2026-11-01 10:00:00 UTC")

	return "Merge Request Hook", object{
		"object_kind": "merge_request", "event_type": "merge_request", "user": showUser(hosttest.Stranger),
		"project": f.hookProject(), "object_attributes": attributes, "changes": changes, "labels": []object{},
	}
}

func (f *Fake) hookProject() object {
	return object{"id": 42, "name": "web", "path_with_namespace": f.projects[0].name, "visibility_level": 0}
}

func (f *Fake) noted(e hosttest.Event) object {
	author, action, kind := hosttest.Writer, "create", any(nil)
	switch e {
	case hosttest.OwnComment:
		author = hosttest.Account
	case hosttest.CommentEdited:
		action = "update"
	case hosttest.LineCommented:
		kind = "DiffNote"
	}
	user := showUser(author)

	return object{
		"object_kind": "note", "event_type": "note", "user": user, "project_id": 42, "project": f.hookProject(),
		"object_attributes": object{
			"id": f.id(), "note": "/prwarden rescan – später", "noteable_type": "MergeRequest", "author_id": user["id"],
			"type": kind, "action": action, "system": false,
		},
		"merge_request": object{"id": 5007, "iid": hosttest.Number, "title": hosttest.Title},
	}
}
