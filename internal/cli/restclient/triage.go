package restclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/prwarden/prwarden/internal/finding"
)

// NewDecision is what to decide about findings.
type NewDecision struct {
	Repo         string   `json:"repo"`
	PRNumber     int32    `json:"pr_number,omitempty"` // 0 for all of the repository
	Fingerprints []string `json:"fingerprints"`
	Decision     string   `json:"decision"`
	Reason       string   `json:"reason,omitempty"`
	Until        string   `json:"until,omitempty"`
}

// Decided is a finding with what is decided about it.
type Decided struct {
	Repo        string         `json:"repo"`
	PRNumber    int32          `json:"pr_number,omitempty"` // 0 for all of the repository
	Fingerprint string         `json:"fingerprint"`
	RuleID      string         `json:"rule_id"`
	Triage      finding.Triage `json:"triage"`
	ChangeID    string         `json:"change_id"`
}

// DecidedPage is a part of the decisions.
type DecidedPage struct {
	Findings      []Decided `json:"findings"`
	NextPageToken string    `json:"next_page_token"`
}

// changed is how many decisions a call changed.
type changed struct {
	ChangeID string `json:"change_id"` // "" when nothing changed
	Changed  int    `json:"changed"`
}

// SetTriage decides about findings. It returns the identifier of the change, "" when all
// was so already, and how many decisions changed.
func (c *Client) SetTriage(ctx context.Context, in NewDecision) (id string, n int, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return "", 0, err
	}
	var out changed
	_, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/findings:triage", body: body}, &out)

	return out.ChangeID, out.Changed, err
}

// UndoTriage puts back what a change replaced, and returns how many decisions that are.
func (c *Client) UndoTriage(ctx context.Context, id string) (int, error) {
	var out changed
	path := "/v1/triage/" + url.PathEscape(id) + ":undo"
	_, err := c.call(ctx, request{method: http.MethodPost, path: path, body: []byte("{}")}, &out)

	return out.Changed, err
}

// ListTriage reads a page of decisions. query is that of the API.
func (c *Client) ListTriage(ctx context.Context, query url.Values) (page DecidedPage, err error) {
	_, err = c.call(ctx, request{method: http.MethodGet, path: "/v1/triage?" + query.Encode()}, &page)

	return page, err
}
