package github

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// maxDeliveryID is more than a GUID has, which GitHub sends, in bytes.
const maxDeliveryID = 100

// Verify checks `X-Hub-Signature-256`. The header with SHA-1 does not count. GitHub
// signs no time, so an old delivery verifies for ever.
func (h *Host) Verify(header http.Header, body []byte, secrets [][]byte, _ time.Time) (string, error) {
	signature := []byte(header.Get("X-Hub-Signature-256"))
	signed := false

	for _, secret := range secrets {
		if len(secret) == 0 {
			continue
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		signed = hmac.Equal(signature, []byte(want)) || signed
	}

	id := header.Get("X-GitHub-Delivery")
	if !signed || id == "" || len(id) > maxDeliveryID {
		return "", codehost.ErrSignature
	}

	return id, nil
}

// delivery is what is read of a body. All events have the same names for the same.
type delivery struct {
	Action       string
	Repository   *repository
	Installation *struct {
		ID      int64
		Account *user
	}
	PullRequest *struct {
		Number int32
		Head   struct{ SHA string }
	} `json:"pull_request"`
	Changes struct {
		Base json.RawMessage
	}
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		BaseSHA string `json:"base_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	CheckRun *struct {
		checked
		Name string
	} `json:"check_run"`
	CheckSuite *checked `json:"check_suite"`
	Issue      *struct {
		Number      int32
		PullRequest *struct{} `json:"pull_request"`
	}
	Comment *struct {
		ID   int64
		Body string
		User *user
		App  *struct{ ID int64 } `json:"performed_via_github_app"`
	}
}

type repository struct {
	ID       int64
	FullName string `json:"full_name"`
	Private  bool
}

type user struct {
	ID    int64
	Login string
}

// checked is what a check is on. For a fork it has no pull requests.
type checked struct {
	HeadSHA      string `json:"head_sha"`
	App          struct{ ID int64 }
	PullRequests []struct {
		Number int32
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// Hints reads a delivery. What is of another installation of the App is not for us.
func (h *Host) Hints(header http.Header, body []byte) ([]codehost.Hint, error) {
	event := header.Get("X-GitHub-Event")
	if !slices.Contains(Events, event) && event != "installation" && event != "installation_repositories" {
		return nil, nil
	}

	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("github: a delivery of %s is not JSON; its content type must be "+
			"application/json: %w", event, err)
	}

	if event == "installation" || event == "installation_repositories" {
		return installationHints(event, d)
	}

	if d.Repository == nil {
		return nil, errors.New("github: a delivery of " + event + " names no repository")
	}

	if h.foreign(d) {
		return nil, nil
	}

	hint, ok := codehost.Hint{Repository: codehost.Repository{
		ID: text(d.Repository.ID), Name: d.Repository.FullName, Private: d.Repository.Private,
	}}, false
	switch event {
	case "pull_request":
		ok = pullRequestHint(d, &hint)
	case "merge_group":
		ok = mergeGroupHint(d, &hint)
	case "check_run", "check_suite":
		return h.rerunHints(d, hint), nil
	case "issue_comment", "pull_request_review_comment":
		ok = h.commentHint(d, &hint)
	case "repository":
		ok = d.Action == "renamed" || d.Action == "transferred"
		hint.Kind, hint.Name = codehost.HintRepository, d.Repository.FullName
	}

	if !ok {
		return nil, nil
	}

	return []codehost.Hint{hint}, nil
}

// foreign tells whether a delivery is of another installation of the App.
func (h *Host) foreign(d delivery) bool {
	if ours := cmp.Or(h.o.Installation, h.found.Load()); ours != 0 {
		return d.Installation != nil && d.Installation.ID != ours
	}

	owner, _, _ := strings.Cut(d.Repository.FullName, "/")
	return h.app != nil && !strings.EqualFold(owner, h.o.Account)
}

// pullRequestHint fills the hint of an action on which a pull request must be looked at.
func pullRequestHint(d delivery, hint *codehost.Hint) bool {
	if d.PullRequest == nil || d.PullRequest.Number <= 0 {
		return false
	}

	hint.Kind, hint.Number, hint.HeadSHA = codehost.HintPullRequest, d.PullRequest.Number, d.PullRequest.Head.SHA
	switch d.Action {
	case "opened", "synchronize", "reopened", "ready_for_review", "converted_to_draft", "closed",
		"labeled", "unlabeled":
		return true
	case "edited":
		return len(d.Changes.Base) > 0 // another base; not only another title
	}

	return false
}

// mergeGroupHint fills the hint of a merge queue.
func mergeGroupHint(d delivery, hint *codehost.Hint) bool {
	if d.MergeGroup == nil {
		return false
	}

	hint.HeadSHA, hint.BaseSHA, hint.Ref = d.MergeGroup.HeadSHA, d.MergeGroup.BaseSHA, d.MergeGroup.HeadRef
	switch d.Action {
	case "checks_requested":
		hint.Kind = codehost.HintMergeGroup
	case "destroyed":
		hint.Kind = codehost.HintMergeGroupGone
	default:
		return false
	}

	return true
}

// rerunHints are those of a check of ours that somebody wants again. It names pull
// requests of other repositories, too, when they have the same head.
func (h *Host) rerunHints(d delivery, hint codehost.Hint) []codehost.Hint {
	on := d.CheckSuite
	if d.CheckRun != nil {
		on = &d.CheckRun.checked
	}

	if d.Action != "rerequested" || on == nil || on.HeadSHA == "" || on.App.ID != h.o.AppID || h.o.AppID == 0 {
		return nil
	}

	var hints []codehost.Hint
	hint.Kind, hint.HeadSHA = codehost.HintRerun, on.HeadSHA
	for _, p := range on.PullRequests {
		if p.Number > 0 && p.Base.Repo.ID == d.Repository.ID {
			hint.Number = p.Number
			hints = append(hints, hint)
		}
	}

	if len(hints) == 0 {
		return []codehost.Hint{hint}
	}

	return hints
}

// commentHint fills the hint of a comment that somebody else created. An edited one is
// none: what was agreed to must not change afterwards.
func (h *Host) commentHint(d delivery, hint *codehost.Hint) bool {
	c := d.Comment
	if d.Action != "created" || c == nil || c.ID == 0 || c.User == nil ||
		c.App != nil && c.App.ID == h.o.AppID && h.o.AppID != 0 {
		return false
	}

	switch {
	case d.PullRequest != nil:
		hint.Number = d.PullRequest.Number
	case d.Issue != nil && d.Issue.PullRequest != nil:
		hint.Number = d.Issue.Number
	}

	hint.Kind, hint.Comment = codehost.HintComment, codehost.Comment{
		ID: text(c.ID), Author: c.User.Login, AuthorID: text(c.User.ID), Body: c.Body, OnLine: d.PullRequest != nil,
	}
	return hint.Number > 0
}

// installationHints are those of an installation that was made, changed or removed.
func installationHints(event string, d delivery) ([]codehost.Hint, error) {
	if d.Installation == nil || d.Installation.Account == nil {
		return nil, errors.New("github: a delivery of " + event + " names no installation")
	}

	return []codehost.Hint{{
		Kind: codehost.HintInstallation, Account: d.Installation.Account.Login,
	}}, nil
}
