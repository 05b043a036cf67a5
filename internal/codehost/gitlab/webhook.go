package gitlab

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/prwarden/prwarden/internal/codehost"
)

// tolerance is how far the time of a signature may be from ours.
const tolerance = 5 * time.Minute

// Verify wants a signature of Standard Webhooks, which GitLab has from version 19 on, to
// be right when there is one. Without one the secret itself has to be there, which older
// versions send (docs.gitlab.com/user/project/integrations/webhooks/#signing-tokens).
func (h *Host) Verify(header http.Header, body []byte, secrets [][]byte, now time.Time) (string, error) {
	isSigned := len(header.Values(standardwebhooks.HeaderWebhookSignature)) > 0
	for _, secret := range secrets {
		if len(secret) == 0 || isSigned && !signed(header, body, secret, now) || !isSigned && !told(header, secret) {
			continue
		}
		id := cmp.Or(header.Get(standardwebhooks.HeaderWebhookID), header.Get("Idempotency-Key"),
			header.Get("X-Gitlab-Event-UUID"))
		if id != "" {
			return id, nil
		}
	}

	return "", codehost.ErrSignature
}

// signed checks a signature by a signing token: `whsec_` and a key in base64.
func signed(header http.Header, body, secret []byte, now time.Time) bool {
	encoded, found := strings.CutPrefix(string(secret), "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) == 0 {
		return false
	}
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	by, err := standardwebhooks.NewWebhookRaw(key)

	return err == nil && by.VerifyIgnoringTimestamp(body, header) == nil
}

// told compares a secret that was sent by its hash, whose length tells nothing.
func told(header http.Header, secret []byte) bool {
	want, got := sha256.Sum256(secret), sha256.Sum256([]byte(header.Get("X-Gitlab-Token")))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// kind is what a webhook's body is about.
type kind struct {
	Kind  string `json:"object_kind"`
	Event string `json:"event_name"` // of what has no kind, such as a change of a project itself
}

// delivery is what we look at of a webhook's body of some kinds. Hooks of projects and
// groups and of the whole system tell of merge requests alike.
type delivery struct {
	kind

	User    user `json:"user"`
	Project struct {
		ID   int64  `json:"id"`
		Name string `json:"path_with_namespace"`
	} `json:"project"`
	Attributes struct {
		ID           int64  `json:"id"`
		Number       int64  `json:"iid"`
		Action       string `json:"action"`
		Previous     string `json:"oldrev"` // head before a push
		Note         string `json:"note"`
		NoteableType string `json:"noteable_type"`
		Type         string `json:"type"`
		AuthorID     int64  `json:"author_id"`
		System       bool   `json:"system"`
		Head         struct {
			SHA string `json:"id"`
		} `json:"last_commit"`
	} `json:"object_attributes"`
	Changes map[string]json.RawMessage `json:"changes"`
	Request struct {
		Number int64 `json:"iid"`
	} `json:"merge_request"`

	ProjectID int64  `json:"project_id"` // of a change of the project itself, and its new name
	Name      string `json:"path_with_namespace"`
}

// Hints looks at merge requests, notes in them, and new names of projects.
func (h *Host) Hints(_ http.Header, body []byte) ([]codehost.Hint, error) {
	var d delivery
	if err := json.Unmarshal(body, &d.kind); err != nil {
		return nil, fmt.Errorf("the body of a delivery: %w", err)
	}
	switch cmp.Or(d.Kind, d.Event) { // in others the same fields can have other types
	case "merge_request", "note", "project_rename", "project_transfer":
	default:
		return nil, nil
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("the body of a delivery: %w", err)
	}

	var hint codehost.Hint
	id, name := d.Project.ID, d.Project.Name
	switch {
	case d.Kind == "merge_request" && d.isNews():
		hint.Kind, hint.Number = codehost.HintPullRequest, number(d.Attributes.Number)
		hint.HeadSHA = d.Attributes.Head.SHA
	case d.Kind == "note" && d.isNewNote():
		hint.Kind, hint.Number = codehost.HintComment, number(d.Request.Number)
		hint.Comment = codehost.Comment{
			ID: strconv.FormatInt(d.Attributes.ID, 10), Author: d.User.Username, AuthorID: d.User.id(),
			Body: d.Attributes.Note, OnLine: d.Attributes.Type == diffNote,
		}
	case d.Kind == "":
		hint.Kind, hint.Name = codehost.HintRepository, d.Name
		id, name = d.ProjectID, d.Name
	default:
		return nil, nil
	}

	switch {
	case id < 1 || !strings.Contains(name, "/"):
		return nil, errors.New("the body of a delivery names no project")
	case hint.Kind != codehost.HintRepository && hint.Number == 0:
		return nil, errors.New("the body of a delivery names no merge request")
	}
	hint.Repository = codehost.Repository{ID: strconv.FormatInt(id, 10), Name: name}

	return []codehost.Hint{hint}, nil
}

// isNews tells whether a delivery of a merge request tells of something new. The title
// says of old versions whether it is a draft.
func (d *delivery) isNews() bool {
	switch d.Attributes.Action {
	case "open", "reopen", "close", "merge":
		return true
	case "update":
	default:
		return false
	}
	for _, name := range []string{"target_branch", "draft", "title", "labels"} {
		if _, changed := d.Changes[name]; changed {
			return true
		}
	}

	return d.Attributes.Previous != ""
}

// isNewNote tells whether a person wrote a note in a merge request. GitLab tells of
// changed notes as well.
func (d *delivery) isNewNote() bool {
	a := d.Attributes
	byPerson := d.User.ID > 0 && a.AuthorID == d.User.ID && !a.System

	return byPerson && a.NoteableType == "MergeRequest" && a.Action == "create"
}
